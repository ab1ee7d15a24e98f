"""The ledger as files to download: the same rows as the page, as JSON and as CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from .entries import rule_of
from .strips import Strip, strips_of
from .verdict_map import Row

COLUMNS = ("id", "chapter", "paper", "section", "kind", "verdict", "holds_by", "quantity", "primary", "network",
           "value", "low", "high")


def as_json(rows: Sequence[Row]) -> str:
    """All claims with words, rule, verdict and numbers."""
    return json.dumps([_claim(entry, record) for entry, record in rows], ensure_ascii=False, indent=1) + "\n"


def _claim(entry: dict[str, Any], record: dict[str, Any] | None) -> dict[str, Any]:
    texts = {name: entry[name] for name in ("statement", "paper_value", "test") if name in entry}
    found = {name: entry[name] for name in COLUMNS[:5]} | texts | {"rule": rule_of(entry)}
    if record is None:
        return found | {"verdict": None}
    quantities = {strip.quantity: {"called": dict(strip.label),
                                   "values": [{"network": who} | value for who, value in _values(strip)]}
                  for strip in strips_of(record)}
    return found | {"verdict": record["verdict"], "holds_by": record["learned"], "training_runs": record["runs"],
                    "untrained_draws": record["draws"], "note": record["note"], "quantities": quantities}


def _values(strip: Strip) -> Iterator[tuple[str, dict[str, float]]]:
    """(which network, its value) for every number of a strip."""
    named = [("trained", (strip.trained,) if strip.trained else ()), ("another training run", strip.seeds),
             ("untrained", strip.untrained), ("one of two trained", strip.half)]
    for who, dots in named:
        for dot in dots:
            yield who, asdict(dot)
    for who, dot in strip.full:
        yield f"full size: {who}", asdict(dot)


def as_csv(rows: Sequence[Row]) -> str:
    """A line for every number; a claim without any has one line."""
    text = io.StringIO()
    table = csv.DictWriter(text, COLUMNS, restval="", lineterminator="\n")
    table.writeheader()
    for entry, record in rows:
        about = {name: entry[name] for name in COLUMNS[:5]}
        if record is not None:
            about |= {"verdict": record["verdict"], "holds_by": record["learned"] or ""}
        numbers = [{"quantity": strip.quantity, "primary": int(strip.quantity == entry.get("primary")), "network": who}
                   | value for strip in (strips_of(record) if record else ()) for who, value in _values(strip)]
        table.writerows(about | number for number in numbers or [{}])
    return text.getvalue()
