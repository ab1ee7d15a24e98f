"""Several claims of one chapter at once: does a verdict survive if the intervals allow for their number (Holm)?

A 95 % interval misses once in twenty; a chapter with eight of them misses more often. Holm's procedure asks the
strongest of m claims for an interval at 1 − 5 %/m, the next for 1 − 5 %/(m − 1), and so on, until one does not survive.
Only the interval of a claim's primary number is widened, as that of a normal mean would be.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby
from statistics import NormalDist
from typing import Any

from .entries import claim, rule_of
from .intervals import Interval
from .verdicts import EARNED, VERDICTS, Numbers, decide, pooled

Record = Mapping[str, Any]


def holm(records: Iterable[Record]) -> dict[str, bool]:
    """Claim → whether its verdict survives the correction within its chapter.

    Asked are learned effects that hold, at least in part, by an interval of their primary number.
    """
    asked = sorted((record for record in records if _rests_on_interval(record)), key=_chapter)
    return {id: lasts for _, group in groupby(asked, _chapter) for id, lasts in _in_chapter(list(group)).items()}


def _chapter(record: Record) -> str:
    return str(claim(record["id"])["chapter"])


def _rests_on_interval(record: Record) -> bool:
    primary, rule = record["primary"], rule_of(claim(record["id"]))
    if record["kind"] != "learned" or record["verdict"] not in EARNED or primary is None:
        return False
    reads = any(f"{primary}.{end}" in part for part in rule.values() for end in ("low", "high"))
    return reads and isinstance(record["values"].get(primary), dict)


def _in_chapter(records: list[Record]) -> dict[str, bool]:
    """Holm's steps: the strongest claim first, each against as many as are left."""
    number = len(records)
    strength = {record["id"]: max((m for m in range(1, number + 1) if survives(record, m)), default=0)
                for record in records}
    lasts, found = True, {}
    for step, id in enumerate(sorted(strength, key=lambda id: -strength[id])):
        lasts = lasts and strength[id] >= number - step
        found[id] = lasts
    return found


def survives(record: Record, number: int) -> bool:
    """Whether the verdict of the first training run stays with the primary's interval at 1 − 5 %/number."""
    entry, primary = claim(record["id"]), record["primary"]
    values = _numbers(record["values"])
    wide = NormalDist().inv_cdf(1 - 0.025 / number) / NormalDist().inv_cdf(0.975)
    interval = values[primary]
    assert isinstance(interval, Interval)
    widened = Interval(interval.value, interval.value - wide * (interval.value - interval.low),
                       interval.value + wide * (interval.high - interval.value))
    control = pooled([_numbers(state["values"]) for state in record["control_states"]])
    verdict = decide(entry, {**values, primary: widened}, control)
    return VERDICTS.index(verdict) <= VERDICTS.index(record["first_verdict"])


def _numbers(values: Mapping[str, Any]) -> Numbers:
    return {name: Interval(**value) if isinstance(value, dict) else value for name, value in values.items()}
