"""Report a claim: the chapter's judge measures, on any network; the claim's rule in NN.yml decides, for every network.

`report("R10", judge)` calls judge("trained") and judge("untrained"); each returns {quantity: number}. What it leaves in
the notebook is these numbers (MIME); verdict, names and notes are added when a card is shown, so that the page of the
ledger, the card and the rule cannot disagree, and a word can be changed without measuring again.
"""

from __future__ import annotations

import importlib
import math
import os
import string
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from numbers import Integral, Real
from types import ModuleType
from typing import Any

from ..networks.states import swapped
from . import rules
from .entries import LANGUAGES, Entry, called, claim, control_is_asked, invented, of_chapters, rule_of
from .intervals import Interval
from .verdicts import Verdict, judged, pooled

MIME = "application/vnd.vit-cnn-book.claim+json"
LIST_MIME = "application/vnd.vit-cnn-book.claims+json"
Values = Mapping[str, Any]
Judge = Callable[[str], Values]
_reported: dict[str, dict[str, Any]] = {}  # claim id → what this kernel has reported of it
_reported_by: dict[str, str] = {}  # claim id → id of the notebook cell that reported it in this kernel


def in_build() -> bool:
    """Whether the book is being built: it draws cards when it writes a page, and measures nothing again for them."""
    return os.environ.get("BOOK_STATIC") == "1"


def cards() -> ModuleType:
    """The module that draws cards, loaded when one is drawn: a notebook of the book does not depend on their looks."""
    return importlib.import_module(".cards", __package__)


@dataclass(frozen=True)
class Report:
    """A reported claim, shown as a card in both languages; on the site each page shows its own."""

    record: dict[str, Any]

    @property
    def verdict(self) -> Verdict:
        return completed(self.record)["verdict"]

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        if self.record["id"] in invented():  # no ledger counts it
            return cards().rendered(self.record)
        shown = {"text/plain": self.record["id"]} if in_build() else cards().rendered(self.record)
        return {MIME: self.record} | shown

    def __repr__(self) -> str:
        return cards().rendered(self.record)["text/plain"]


@dataclass(frozen=True)
class Outline:
    """Some claims with their sources, before anything is measured."""

    ids: tuple[str, ...]
    kind = "outline"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        record = {"kind": self.kind, "ids": list(self.ids)}
        shown = {"text/plain": ", ".join(self.ids)} if in_build() else cards().rendered_list(record, _reported)
        return {LIST_MIME: record} | shown

    def __repr__(self) -> str:
        return cards().rendered_list({"kind": self.kind, "ids": self.ids})["text/plain"]


@dataclass(frozen=True, repr=False)
class Overview(Outline):
    """Some claims by chapter with their verdicts. A kernel has not run the other chapters: the book fills it in."""

    kind = "overview"


@dataclass(frozen=True, repr=False)
class Forest(Outline):
    """A chapter's claims in one picture: in a kernel those reported so far, on a page of the book all."""

    kind = "forest"


def outline(chapters: str | list[str]) -> Outline:
    """The claims of one chapter ("18") or several, in order, in both languages."""
    return Outline(of_chapters(chapters))


def overview(chapters: str | list[str]) -> Overview:
    """The claims of chapters at a glance; a page of the book shows the verdicts that its build has measured."""
    return Overview(of_chapters(chapters))


def forest(chapters: str | list[str]) -> Forest:
    """The claims of a chapter ("18") in one picture: the number that stands for each, and where it would hold."""
    return Forest(of_chapters(chapters))


def report(id: str, judge: Judge | Values, *, trained: Sequence[str] = ("trained",),
           untrained: Sequence[str] = ("untrained",), **facts: float | str) -> Report:
    """Report what a judge measures: judge(state) → {quantity: number, Interval, text or None}, named as in NN.yml.

    `trained` are training runs and `untrained` draws of random weights, of which there should be several (`states_of`
    names both). Where no network is asked (a table of the paper, a count), give the numbers themselves. `facts` fill
    {places} of the note.
    """
    entry = claim(id)
    if isinstance(judge, Mapping):
        values, judge = judge, lambda state: values
        untrained = ()
    elif not control_is_asked(entry):
        untrained = ()
    elif wrong := swapped(trained, untrained):
        raise ValueError(f"claim {id}: {', '.join(map(repr, wrong))} stands on the wrong side; `trained` are training "
                         "runs, `untrained` are draws of random weights")
    measured = lambda states: [[state, _checked(entry, state, judge(state))] for state in states]
    record = {"id": id, "trained": measured(trained), "untrained": measured(untrained),
              "facts": {name: _plain(value, f"{name} of {id}") for name, value in facts.items()}}
    if problem := _problem(entry, record):
        raise ValueError(f"claim {id}: {problem}")
    _refuse_second_cell(id)
    _reported[id] = record
    return Report(record)


# ---- what a judge may return ------------------------------------------------------------------------------------


def _checked(entry: Entry, state: str, values: Values) -> list[list[Any]]:
    """The values in the order of the claim's quantities, as JSON can hold them; strangers and nonsense are refused."""
    known = entry["quantities"]
    if strange := [name for name in values if name not in known]:
        raise ValueError(f"claim {entry['id']}: its judge returns {', '.join(map(repr, strange))} for {state!r}; the "
                         f"quantities in {entry['chapter'][:2]}.yml are {', '.join(known)}")
    return [[name, _within(known[name].get("range"), _plain(values[name], f"{name!r} of {entry['id']}, {state}"),
                           f"{name!r} of {entry['id']}, {state}")] for name in known if name in values]


def _plain(value: Any, name: str) -> Any:
    """Value as JSON can hold it: a number rounded to 6 digits, an interval, a truth value, a text; None for NaN."""
    if isinstance(value, Interval):
        ends = {part: _plain(number, name) for part, number in asdict(value).items()}
        return None if ends["value"] is None else ends
    if getattr(value, "shape", None) == ():  # a scalar of torch or numpy
        value = value.item()
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real) and not math.isinf(value):
        return None if math.isnan(value) else float(f"{value:.6g}")
    raise ValueError(f"{name} is {value!r}; give a finite number, an Interval, a truth value, a text or None")


def _within(bounds: Sequence[float] | None, value: Any, name: str) -> Any:
    """The value with its interval cut to what the quantity can be; a value outside is a mistake."""
    if bounds is None or value is None or isinstance(value, str):
        return value
    low, high = bounds
    number = value["value"] if isinstance(value, dict) else value
    if not low - 1e-6 <= number <= high + 1e-6:
        raise ValueError(f"{name} is {number}, outside of its range {low} to {high}")
    if not isinstance(value, dict):
        return value
    return value | {end: None if value[end] is None else min(max(value[end], low), high) for end in ("low", "high")}


def _problem(entry: Entry, record: dict[str, Any]) -> str | None:
    """The first thing that is wrong with a record."""
    states = record["trained"] + record["untrained"]
    reads = set().union(*(rules.names(rule) for rule in rule_of(entry).values()))
    for state, pairs in states:
        if lacking := sorted(reads - {name for name, _ in pairs}):
            return f"its rule reads {', '.join(lacking)}, which the judge does not return for {state!r}"
    asked = control_is_asked(entry) and entry.get("testable") is not False
    if asked and not record["untrained"]:
        return "the untrained network must be asked too: give a judge(state), or say in no_control why not"
    if same := _same_network(record):
        return f"{same[1]!r} gives exactly the numbers of {same[0]!r}: is it another network?"
    done = completed(record)
    if done["control_holds"] and done["verdict"] in ("holds", "partly") and not done["note"]:
        return "the untrained network satisfies it too; explain in its note what that means"
    return None


def _same_network(record: dict[str, Any]) -> tuple[str, str] | None:
    """A training run and an untrained draw with the same intervals: one of them is not what it is called.

    Values of few possibilities (1, −0.5: ranks of few things, shares of few places) may agree by themselves.
    """
    telling = lambda interval: any(round(number, 3) != number for number in interval.values())
    intervals = lambda pairs: [value for _, value in pairs if isinstance(value, dict)]
    for run, measured in record["trained"]:
        for draw, control in record["untrained"]:
            same = intervals(measured) == intervals(control)
            if same and sum(map(telling, intervals(measured))) > len(intervals(measured)) / 2:
                return run, draw
    return None


def _refuse_second_cell(id: str) -> None:
    """A claim belongs to one cell; running that cell again is fine."""
    get_ipython = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)
    parent: dict = getattr(get_ipython(), "get_parent", dict)()
    cell = parent.get("metadata", {}).get("cellId")
    if cell and _reported_by.setdefault(id, cell) != cell:
        raise ValueError(f"claim {id} was already reported by another cell of this notebook; report it once")


# ---- the record with its verdict --------------------------------------------------------------------------------


def _values(pairs: list[list[Any]]) -> dict[str, rules.Value]:
    """Stored pairs as the values that a rule reads."""
    return {name: Interval(**value) if isinstance(value, dict) else value for name, value in pairs}


def completed(record: dict[str, Any]) -> dict[str, Any]:
    """A record with what the claim's entry says of its numbers: verdicts, names, notes.

    `measured` and `values` are those of the first training run, `others` the further ones, `control_states` the draws
    of random weights; `verdict` is what the middle run earns, `learned` what it holds by (verdicts.py). `full_size` is
    empty: who has results/ at hand fills it with `at_full_size`.
    """
    entry = claim(record["id"])
    runs, draws = ([_values(pairs) for _, pairs in record[side]] for side in ("trained", "untrained"))
    outcome = judged(entry, runs, draws)
    fill = lambda text: filled(text, record["facts"], record["id"])
    names = {lang: {name: fill(text) for name, text in called(entry, lang).items()} for lang in LANGUAGES}
    named = lambda pairs: {lang: [[names[lang][name], value] for name, value in pairs] for lang in LANGUAGES}
    shown = [[name, asdict(value) if isinstance(value, Interval) else value] for name, value in pooled(draws).items()]
    states = lambda side, verdicts: [
        {"state": state, "measured": named(pairs), "values": dict(pairs), "verdict": verdict}
        for (state, pairs), verdict in zip(record[side], verdicts, strict=True)]
    first, *others = states("trained", outcome.runs)
    note = entry.get("note")
    return {
        "id": record["id"], "kind": entry["kind"], "primary": entry.get("primary"), "names": names,
        "verdict": outcome.verdict, "learned": outcome.learned, "one_run": outcome.one_run,
        "runs": len(runs), "draws": len(draws),
        "measured": first["measured"], "values": first["values"], "first_verdict": first["verdict"], "others": others,
        "control": named(shown) if draws else None, "control_verdict": outcome.control,
        "control_holds": outcome.earned_too, "control_reason": entry.get("no_control"),
        "control_states": states("untrained", outcome.draws), "full_size": [],
        "note": note and {lang: fill(note[lang]) for lang in LANGUAGES},
    }  # fmt: skip


class _Facts(string.Formatter):
    """{name:.2f} with a true minus sign."""

    def format_field(self, value: Any, format_spec: str) -> str:
        text = format(value, format_spec)
        return text if isinstance(value, str) else text.replace("-", "−")


def filled(text: str, facts: Mapping[str, Any], id: str) -> str:
    """A text with its facts; one that is missing is named."""
    try:
        return _Facts().vformat(text, (), facts)
    except KeyError as error:
        name = error.args[0]
        raise ValueError(f"claim {id}: its text speaks of {{{name}}}: pass {name}=… to report") from error
