"""What a chart shows of a claim: for each of its quantities the trained network, its other training runs, the untrained
draws, full size, the paper's own value, and the zones where the claim holds. Card, ledger and forest draw from these.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..networks.states import HALF_TRAINED
from . import rules
from .entries import Entry, claim, rule_of
from .intervals import Interval
from .verdicts import pooled
from .zones import Zone, Zones, union, zones

FEW = 4  # quantities that a card shows without being opened; of more, those that its rule reads
Dots = tuple[Interval, ...]
Record = Mapping[str, Any]  # a completed one (reports.py)


@dataclass(frozen=True)
class Strip:
    """One quantity of a claim, ready to be drawn on a number line."""

    claim: str
    quantity: str
    label: Mapping[str, str]  # language → what it is called
    verdict: str
    trained: Interval | None = None
    seeds: Dots = ()  # the other training runs
    untrained: Dots = ()
    half: Dots = ()  # pairs of which one network is trained
    full: tuple[tuple[str, Interval], ...] = ()  # network → its value at full size
    twins: Dots = ()  # untrained draws at full size
    paper: float | None = None
    zone: Zone = ()  # where the claim holds
    nearly: Zone = ()  # where it holds in part
    bounds: tuple[float, float] | None = None  # what the quantity can be
    decides: bool = True  # whether the rule reads it

    @property
    def controls(self) -> Dots:
        """Everything that is not wholly trained."""
        return self.untrained + self.half + self.twins

    @property
    def trained_dots(self) -> Dots:
        """Everything trained that is drawn."""
        return ((self.trained,) if self.trained else ()) + self.seeds + tuple(dot for _, dot in self.full)


def strips_of(record: Record) -> list[Strip]:
    """The strips of a claim, in the order of its quantities; one without any number has none."""
    entry = claim(record["id"])
    holds, partly = _zones_of(entry, record)
    reads = _read_by(entry)
    found = []
    for name, quantity in entry["quantities"].items():
        of = lambda states, name=name: _dots(state["values"].get(name) for state in states)
        controls = record["control_states"]
        bounds = quantity.get("range")
        found.append(Strip(
            claim=entry["id"], quantity=name, verdict=record["verdict"], decides=name in reads,
            label={lang: names[name] for lang, names in record["names"].items()},
            trained=dot(record["values"].get(name)), seeds=of(record["others"]),
            untrained=of(state for state in controls if state["state"] not in HALF_TRAINED),
            half=of(state for state in controls if state["state"] in HALF_TRAINED),
            full=_full_size(record, name), twins=of(twin for one in record["full_size"] for twin in one["untrained"]),
            paper=quantity.get("paper"), zone=holds.get(name, ()), nearly=partly.get(name, ()),
            bounds=bounds and (bounds[0], bounds[1])))
    return [strip for strip in found if strip.trained_dots or strip.controls]


def primary(record: Record) -> Strip | None:
    """The strip of the one number that stands for the claim: the one its entry names, or the first its rule shades."""
    strips, named = strips_of(record), claim(record["id"]).get("primary")
    best_first = sorted(strips, key=lambda strip: (strip.quantity != named, not strip.zone, not strip.decides))
    return next(iter(best_first), None)


def shown_first(strips: list[Strip]) -> tuple[list[Strip], list[Strip]]:
    """(what a card shows at once, what it shows when opened)"""
    if len(strips) <= FEW or not any(strip.decides for strip in strips):
        return strips, []
    return [strip for strip in strips if strip.decides], [strip for strip in strips if not strip.decides]


def _read_by(entry: Entry) -> set[str]:
    return {name for rule in rule_of(entry).values() for name in rules.names(rule)}


def _zones_of(entry: Entry, record: Record) -> tuple[Zones, Zones]:
    """(where the claim holds, where it holds in part) for each quantity."""
    draws = [{name: _value(stored) for name, stored in state["values"].items()} for state in record["control_states"]]
    every = [{name: _value(stored) for name, stored in record["values"].items()}, *draws]
    fixed = {name: value for name, value in every[0].items() if len(every) > 1 and not isinstance(value, Interval)
             and all(other.get(name) == value for other in every)}
    rule, control = rule_of(entry), pooled(draws)
    of = lambda part: zones(rule[part], fixed, control) if part in rule else {}
    holds = of("holds")
    wider = {name: union(zone, holds.get(name, ())) for name, zone in of("partly").items()}
    return holds, {name: zone for name, zone in wider.items() if zone != holds.get(name)}


def _dots(values: Iterable[Any]) -> Dots:
    return tuple(one for one in map(dot, values) if one is not None)


def _value(stored: Any) -> Any:
    return Interval(**stored) if isinstance(stored, dict) else stored


def dot(stored: Any) -> Interval | None:
    """A number as an interval without width; None for truth values, texts and what was not measured."""
    value = _value(stored)
    if value is None or isinstance(value, bool | str | Interval):
        return value if isinstance(value, Interval) else None
    return Interval(float(value), float(value), float(value))


def _full_size(record: Record, name: str) -> tuple[tuple[str, Interval], ...]:
    """Network, or pair, → its value of a quantity at full size, where results/ has one."""
    found = ((" × ".join(one["networks"]), dot(one["trained"]["values"].get(name)))
             for one in record["full_size"] if one["trained"])
    return tuple((networks, value) for networks, value in found if value is not None)
