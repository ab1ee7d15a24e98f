"""The ledger: what a paper says, what a chapter measured, what the untrained network gives, and the verdict.

A chapter measures in the open and ends with `report("R02", measured=…, control=…, control_holds=…, verdict=…)`. The
card carries its facts as JSON (MIME), and the ledger page is collected from them, so the two cannot disagree.
"""

from __future__ import annotations

import difflib
import json
import math
import re
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal

import yaml

from .intervals import Interval
from .render import (
    FIXED_KEYS,
    LANGUAGES,
    card_html,
    card_text,
    chips_html,
    ledger_page,
    outline_html,
    overview_html,
    value_text,
)

MIME = "application/vnd.vit-cnn-book.claim+json"
Verdict = Literal["holds", "partly", "fails", "untestable"]
VERDICTS = ("holds", "partly", "fails", "untestable")
OVERVIEW = re.compile(r'<table class="claims-overview" data-chapters="([\d ]+)">.*?</table>', re.DOTALL)
CHAPTER_VERDICTS = re.compile(r'<span class="chapter-verdicts" data-chapter="(\d\d)">')
EXECUTED = Path("_build/en/_build/jupyter_execute")  # where `make book` leaves the notebooks with their outputs
_reported_by: dict[str, str] = {}  # claim id → id of the notebook cell that reported it in this kernel


@cache
def load() -> dict[str, dict]:
    """All claims of claims.yml by id, in the order of the file."""
    entries = yaml.safe_load(files("helpers").joinpath("claims.yml").read_text(encoding="utf-8"))
    return {entry["id"]: entry for entry in entries}


def claim(id: str) -> dict:
    """One claim; an unknown id names its nearest neighbours."""
    if id not in load():
        near = difflib.get_close_matches(id[:1].upper() + id[1:].zfill(2), load(), n=3, cutoff=0)
        raise ValueError(f"unknown claim {id!r}; the nearest ids are {', '.join(near)}")
    return load()[id]


def verdict(holds: bool | None, *, partly: bool = False) -> Verdict:
    """Name of an outcome: None is untestable; `partly` limits what holds and cannot rescue what fails."""
    if holds is None:
        return "untestable"
    return ("partly" if partly else "holds") if holds else "fails"


@dataclass(frozen=True)
class Report:
    """A reported claim, shown as a card in both languages; on the site each page shows its own."""

    record: dict

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        entry = load()[self.record["id"]]
        return {MIME: self.record, "text/html": card_html(entry, self.record), "text/plain": repr(self)}

    def __repr__(self) -> str:
        return "\n".join(card_text(load()[self.record["id"]], self.record, lang) for lang in LANGUAGES)


@dataclass(frozen=True)
class Outline:
    """Some claims with their sources, before anything is measured."""

    ids: tuple[str, ...]

    def _repr_html_(self) -> str:
        return outline_html([claim(id) for id in self.ids])

    def __repr__(self) -> str:
        return "\n".join(f"{id} {claim(id)['statement'][lang]}" for lang in LANGUAGES for id in self.ids)


@dataclass(frozen=True)
class Overview(Outline):
    """Some claims by chapter with their verdicts. A kernel has not run the other chapters: the book fills it in."""

    def _repr_html_(self) -> str:
        rows: list[tuple[dict, dict | None]] = [(claim(id), None) for id in self.ids]
        return "".join(f'<div class="bi" lang="{lang}">{overview_html(rows, lang)}</div>' for lang in LANGUAGES)


def outline(chapters: str | list[str]) -> Outline:
    """The claims of one chapter ("18") or several, in order, in both languages."""
    return Outline(_of_chapters(chapters))


def overview(chapters: str | list[str]) -> Overview:
    """The claims of chapters at a glance; a page of the book shows the verdicts that its build has measured."""
    return Overview(_of_chapters(chapters))


def _of_chapters(chapters: str | list[str]) -> tuple[str, ...]:
    numbers = [chapters] if isinstance(chapters, str) else chapters
    ids = tuple(id for id, entry in load().items() if entry["chapter"][:2] in numbers)
    if not ids:
        raise ValueError(f"no claims in chapter {', '.join(numbers)}; give two digits, such as '18'")
    return ids


def shows_verdicts(html: str) -> bool:
    """Whether something in this HTML waits for verdicts."""
    return bool(OVERVIEW.search(html) or CHAPTER_VERDICTS.search(html))


def fill_verdicts(html: str, records: list[dict], lang: str) -> str:
    """The same HTML with the verdicts of `records` in every overview and beside every chapter of the map."""
    rows = ledger(records)
    of = lambda chapters: [row for row in rows if row[0]["chapter"][:2] in chapters.split()]
    html = OVERVIEW.sub(lambda found: overview_html(of(found[1]), lang), html)
    return CHAPTER_VERDICTS.sub(lambda found: found[0] + chips_html(of(found[1]), lang), html)


def report(
    id: str,
    *,
    measured: Any,
    verdict: Verdict,
    control: Any = None,
    control_holds: bool | None = None,
    control_verdict: Verdict | None = None,
    control_reason: dict[str, str] | None = None,
    interval: tuple[float, float] | None = None,
    note: dict[str, str] | None = None,
    korean: Sequence[str] | None = None,
) -> Report:
    """Report what was measured for a claim, beside the same measurement on an untrained network (control).

    Values are numbers, Intervals, texts, {name: value} or {"en": value, "ko": value}; `korean` lists the Korean names
    of {name: value}. `control_holds` says whether the untrained network satisfies the claim too, or `control_verdict`
    what it would have earned; where there can be no control, `control_reason` says why, in both languages.
    """
    entry = claim(id)
    if control_verdict is not None:  # it satisfies the claim if it earns no less than the trained network
        control_holds = control_verdict != "fails" and VERDICTS.index(control_verdict) <= VERDICTS.index(verdict)
    record = {
        "id": id,
        "verdict": verdict,
        "measured": _plain(bilingual(measured, korean), f"measured of {id}"),
        "control": None if control is None else _plain(bilingual(control, korean), f"control of {id}"),
        "control_holds": None if control_holds is None else bool(control_holds),
        "control_reason": control_reason,
        "interval": None if interval is None else [_plain(bound, f"interval of {id}") for bound in interval],
        "note": note,
    }
    if problem := _problem(entry, record):
        raise ValueError(f"claim {id}: {problem}")
    _refuse_second_cell(id)
    return Report(record)


def bilingual(values: Any, korean: Sequence[str] | None) -> Any:
    """The same values under English and Korean names."""
    if not korean or not isinstance(values, dict):
        return values
    if len(korean) != len(values):
        raise ValueError(f"{len(values)} values ({', '.join(map(str, values))}) and {len(korean)} Korean names")
    return {"en": values, "ko": dict(zip(korean, values.values(), strict=True))}


def _plain(value: Any, name: str) -> Any:
    """Value as JSON can hold it: numbers rounded to 6 digits, texts, and named ones as pairs.

    A notebook sorts the keys of what it stores; pairs keep the order in which a chapter names its values.
    """
    if isinstance(value, Interval):
        value = asdict(value)
    if isinstance(value, dict) and value:
        pairs = [[str(key), _plain(item, f"{key!r} in {name}")] for key, item in value.items()]
        return dict(pairs) if set(value) in FIXED_KEYS else pairs
    if getattr(value, "shape", None) == ():  # a scalar of torch or numpy
        value = value.item()
    if isinstance(value, bool | str):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real) and math.isfinite(value):
        return float(f"{value:.6g}")
    raise ValueError(f"{name} is {value!r}; give a finite number, a text, or a dictionary of these")


def _problem(entry: dict, record: dict) -> str | None:
    """The first thing that is wrong with a record."""
    for key in ("note", "control_reason"):
        text = record[key]
        if text is not None and (set(text) != set(LANGUAGES) or not all(text.values())):
            return f"{key} must be {{'en': …, 'ko': …}}"
    if record["verdict"] not in VERDICTS:
        return f"unknown verdict {record['verdict']!r}; one of {', '.join(VERDICTS)}"
    if record["interval"] and record["interval"][0] > record["interval"][1]:
        return f"interval {record['interval']} must be (low, high)"
    needs_control = entry["kind"] != "D" and record["verdict"] != "untestable"
    if needs_control and record["control"] is None and record["control_reason"] is None:
        return "measure the untrained network too and pass it as control, or say why not: control_reason={en: …, ko: …}"
    if record["control"] is not None and record["control_holds"] is None:
        return "say whether the untrained network satisfies the claim too: control_holds=True or False"
    if record["control_holds"] and record["verdict"] in ("holds", "partly") and record["note"] is None:
        return "the untrained network satisfies it too; explain in note={en: …, ko: …} what that means"
    return None


def _refuse_second_cell(id: str) -> None:
    """A claim belongs to one cell; running that cell again is fine."""
    get_ipython = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)
    parent: dict = getattr(get_ipython(), "get_parent", dict)()
    cell = parent.get("metadata", {}).get("cellId")
    if cell and _reported_by.setdefault(id, cell) != cell:
        raise ValueError(f"claim {id} was already reported by another cell of this notebook; report it once")


def collect(notebook: dict, name: str) -> list[dict]:
    """Records in the outputs of an executed notebook, each with `where` it stands."""
    return [
        {**output["data"][MIME], "where": f"{name}, cell {number}"}
        for number, cell in enumerate(notebook["cells"], 1)
        for output in cell.get("outputs", [])
        if MIME in output.get("data", {})
    ]


def ledger(records: list[dict]) -> list[tuple[dict, dict | None]]:
    """(claim, its record or None) for all claims in order; unknown and repeated ids are refused with their place."""
    by_id: dict[str, dict] = {}
    for record in records:
        id, where = record["id"], record.get("where", "a notebook")
        if id not in load():
            raise ValueError(f"{where}: claim {id!r} is not in claims.yml")
        if id in by_id:
            raise ValueError(f"{where}: claim {id} was already reported by {by_id[id].get('where', 'a notebook')}")
        by_id[id] = record
    return [(entry, by_id.get(id)) for id, entry in load().items()]


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


