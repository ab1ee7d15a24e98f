"""The page of the ledger: the map, filters, and a line for each claim that opens to what stands behind it.

CSS classes (book/_static/claims.css): .ledger-page, .ledger-filters, .ledger-files, .ledger-lines; .ledger-line (a
<details> with what the filters ask in data- attributes), .ledger-id, .ledger-statement, .ledger-strip, .ledger-verdict,
.ledger-inside. book/_static/ledger.js makes the filters work; without it the page is a plain list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from .cards import details_html, rule_html, verdict_html
from .charts import axis_of, legend_html, panel_html, picture
from .entries import Entry
from .render import KINDS, MARKS, PAPERS, meaning
from .render import WORDS as CLAIM_WORDS
from .strips import primary, strips_of
from .verdict_map import Row, map_html

ASKED = ("verdict", "paper", "chapter", "kind", "by", "scale")  # what one can filter by, beside words
WORDS = {
    "en": {"filters": "Show", "verdict": "verdict", "paper": "paper", "chapter": "chapter", "kind": "kind of claim",
           "by": "learned or not", "scale": "scale", "words": "words", "all": "all", "none": "none yet",
           "by learned": "holds by learning", "by other": "holds without learning", "by not": "does not hold",
           "scale lab": "lab only", "scale full": "measured at full size", "scale differs": "full size says otherwise",
           "shown": "{shown} of {all} claims", "clear": "Show all", "files": "Download", "card": "Card in chapter {}",
           "planned": "chapter {} is not written yet", "missing": "not measured in chapter {} yet",
           "lines": "Claim by claim"},
    "ko": {"filters": "보기", "verdict": "판정", "paper": "논문", "chapter": "장", "kind": "주장의 종류",
           "by": "학습 여부", "scale": "규모", "words": "낱말", "all": "모두", "none": "아직 없음",
           "by learned": "학습으로 성립", "by other": "학습 없이 성립", "by not": "성립하지 않음",
           "scale lab": "실험실 규모만", "scale full": "실제 크기에서도 잼",
           "scale differs": "실제 크기에서는 판정이 다름",
           "shown": "주장 {all}개 가운데 {shown}개", "clear": "모두 보기", "files": "내려받기", "card": "{}장의 카드",
           "planned": "{}장 준비 중", "missing": "{}장에서 아직 재지 않음",
           "lines": "주장 하나하나"},
}  # fmt: skip


def ledger_page(rows: Sequence[Row], lang: str, titles: Mapping[str, str] | None = None) -> str:
    """The whole ledger in one language."""
    words = WORDS[lang]
    written = {entry["chapter"] for entry, record in rows if record}
    strips = [strip for _, record in rows if record and (strip := primary(record))]
    lines = "".join(line_html(entry, record, written, lang) for entry, record in rows)
    files = " ".join(f'<a href="ledger.{kind}" download>{kind.upper()}</a>' for kind in ("csv", "json"))
    return (f'<div class="ledger-page">{map_html(rows, lang, titles)}<div class="guess-score" hidden></div>'
            f'<h2 id="ledger-lines">{words["lines"]}</h2>{_filters(rows, lang)}'
            f'<p class="ledger-files">{words["files"]}: {files}</p>{legend_html(strips, lang) if strips else ""}'
            f'<div class="ledger-lines">{lines}</div></div>')


def line_html(entry: Entry, record: dict[str, Any] | None, written: set[str], lang: str) -> str:
    """One claim: a summary in one line, and what is behind it."""
    id = entry["id"]
    strip = record and primary(record)
    chart = picture(strip, axis_of([strip]), lang) if strip else ""
    data = " ".join(f'data-{name}="{escape(value, quote=True)}"' for name, value in answers(entry, record).items())
    return (f'<details class="ledger-line" id="{id}" data-claim="{id}" {data}><summary>'
            f'<span class="ledger-id">{id}</span>'
            f'<span class="ledger-statement">{escape(entry["statement"][lang])}</span>'
            f'<span class="ledger-strip">{chart}</span>'
            f'<span class="ledger-verdict">{_outcome(entry, record, written, lang)}</span></summary>'
            f'<div class="ledger-inside">{_inside(entry, record, lang)}</div></details>')


def answers(entry: Entry, record: Mapping[str, Any] | None) -> dict[str, str]:
    """What a claim says to each of the filters."""
    found = {"paper": entry["paper"], "chapter": entry["chapter"][:2], "kind": entry["kind"]}
    if record is None:
        return found | {"verdict": "open", "by": "none", "scale": "none"}
    earned = {one["trained"]["verdict"] for one in record["full_size"] if one["trained"]}
    scale = "lab" if not record["full_size"] else "full differs" if earned - {record["verdict"], None} else "full"
    by = "not" if not record["learned"] else "learned" if record["learned"] == "learned" else "other"
    return found | {"verdict": record["verdict"], "by": by, "scale": scale}


def _outcome(entry: Entry, record: Mapping[str, Any] | None, written: set[str], lang: str) -> str:
    if record is None:
        state = WORDS[lang]["missing" if entry["chapter"] in written else "planned"].format(int(entry["chapter"][:2]))
        return f'<span class="verdict verdict-open">{state}</span>'
    by = f' <small>{CLAIM_WORDS[lang][record["learned"]]}</small>' if record["learned"] else ""
    return verdict_html(record["verdict"], lang) + by


def _inside(entry: Entry, record: dict[str, Any] | None, lang: str) -> str:
    if record is None:
        return f"<p>{escape(entry['paper_value'][lang])}</p>"
    number = int(entry["chapter"][:2])
    link = f'<a href="{entry["chapter"]}.html#claim-{entry["id"]}">{WORDS[lang]["card"].format(number)}</a>'
    return (f'{rule_html(entry, record, lang)}<p class="claim-outcome">{escape(meaning(record, lang))} {link}</p>'
            f"{panel_html(strips_of(record), lang)}{details_html(entry, record, lang)}")


def _filters(rows: Sequence[Row], lang: str) -> str:
    """A form that stays hidden until a script can obey it."""
    words, cards = WORDS[lang], CLAIM_WORDS[lang]
    there = {name: {answers(*row)[name] for row in rows} for name in ASKED}
    numbers = sorted(there["chapter"])
    options = {
        "verdict": {name: f"{MARKS[name]} {cards[name]}" for name in MARKS if name in there["verdict"]},
        "paper": {name: cards[name] for name in PAPERS}, "chapter": {number: str(int(number)) for number in numbers},
        "kind": {name: cards[name] for name in KINDS},
        "by": {name: words[f"by {name}"] for name in ("learned", "other", "not")},
        "scale": {name: words[f"scale {name}"] for name in ("lab", "full", "differs")},
    }  # fmt: skip
    fields = "".join(_select(name, options[name], lang) for name in ASKED)
    text = (f'<label>{words["words"]} <input type="search" name="words" autocomplete="off"></label>')
    return (f'<form class="ledger-filters" role="search" aria-label="{words["filters"]}" hidden>{fields}{text}'
            f'<button type="reset">{words["clear"]}</button>'
            f'<output data-shown="{words["shown"]}"></output></form>')


def _select(name: str, options: Mapping[str, str], lang: str) -> str:
    items = "".join(f'<option value="{value}">{escape(text)}</option>' for value, text in options.items())
    return (f'<label>{WORDS[lang][name]} <select name="{name}"><option value="">{WORDS[lang]["all"]}</option>{items}'
            "</select></label>")
