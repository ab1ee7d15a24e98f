"""The ledger: what all chapters report, collected from the outputs of executed notebooks."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from .entries import load
from .ledger_page import ledger_page
from .render import value_text
from .reports import MIME, completed
from .verdict_map import END, Row, map_html

MAP = re.compile(rf'<div class="verdict-map" data-chapters="([\d ]*)">.*?{END}', re.DOTALL)
EXECUTED = Path("_build/executed")  # where `make book` keeps the notebooks with their outputs


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
    return bool(MAP.search(html))


def fill_verdicts(html: str, records: list[dict], lang: str, titles: Mapping[str, str] | None = None) -> str:
    """The same HTML with the verdicts of `records` in every map; a map that names no chapters shows all."""
    rows = ledger(records)
    of = lambda chapters: [row for row in rows if row[0]["chapter"][:2] in chapters.split()] if chapters else rows
    return MAP.sub(lambda found: map_html(of(found[1]), lang, titles), html)


def ledger_html(records: list[dict], lang: str, titles: Mapping[str, str] | None = None) -> str:
    """The page of the ledger as HTML in one language."""
    return ledger_page(ledger(records), lang, titles)


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
