"""A chapter in one picture: a line for each of its claims, with the number that stands for it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from .charts import Axis, axis_of, legend_html, line_html, picture, ticks_html, together
from .entries import Entry
from .render import MARKS
from .render import WORDS as CLAIM_WORDS
from .strips import Strip, primary

WORDS = {
    "en": {"title": "The claims of this chapter in one picture", "open": "not reported yet: run its cell first",
           "no number": "no number"},
    "ko": {"title": "이 장의 주장을 그림 하나로", "open": "아직 보고되지 않음: 먼저 그 셀을 실행한다",
           "no number": "숫자 없음"},
}


def forest_html(rows: Sequence[tuple[Entry, dict[str, Any] | None]], lang: str) -> str:
    """A line per claim: its id, the quantity, the picture, the verdict. Neighbours of one kind share an axis."""
    drawn = {entry["id"]: primary(record) if record else None for entry, record in rows}
    strips = [strip for strip in drawn.values() if strip]
    axes: dict[str, Axis] = {}
    last = set()
    for group in together(strips):
        axes |= {strip.claim: axis_of(group) for strip in group}
        last.add(group[-1].claim)
    lines = []
    for entry, record in rows:
        strip = drawn[entry["id"]]
        lines.append(_line(entry, record, strip, axes, lang))
        if strip and entry["id"] in last:
            lines.append(line_html("", ticks_html(axes[entry["id"]]), _right("")))
    title, legend = WORDS[lang]["title"], legend_html(strips, lang) if strips else ""
    return (f'<figure class="forest" style="margin:1em 0"><figcaption style="font-weight:600">{title}</figcaption>'
            f'<div class="strips" style="margin:.6em 0">{"".join(lines)}{legend}</div></figure>')


def _line(entry: Entry, record: dict[str, Any] | None, strip: Strip | None, axes: dict[str, Axis], lang: str) -> str:
    id, words = entry["id"], WORDS[lang]
    what = strip.label[lang] if strip else words["no number"] if record else words["open"]
    label = (f'<a href="#claim-{id}"><strong>{id}</strong></a> {escape(what)}<br>'
             f'<small style="opacity:.85">{escape(entry["statement"][lang])}</small>')
    outcome = ""
    if record:
        verdict = record["verdict"]
        outcome = f'<span class="verdict verdict-{verdict}">{MARKS[verdict]} {CLAIM_WORDS[lang][verdict]}</span>'
        if record["learned"]:
            outcome += f' <small>{CLAIM_WORDS[lang][record["learned"]]}</small>'
    chart = picture(strip, axes[id], lang) if strip else ""
    return line_html(label, chart, _right(outcome), f'data-claim="{id}" ')


def _right(text: str) -> str:
    return f'<span class="strip-verdict" style="flex:0 0 11em">{text}</span>'
