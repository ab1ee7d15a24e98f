"""What a run found, in sentences whose numbers are read from its files.

A sentence says under which rule it is true and is left out where it is not: then full_size.yml must be written anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from ..claims import rules
from .stored import CONTENT, Result, Results

FINDINGS: dict[str, list[dict[str, Any]]] = CONTENT["findings"]  # run → its sentences
Records = Mapping[str, Result]  # claim → what its chapter reports


def findings_html(run: Results, records: Records, lang: str) -> str:
    """The sentences as a list; nothing for a run that has none."""
    items = "".join(f"<li>{text}</li>" for text in texts(run, records, lang))
    return f'<ul class="full-size-findings">{items}</ul>' if items else ""


def texts(run: Results, records: Records, lang: str) -> list[str]:
    """The sentences that are true, each followed by what the lab says where that is known."""
    said = ([_said(finding, run, records, lang), _said(finding.get("lab"), run, records, lang)]
            for finding in FINDINGS.get(run.name, []))
    return [" ".join(filter(None, [found, lab])) for found, lab in said if found]


def _said(sentence: dict[str, Any] | None, run: Results, records: Records, lang: str) -> str | None:
    """A sentence with its numbers; None where one of them is missing or its rule is not met."""
    if sentence is None:
        return None
    found = {name: read(path, run, records) for name, path in sentence["reads"].items()}
    numbers = {name: _Number(value) for name, value in found.items() if value is not None}
    if len(numbers) < len(found) or not rules.is_met(sentence["holds"], numbers):
        return None
    return escape(sentence[lang].format(**numbers), quote=False)


class _Number(float):
    """A number whose minus is a minus sign."""

    def __format__(self, how: str) -> str:
        return super().__format__(how).replace("-", "−")


def read(path: Sequence[Any], run: Results, records: Records) -> float | None:
    """A number of the run, of one of its arrays (by index, or "max"), or of a claim in the lab; None if not there.

    [attention.vit_ti16, lowest_nearest] · [similarity.vit_ti16.deit_ti16, cross, 7, 7] · [lab, R10, lowest_nearest]
    · [untrained lab, R10, lowest_nearest], of its first draw
    """
    where, name, *at = path
    if where in ("lab", "untrained lab"):
        record = records.get(name, {})
        states = [record] if where == "lab" else record.get("control_states", [])
        return _central(states[0].get("values", {}).get(at[0])) if states else None
    found = next((r for r in run.found if r["trained"] and "numbers" in r and _stem(r) == where), None)
    if found is None:
        return None
    if name in found["numbers"]:
        return _central(found["numbers"][name])
    if name not in found["arrays"]:
        return None
    values = np.array(found["arrays"][name], dtype=float)
    return float(values.max() if at == ["max"] else values[tuple(at)])


def _stem(result: Result) -> str:
    return ".".join([result["measure"], *result["networks"]])


def _central(stored: Any) -> float | None:
    value = stored["value"] if isinstance(stored, dict) else stored
    return None if value is None else float(value)
