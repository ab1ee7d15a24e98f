"""The verdict map: a row for each chapter, a cell for each claim, and the counts. Ledger, first page and chapters draw
it with this one function.

A cell's colour and mark are its verdict. It is solid where no untrained network meets the claim, hollow where one does,
pale where none was asked. CSS classes (book/_static/claims.css): .verdict-map, .map-counts, .map-row, .map-chapter,
.map-cells, .map-cell with .map- and the verdict, .map-solid, .map-hollow or .map-pale; .map-legend.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from .entries import Entry
from .render import KINDS, MARKS
from .render import WORDS as CLAIM_WORDS

Row = tuple[Entry, dict[str, Any] | None]
END = "<!--end of map-->"
FILLS = {True: "hollow", False: "solid", None: "pale"}  # by whether an untrained network meets the claim too
WORDS = {
    "en": {"chapter": "Chapter {}", "solid": "untrained networks do not meet it",
           "hollow": "an untrained network meets it too",
           "pale": "no untrained network was asked", "claims": "{} claims", "hold": "hold, wholly or in part, by",
           "rest": "The others", "open": "not measured yet", "map": "Verdicts by chapter",
           "learned": "learning", "architecture": "architecture", "arithmetic": "arithmetic"},
    "ko": {"chapter": "{}장", "solid": "학습하지 않은 신경망은 충족하지 않음", "hollow": "학습하지 않은 신경망도 충족",
           "pale": "학습하지 않은 신경망은 재지 않음", "claims": "주장 {}개", "hold": "성립하거나 일부 성립한 까닭",
           "rest": "나머지", "open": "아직 재지 않음", "map": "장마다 본 판정",
           "learned": "학습", "architecture": "구조", "arithmetic": "계산"},
}  # fmt: skip


def map_html(rows: Sequence[Row], lang: str, titles: Mapping[str, str] | None = None) -> str:
    """Counts, then the map. A cell leads to its line of the ledger, a chapter's title (by file) to the chapter."""
    chapters = sorted({entry["chapter"] for entry, _ in rows})
    lines = "".join(_chapter(name, [row for row in rows if row[0]["chapter"] == name], lang, (titles or {}).get(name))
                    for name in chapters)
    numbers = " ".join(name[:2] for name in chapters)
    return (f'<div class="verdict-map" data-chapters="{numbers}">{counts_html(rows, lang)}'
            f'<div class="map-rows" role="group" aria-label="{WORDS[lang]["map"]}">{lines}</div>{_legend(rows, lang)}'
            f"</div>{END}")


def counts_html(rows: Sequence[Row], lang: str) -> str:
    """How many hold by learning, by architecture and by arithmetic; then the verdicts of the others."""
    words, done = WORDS[lang], [record for _, record in rows if record]
    by = Counter(record["learned"] for record in done)
    numbers = "".join(f'<span class="map-count"><strong>{by[kind]}</strong> {words[kind]}</span>' for kind in KINDS)
    rest = Counter(record["verdict"] if record else "open" for _, record in rows if not record or not record["learned"])
    others = " · ".join(f"{MARKS.get(name, '○')} {CLAIM_WORDS[lang][name]} {rest[name]}" for name in [*MARKS, "open"]
                        if rest[name])
    tail = f'<span class="map-rest">{words["rest"]}: {others}</span>' if others else ""
    head = f'<span class="map-total">{words["claims"].format(len(rows))}; {words["hold"]}</span>' if done else (
        f'<span class="map-total">{words["claims"].format(len(rows))}</span>')
    return f'<p class="map-counts">{head} {numbers if done else ""}{tail}</p>'


def _chapter(name: str, rows: Iterable[Row], lang: str, title: str | None) -> str:
    text = title or WORDS[lang]["chapter"].format(int(name[:2]))
    cells = " ".join(cell_html(*row, lang) for row in rows)
    return (f'<div class="map-row"><a class="map-chapter" href="{name}.html">{escape(text)}</a>'
            f'<span class="map-cells">{cells}</span></div>')


def cell_html(entry: Entry, record: dict[str, Any] | None, lang: str) -> str:
    """A claim's id with the mark of its verdict, leading to its line of the ledger."""
    id = entry["id"]
    if record is None:
        verdict, fill, said = "open", "pale", WORDS[lang]["open"]
    else:
        verdict, fill = record["verdict"], fill_of(record)
        by = f", {CLAIM_WORDS[lang][record['learned']]}" if record["learned"] else ""
        said = f"{CLAIM_WORDS[lang][verdict]}{by}; {WORDS[lang][fill]}"
    label = escape(f"{id}: {entry['statement'][lang]} {said}", quote=True)
    mark = f'<span aria-hidden="true">{MARKS[verdict]}</span>' if verdict in MARKS else ""
    return (f'<a class="map-cell map-{verdict} map-{fill}" data-claim="{id}" href="ledger.html#{id}" title="{label}" '
            f'aria-label="{label}">{mark}{id}</a>')


def fill_of(record: Mapping[str, Any]) -> str:
    """solid, hollow or pale; what cannot be tested says nothing about untrained networks"""
    return "pale" if record["verdict"] == "untestable" else FILLS[record["control_holds"]]


def _legend(rows: Sequence[Row], lang: str) -> str:
    words, there = WORDS[lang], {record["verdict"] for _, record in rows if record}
    if not there:
        return ""
    verdicts = "".join(f'<span><span class="map-cell map-{name} map-solid" aria-hidden="true">{mark}</span> '
                       f"{CLAIM_WORDS[lang][name]}</span>" for name, mark in MARKS.items() if name in there)
    fills = "".join(f'<span><span class="map-cell map-{fill}" aria-hidden="true">&nbsp;</span> {words[fill]}</span>'
                    for fill in ("solid", "hollow", "pale"))
    return f'<p class="map-legend">{verdicts}{fills}</p>'
