"""A number line for each claim that a run speaks to: the lab, full size, untrained, and where the claim holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from html import escape
from typing import Any

from ..claims.charts import axis_of, dot_text, legend_html, line_html, picture, ticks_html, together
from ..claims.entries import LANGUAGES, called, claim
from ..claims.render import MARKS
from ..claims.render import WORDS as CLAIM_WORDS
from ..claims.strips import Strip, primary
from ..claims.verdicts import FullSize, at_full_size
from .stored import ROWS, Result, Results, Row, numbers_of


def dots_html(run: Results, records: Mapping[str, Result], lang: str) -> str:
    """A line per claim; neighbours of one kind share an axis."""
    spoken = {row.claim: _spoken(run, row) for row in ROWS if row.numbers is None}
    strips = [strip for id, found in spoken.items() if found and (strip := _strip(id, found, records.get(id)))]
    lines = []
    for group in together(strips):
        axis = axis_of(group)
        for strip in group:
            beside = _beside(run, spoken[strip.claim], strip, lang)
            lines.append(line_html(_label(strip, lang), picture(strip, axis, lang), beside))
        lines.append(line_html("", ticks_html(axis), _right("")))
    legend = legend_html(strips, lang) if strips else ""
    return f'<div class="strips full-size-dots" style="margin:.6em 0">{"".join(lines)}{legend}</div>'


def _spoken(run: Results, row: Row) -> list[FullSize]:
    """What the run says to a claim: of every network, or pair, with its untrained draws, by the claim's own rule."""
    untrained = numbers_of(run, row, False)
    return [at_full_size(row.claim, run.name, networks.split(" × "), values[0], untrained.get(networks, []))
            for networks, values in numbers_of(run, row, True).items()]


def _strip(id: str, found: list[FullSize], record: Result | None) -> Strip | None:
    """The number that decides the claim; where its chapter has not reported, full size alone."""
    known: dict[str, Any] = dict(record) if record else {
        "id": id, "values": {}, "others": [], "control_states": [], "verdict": "inconclusive",
        "names": {lang: called(claim(id), lang) for lang in LANGUAGES}}
    return primary(known | {"full_size": found})


def _label(strip: Strip, lang: str) -> str:
    entry = claim(strip.claim)
    says = escape(entry["statement"][lang], quote=True)
    return (f'<a href="{entry["chapter"]}.html#claim-{strip.claim}" title="{says}">'
            f"<strong>{strip.claim}</strong></a> {escape(strip.label[lang])}")


def _beside(run: Results, found: list[FullSize], strip: Strip, lang: str) -> str:
    """The number of every ViT, and what the rule says of it."""
    numbers = dict(strip.full)
    lines = []
    for one in found:
        value, verdict = numbers.get(" × ".join(one["networks"])), one["trained"] and one["trained"]["verdict"]
        text = f" {dot_text(replace(value, low=value.value, high=value.value), lang)}" if value else ""
        mark = (f' <span class="verdict verdict-{verdict}" title="{CLAIM_WORDS[lang][verdict]}">{MARKS[verdict]}</span>'
                if verdict in MARKS else "")
        lines.append(f"{escape(run.called(one['networks'][0]))}{text}{mark}")
    return _right("<br>".join(lines))


def _right(text: str) -> str:
    return f'<span class="strip-verdict" style="flex:0 0 11em;font-size:.85em">{text}</span>'
