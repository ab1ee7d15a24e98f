"""The verdict: one rule for every network, and what it says about learning.

A claim is judged on every training run and on every draw of random weights. What the middle run earns is its verdict
(of two runs the lesser one); it speaks of learning only if no draw of random weights earns as much.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Literal, TypedDict, cast

from . import rules
from .entries import Entry, claim, rule_of
from .intervals import Interval

Verdict = Literal["holds", "partly", "inconclusive", "fails", "untestable"]
VERDICTS = ("holds", "partly", "inconclusive", "fails", "untestable")  # from best to worst
EARNED = ("holds", "partly")
ENOUGH_RUNS = 3  # training runs behind a learned effect; with fewer the card says "one run"
Numbers = Mapping[str, rules.Value]


def decide(entry: Entry, values: Numbers, untrained: Numbers | None = None) -> Verdict:
    """The verdict of a claim's rule on the values of any network."""
    rule = rule_of(entry)
    if entry.get("testable") is False or ("testable" in rule and not rules.is_met(rule["testable"], values, untrained)):
        return "untestable"
    earned = (verdict for verdict in ("holds", "partly", "inconclusive") if verdict in rule)
    return cast(Verdict, next((v for v in earned if rules.is_met(rule[v], values, untrained)), "fails"))


def pooled(draws: Sequence[Numbers]) -> dict[str, rules.Value]:
    """Several untrained draws as one: mean and range of each number."""
    if len(draws) == 1:
        return dict(draws[0])
    together: dict[str, rules.Value] = {}
    for name in draws[0] if draws else ():
        numbers = [float(cast(float, draw[name])) for draw in draws if draw.get(name) is not None]
        together[name] = Interval(fmean(numbers), min(numbers), max(numbers)) if numbers else None
    return together


@dataclass(frozen=True)
class Judgement:
    """What a claim's rule says of training runs and untrained draws; None where a number that it reads is missing."""

    kind: str
    runs: tuple[Verdict | None, ...]
    draws: tuple[Verdict | None, ...]

    @property
    def verdict(self) -> Verdict | None:
        """What the middle training run earns."""
        return middle(self.runs)

    @property
    def control(self) -> Verdict | None:
        """What the middle untrained draw earns."""
        return middle(self.draws)

    @property
    def earned_too(self) -> bool | None:
        """Whether some untrained draw earns no less than the verdict; None where none was judged."""
        draws = [draw for draw in self.draws if draw]
        verdict = self.verdict
        return any(_no_less(draw, verdict) for draw in draws) if draws and verdict else None

    @property
    def learned(self) -> str | None:
        """What a claim that holds, at least in part, holds by: learning, architecture or arithmetic."""
        if self.verdict not in EARNED:
            return None
        return "architecture" if self.kind == "learned" and self.earned_too else self.kind

    @property
    def one_run(self) -> bool:
        """Whether a learned effect rests on fewer training runs than it should."""
        return self.kind == "learned" and self.verdict in EARNED and len(self.runs) < ENOUGH_RUNS


def middle(verdicts: Iterable[Verdict | None]) -> Verdict | None:
    """The middle one of some verdicts, of an even number the lesser of two."""
    ordered = sorted((verdict for verdict in verdicts if verdict), key=VERDICTS.index)
    return ordered[len(ordered) // 2] if ordered else None


def _no_less(control: str, verdict: str) -> bool:
    return control in EARNED and VERDICTS.index(control) <= VERDICTS.index(verdict)


def judged(entry: Entry, runs: Sequence[Numbers], draws: Sequence[Numbers]) -> Judgement:
    """A claim's rule on the values of its training runs and of its untrained draws."""
    rule = rule_of(entry).values()
    reads = {name for part in rule for name in rules.names(part)}
    yardstick = any(map(rules.reads_untrained, rule)) and not draws
    control = pooled(draws)
    of: Callable[[Numbers], Verdict | None] = lambda values: (
        decide(entry, values, control) if reads <= values.keys() and not yardstick else None)
    return Judgement(entry["kind"], tuple(map(of, runs)), tuple(map(of, draws)))


def headline(records: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """How many completed records hold, wholly or in part, by learning, by architecture and by arithmetic."""
    counts = Counter(record["learned"] for record in records)
    return {by: counts[by] for by in ("learned", "architecture", "arithmetic")}


# ---- at full size -----------------------------------------------------------------------------------------------


class Measured(TypedDict):
    """Numbers of one network, or pair, and what the claim's rule says of them (None: it reads one that is missing)."""

    values: dict[str, rules.Value]
    verdict: Verdict | None


class FullSize(TypedDict):
    """One stored measurement of public weights that speaks to a claim."""

    run: str
    networks: list[str]
    trained: Measured | None
    untrained: list[Measured]


def at_full_size(id: str, run: str, networks: Sequence[str], trained: Numbers | None,
                 untrained: Sequence[Numbers]) -> FullSize:
    """Stored numbers of a run, judged by the claim's rule as in the chapter."""
    outcome = judged(claim(id), [] if trained is None else [trained], untrained)
    measured = lambda values, verdict: Measured(values=dict(values), verdict=verdict)
    return FullSize(run=run, networks=list(networks),
                    trained=None if trained is None else measured(trained, outcome.runs[0]),
                    untrained=list(map(measured, untrained, outcome.draws)))
