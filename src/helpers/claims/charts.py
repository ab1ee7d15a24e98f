"""Strips on number lines: HTML with small SVG pictures, for cards, the ledger and the forest plot of a chapter.

Positions are per cent of the width, so that a picture fits any column; all words are HTML and wrap. Colours come from
the page's variables and have a fallback each, so that a bare notebook shows the same.

CSS classes (book/_static/claims.css): .strips (a panel), .strip (a line with .strip-label and .strip-chart),
.strip-ticks, .strip-legend.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby

from .intervals import Interval
from .numerals import number_text
from .strips import Strip
from .zones import Zone

ZONE, NEARLY, BAD = "var(--book-good,#23804a)", "var(--book-part,#a06a00)", "var(--book-bad,#c0413b)"
GREY = "var(--book-none,#7b8794)"
COLOURS = {"holds": ZONE, "partly": NEARLY, "fails": BAD}
DIAMOND = "M0 -5L5 0L0 5L-5 0Z"
HEIGHT, UPPER, LOWER = 26, 8, 19  # px: the picture, the lane of trained networks, the lane of the others
ALIKE = 12  # quantities whose sizes differ by no more than this factor can share an axis
FAR = 3  # an untrained value this many widths beyond the rest becomes an arrow at the edge
WORDS = {
    "en": {"trained": "trained", "seeds": "other training runs", "untrained": "untrained",
           "half": "one of two networks trained", "full": "full size", "twins": "full size, untrained",
           "paper": "the paper's own value", "zone": "where the claim holds", "nearly": "where it holds in part",
           "95": "95 % interval", "to": " to ", "below": "up to {}", "above": "from {}", "between": "{} to {}"},
    "ko": {"trained": "학습한 신경망", "seeds": "다시 학습한 신경망", "untrained": "학습하지 않은 신경망",
           "half": "둘 가운데 하나만 학습",
           "full": "실제 크기", "twins": "실제 크기, 학습하지 않음",
           "paper": "논문의 값", "zone": "주장이 성립하는 범위", "nearly": "부분적으로 성립하는 범위",
           "95": "95% 구간", "to": "~", "below": "{} 이하", "above": "{} 이상", "between": "{}~{}"},
}  # fmt: skip


@dataclass(frozen=True)
class Axis:
    """A stretch of the number line."""

    low: float
    high: float

    def at(self, value: float) -> str:
        """Where a value lies, in per cent."""
        share = (value - self.low) / (self.high - self.low)
        return f"{100 * min(max(share, 0), 1):.2f}%"

    def width(self, low: float, high: float) -> str:
        """How wide what lies between two values is, in per cent."""
        ends = [min(max(end, self.low), self.high) for end in (low, high)]
        return f"{100 * (ends[1] - ends[0]) / (self.high - self.low):.2f}%"

    def ticks(self) -> list[float]:
        """Two to five round numbers."""
        power = 10 ** math.floor(math.log10(self.high - self.low))
        for step in (factor * power for factor in (5, 2.5, 2, 1, 0.5, 0.25, 0.2)):
            places = range(math.ceil(self.low / step), math.floor(self.high / step) + 1)
            if len(places) > 1:
                break
        return [round(i * step, 12) for i in places]


def axis_of(strips: Sequence[Strip]) -> Axis:
    """One that shows trained values and edges of zones, and untrained values unless they are far away."""
    known = [end for strip in strips for dot in strip.trained_dots for end in (dot.low, dot.value, dot.high)]
    known += [edge for strip in strips for part in (*strip.zone, *strip.nearly) for edge in part if math.isfinite(edge)]
    known += [strip.paper for strip in strips if strip.paper is not None]
    others = [end for strip in strips for dot in strip.controls for end in (dot.low, dot.value, dot.high)]
    known = known or others
    low, high = min(known), max(known)
    room = FAR * ((high - low) or abs(high) or 1)
    near = [*known, *(end for end in others if low - room <= end <= high + room)]
    low, high = min(near), max(near)
    margin = 0.06 * (high - low) or 0.1 * abs(high) or 0.5
    if low > 0 and low - margin < 0.4 * high:  # zero is worth seeing where it is not far
        low = 0
    return Axis(low - margin if low else 0, high + margin)


def together(strips: Iterable[Strip]) -> list[list[Strip]]:
    """Neighbours that can share an axis: of the same range, and of sizes that differ little."""
    found: list[list[Strip]] = []
    for _, group in groupby(strips, key=lambda strip: strip.bounds):
        open_group: list[Strip] = []
        for strip in group:
            if open_group and not _alike([*open_group, strip]):
                found.append(open_group)
                open_group = []
            open_group.append(strip)
        found.append(open_group)
    return found


def _alike(strips: Sequence[Strip]) -> bool:
    sizes = [axis.high - axis.low for axis in (axis_of([strip]) for strip in strips)]
    return max(sizes) <= ALIKE * min(sizes)


# ---- HTML -------------------------------------------------------------------------------------------------------


def panel_html(strips: Sequence[Strip], lang: str) -> str:
    """A line for each strip, neighbours of one kind above one axis, and a legend of the marks that occur."""
    if not strips:
        return ""
    lines = []
    for group in together(strips):
        axis = axis_of(group)
        lines += [line_html(escape(strip.label[lang]), picture(strip, axis, lang)) for strip in group]
        lines.append(line_html("", ticks_html(axis)))
    return f'<div class="strips" style="margin:.6em 0">{"".join(lines)}{legend_html(strips, lang)}</div>'


def line_html(label: str, chart: str, more: str = "", attributes: str = "") -> str:
    """A label with its picture beside it, or below it where there is little room; without a label its place is kept."""
    css = "strip-label" if label else "strip-label strip-empty"
    return (f'<div class="strip" {attributes}style="display:flex;flex-wrap:wrap;align-items:center;gap:0 .8em">'
            f'<span class="{css}" style="flex:1 1 11em;max-width:17em">{label}</span>'
            f'<span class="strip-chart" style="flex:3 1 13em;min-width:0">{chart}</span>{more}</div>')


def ticks_html(axis: Axis) -> str:
    """Round numbers below a picture; they are decoration to those who hear the values."""
    spans = "".join(f'<span style="position:absolute;left:{axis.at(tick)};transform:translateX(-50%)">'
                    f"{number_text(tick)}</span>" for tick in axis.ticks())
    return ('<span class="strip-ticks" aria-hidden="true" style="display:block;position:relative;height:1.5em;'
            f'font-size:.75em;margin:0 8px">{spans}</span>')


def picture(strip: Strip, axis: Axis, lang: str) -> str:
    """The strip on a number line."""
    parts = [_zone(strip.nearly, axis, NEARLY, 0.1), _zone(strip.zone, axis, ZONE, 0.2), _line(axis)]
    if axis.low < 0 < axis.high:
        parts.append(f'<line x1="{axis.at(0)}" x2="{axis.at(0)}" y1="0" y2="{HEIGHT}" style="stroke:currentColor" '
                     'stroke-width="1" opacity=".5"/>')
    if strip.paper is not None:
        x = axis.at(strip.paper)
        parts.append(f'<line x1="{x}" x2="{x}" y1="0" y2="{HEIGHT}" style="stroke:currentColor" stroke-width="2" '
                     'stroke-dasharray="2 3"/>')
    parts += [_hollow(dot, axis) for dot in strip.untrained]
    parts += [_hollow(dot, axis, half=True) for dot in strip.half]
    parts += [_mark(axis.at(dot.value), LOWER, DIAMOND, "none", f"stroke:{GREY}") for dot in strip.twins]
    parts += [_mark(axis.at(dot.value), LOWER, DIAMOND, "currentColor") for _, dot in strip.full]
    colour = COLOURS.get(strip.verdict, GREY)
    if strip.trained:
        parts += [_bar(strip.trained, axis, UPPER, colour, 3),
                  f'<circle cx="{axis.at(strip.trained.value)}" cy="{UPPER}" r="5" style="fill:{colour}"/>']
    parts += [f'<circle cx="{axis.at(dot.value)}" cy="{UPPER}" r="3" stroke-width="1.2" '
              f'style="fill:{colour};stroke:var(--pst-color-background,#fff)"/>' for dot in strip.seeds]
    return (f'<span style="display:block;padding:0 8px"><svg role="img" width="100%" height="{HEIGHT}" '
            f'style="display:block;overflow:visible"><title>{escape(in_words(strip, lang))}</title>{"".join(parts)}'
            "</svg></span>")


def _zone(zone: Zone, axis: Axis, colour: str, strength: float) -> str:
    drawn = []
    for low, high in zone:
        if low == high:
            drawn.append(f'<line x1="{axis.at(low)}" x2="{axis.at(low)}" y1="0" y2="{HEIGHT}" style="stroke:{colour}" '
                         'stroke-width="5" opacity=".35"/>')
        else:
            drawn.append(f'<rect x="{axis.at(low)}" y="0" width="{axis.width(low, high)}" height="{HEIGHT}" '
                         f'style="fill:{colour}" opacity="{strength}"/>')
    return "".join(drawn)


def _line(axis: Axis) -> str:
    return (f'<line x1="0" x2="100%" y1="{HEIGHT - 0.5}" y2="{HEIGHT - 0.5}" style="stroke:currentColor" '
            'stroke-width="1" opacity=".25"/>')


def _bar(dot: Interval, axis: Axis, y: float, colour: str, width: float) -> str:
    if dot.low == dot.high:
        return ""
    return (f'<line x1="{axis.at(dot.low)}" x2="{axis.at(dot.high)}" y1="{y}" y2="{y}" style="stroke:{colour}" '
            f'stroke-width="{width}"/>')


def _hollow(dot: Interval, axis: Axis, half: bool = False) -> str:
    """An untrained draw, or a pair of which half is trained; one that lies beyond the axis is an arrow at its edge."""
    if not axis.low <= dot.value <= axis.high:
        beyond = dot.value > axis.high
        shape = "M-8 -5L0 0L-8 5Z" if beyond else "M8 -5L0 0L8 5Z"
        return _mark("100%" if beyond else "0%", LOWER, shape, "none", f"stroke:{GREY}")
    x = axis.at(dot.value)
    ring = (f'<circle cx="{x}" cy="{LOWER}" r="4" stroke-width="1.6" '
            f'style="fill:var(--pst-color-background,transparent);stroke:{GREY}"/>')
    filled = _mark(x, LOWER, "M-4 0A4 4 0 0 0 4 0Z", GREY) if half else ""
    return _bar(dot, axis, LOWER, GREY, 2) + ring + filled


def _mark(x: str, y: float, path: str, fill: str, more: str = "") -> str:
    """A shape of fixed size at a place given in per cent."""
    return (f'<svg x="{x}" y="{y}" overflow="visible"><path d="{path}" stroke-width="1.6" style="fill:{fill};{more}"/>'
            "</svg>")


# ---- words ------------------------------------------------------------------------------------------------------


def in_words(strip: Strip, lang: str) -> str:
    """The picture for those who hear it."""
    words = WORDS[lang]
    parts = []
    if strip.trained:
        parts.append(f"{words['trained']} {dot_text(strip.trained, lang)}")
    several = {"seeds": strip.seeds, "untrained": strip.untrained, "half": strip.half, "twins": strip.twins}
    for key, dots in several.items():
        if dots:
            parts.append(f"{words[key]} {', '.join(dot_text(dot, lang) for dot in dots)}")
    parts += [f"{words['full']} ({name}) {dot_text(dot, lang)}" for name, dot in strip.full]
    if strip.paper is not None:
        parts.append(f"{words['paper']} {number_text(strip.paper)}")
    if strip.zone:
        parts.append(f"{words['zone']}: {zone_text(strip.zone, lang)}")
    return f"{strip.label[lang]}: {'; '.join(parts)}"


def dot_text(dot: Interval, lang: str) -> str:
    """0.2 (0.1 to 0.3), or the number alone."""
    if dot.low == dot.high:
        return number_text(dot.value)
    low, high = number_text(dot.low), number_text(dot.high)
    return f"{number_text(dot.value)} ({low}{WORDS[lang]['to']}{high})"


def zone_text(zone: Zone, lang: str) -> str:
    """A zone as its ends."""
    words, texts = WORDS[lang], []
    for low, high in zone:
        if low == high:
            texts.append(number_text(low))
        elif math.isinf(low):
            texts.append(words["below"].format(number_text(high)))
        elif math.isinf(high):
            texts.append(words["above"].format(number_text(low)))
        else:
            texts.append(words["between"].format(number_text(low), number_text(high)))
    return ", ".join(texts)


def legend_html(strips: Sequence[Strip], lang: str) -> str:
    """What the marks mean, as far as they occur."""
    words = WORDS[lang]
    wide = any(strip.trained and strip.trained.low != strip.trained.high for strip in strips)
    marks = [("●", words["trained"] + (f", {words['95']}" if wide else ""), any(strip.trained for strip in strips)),
             ("•", words["seeds"], any(strip.seeds for strip in strips)),
             ("○", words["untrained"], any(strip.untrained for strip in strips)),
             ("◒", words["half"], any(strip.half for strip in strips)),
             ("◆", words["full"], any(strip.full for strip in strips)),
             ("◇", words["twins"], any(strip.twins for strip in strips)),
             ("┆", words["paper"], any(strip.paper is not None for strip in strips)),
             (_swatch(ZONE, 0.25), words["zone"], any(strip.zone for strip in strips)),
             (_swatch(NEARLY, 0.15), words["nearly"], any(strip.nearly for strip in strips))]
    items = "".join(f'<span style="white-space:nowrap"><span aria-hidden="true">{mark}</span> {text}</span> '
                    for mark, text, there in marks if there)
    return ('<div class="strip-legend" style="display:flex;flex-wrap:wrap;gap:0 1.2em;font-size:.8em;opacity:.85">'
            f"{items}</div>")


def _swatch(colour: str, strength: float) -> str:
    return ('<svg width="14" height="10" style="display:inline-block"><rect width="14" height="10" '
            f'style="fill:{colour}" opacity="{strength + 0.1:.2f}"/></svg>')
