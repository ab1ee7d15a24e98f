"""What lies in results/: runs on full-size networks, and what their numbers say to the claims. Needs no PyTorch."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from ..claims.entries import LANGUAGES, called, claim
from ..claims.intervals import Interval
from ..claims.verdicts import FullSize, at_full_size

Result = dict[str, Any]
CALLED = {"vit_ti16": "ViT-Ti, 21k", "deit_ti16": "DeiT-Ti, 1k", "resnet50_v1": "ResNet-50"}  # in figures
RESULTS = Path(__file__).parents[1] / "results"  # in the package: a notebook opened alone has it too


@dataclass(frozen=True)
class Row:
    """One claim and the measurement that speaks to it.

    Numbers that are the claim's own quantities are named, and judged, as in the chapter; others are named here.
    """

    claim: str
    measure: str
    numbers: dict[str, dict[str, Any]] | None = None  # key in the results → what it is in both languages, its range

    def named(self, lang: str) -> dict[str, str]:
        """Key in the results → what it is called."""
        if self.numbers is None:
            return called(claim(self.claim), lang)
        return {key: words[lang] for key, words in self.numbers.items()}

    def values(self, result: Result) -> dict[str, Any]:
        """Those numbers of a result that it speaks of, as a rule reads them."""
        numbers = result["numbers"]  # a name may begin with the claim, where claims use one word for two things
        quantities = claim(self.claim)["quantities"] if self.numbers is None else self.numbers
        return {key: _value(numbers[name], quantities[key].get("range")) for key in self.named(LANGUAGES[0])
                for name in (f"{self.claim} {key}", key) if name in numbers}


def _value(stored: Any, bounds: list[float] | None) -> Any:
    """An interval, a truth value, a number, or None where there is no finite one.

    An interval over parts does not know what its number can be: no share lies above 1.
    """
    if not isinstance(stored, dict):
        return stored
    if stored["value"] is None:
        return None
    low, high = bounds or (-math.inf, math.inf)
    value = stored["value"]
    return Interval(value, max(stored["low"], min(low, value)), min(stored["high"], max(high, value)))


CONTENT = yaml.safe_load(files("helpers").joinpath("paper/full_size.yml").read_text(encoding="utf-8"))
ROWS = [Row(**row) for row in CONTENT["rows"]]


class Results:
    """One run as it lies in its folder; measurements that are not done yet are simply not there."""

    def __init__(self, folder: Path) -> None:
        self.name = folder.name
        read = lambda path: json.loads(path.read_text(encoding="utf-8"))
        self.about: Result = read(folder / "run.json")
        self.found: list[Result] = [read(path) for path in sorted(folder.glob("*.json")) if path.name != "run.json"]

    def of(self, measure: str, trained: bool) -> list[Result]:
        """Results of one measurement; skipped ones are left out."""
        return [r for r in self.found if r["measure"] == measure and r["trained"] == trained and "numbers" in r]

    def kind(self, network: str) -> str:
        return self.about["networks"][network]["kind"]

    def called(self, network: str) -> str:
        """A network's name in figures and lists."""
        return CALLED.get(network, network)


def runs_in(folder: Path) -> list[Results]:
    """All runs, in the order of their names."""
    return [Results(path.parent) for path in sorted(folder.glob("*/run.json"))]


def numbers_of(run: Results, row: Row, trained: bool) -> dict[str, list[dict[str, Any]]]:
    """Network, or pair of them, → the numbers that speak to a claim, of each draw of random weights."""
    found: dict[str, list[dict[str, Any]]] = {}
    for result in run.of(row.measure, trained):
        if values := row.values(result):
            found.setdefault(" × ".join(result["networks"]), []).append(values)
    return found


# ---- for cards and the ledger -----------------------------------------------------------------------------------


def evidence(folder: Path) -> dict[str, list[FullSize]]:
    """Claim → what every run in a folder says to it: the claim's own numbers, judged by its own rule."""
    return _evidence(folder, tuple((path, path.stat().st_mtime_ns) for path in sorted(folder.glob("*/*.json"))))


@cache
def _evidence(folder: Path, _state: tuple[tuple[Path, int], ...]) -> dict[str, list[FullSize]]:
    found: dict[str, list[FullSize]] = {}
    for run in runs_in(folder):
        for row in (row for row in ROWS if row.numbers is None):  # others have no number that the claim's rule reads
            trained, untrained = numbers_of(run, row, True), numbers_of(run, row, False)
            found.setdefault(row.claim, []).extend(
                at_full_size(row.claim, run.name, networks.split(" × "), values[0], untrained.get(networks, []))
                for networks, values in trained.items())
    return found
