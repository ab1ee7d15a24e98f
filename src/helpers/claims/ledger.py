"""The ledger: what all chapters report, collected from the outputs of executed notebooks."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from .entries import Entry, load
from .render import chips_html, ledger_page, overview_html, value_text
from .reports import MIME, completed

OVERVIEW = re.compile(r'<table class="claims-overview" data-chapters="([\d ]+)">.*?</table>', re.DOTALL)
CHAPTER_VERDICTS = re.compile(r'<span class="chapter-verdicts" data-chapter="(\d\d)">')
EXECUTED = Path("_build/executed")  # where `make book` keeps the notebooks with their outputs
Row = tuple[Entry, dict[str, Any] | None]


def collect(notebook: dict, name: str) -> list[dict]:
    """Records in the outputs of an executed notebook, completed, each with `where` it stands."""
    return [
        {**completed(output["data"][MIME]), "where": f"{name}, cell {number}"}
        for number, cell in enumerate(notebook["cells"], 1)
        for output in cell.get("outputs", [])
        if MIME in output.get("data", {})
    ]


def ledger(records: list[dict]) -> list[Row]:
    """(claim, its record or None) for all claims in order; unknown and repeated ids are refused with their place."""
    by_id: dict[str, dict] = {}
    for record in records:
        id, where = record["id"], record.get("where", "a notebook")
        if id not in load():
            raise ValueError(f"{where}: claim {id!r} is in no chapter's file of claims")
        if id in by_id:
            raise ValueError(f"{where}: claim {id} was already reported by {by_id[id].get('where', 'a notebook')}")
        by_id[id] = record
    return [(entry, by_id.get(id)) for id, entry in load().items()]


def shows_verdicts(html: str) -> bool:
    """Whether something in this HTML waits for verdicts."""
    return bool(OVERVIEW.search(html) or CHAPTER_VERDICTS.search(html))


def fill_verdicts(html: str, records: list[dict], lang: str) -> str:
    """The same HTML with the verdicts of `records` in every overview and beside every chapter of the map."""
    rows = ledger(records)
    of = lambda chapters: [row for row in rows if row[0]["chapter"][:2] in chapters.split()]
    html = OVERVIEW.sub(lambda found: overview_html(of(found[1]), lang), html)
    return CHAPTER_VERDICTS.sub(lambda found: found[0] + chips_html(of(found[1]), lang), html)


def ledger_html(records: list[dict], lang: str) -> str:
    """The ledger as HTML in one language: counts by verdict, then one table per paper."""
    return ledger_page(ledger(records), lang)


def ledger_text(records: list[dict], lang: str = "en") -> str:
    """The ledger as text: one line per claim, then the counts."""
    rows = ledger(records)
    lines = [
        f"{entry['id']}  {record['verdict'] if record else '–':10}  {entry['statement'][lang]}"
        + (f"  [{value_text(record['measured'], lang)}]" if record else "")
        for entry, record in rows
    ]
    counts = Counter(record["verdict"] if record else "not measured yet" for _, record in rows)
    return "\n".join([*lines, "", " · ".join(f"{name} {count}" for name, count in counts.items())])


def main() -> None:
    """Print the ledger of the executed notebooks given as arguments (default: those of the last `make book`)."""
    paths = [Path(argument) for argument in sys.argv[1:]] or sorted(EXECUTED.glob("*.ipynb"))
    if not paths:
        sys.exit(f"No executed notebooks in {EXECUTED}: run `make book` first, or name some.")
    notebooks = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in paths}
    print(ledger_text([record for name, notebook in notebooks.items() for record in collect(notebook, name)]))
