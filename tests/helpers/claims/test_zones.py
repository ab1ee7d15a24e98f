"""Where a rule shades the number line."""

import math

import pytest

from helpers.claims.entries import load, rule_of
from helpers.claims.intervals import Interval
from helpers.claims.rules import is_met, names
from helpers.claims.zones import overlap, union, zones

INF = math.inf
UNTRAINED = {"gap": Interval(0.4, 0.3, 0.5)}


@pytest.mark.parametrize(("rule", "found"), [
    ("near < 0.3 and far > 0.85", {"near": ((-INF, 0.3),), "far": ((0.85, INF),)}),
    ("gap.low > 0", {"gap": ((0, INF),)}),
    ("0.25 <= near <= 0.6", {"near": ((0.25, 0.6),)}),
    ("near > 0 and near > untrained.gap", {"near": ((0.4, INF),)}),
    ("near.low > max(0.1, untrained.gap.high)", {"near": ((0.5, INF),)}),
    ("near - untrained.gap > 0.1", {"near": ((0.5, INF),)}),
    ("abs(far - 1) <= 0.25", {"far": ((0.75, 1.25),)}),
    ("abs(near) > 2", {"near": ((-INF, -2), (2, INF))}),
    ("min(near, far) >= 0.5", {"near": ((0.5, INF),), "far": ((0.5, INF),)}),
    ("max(near, far) < 0.5", {"near": ((-INF, 0.5),), "far": ((-INF, 0.5),)}),
    ("round(near, 1) == 14.5", {"near": ((14.45, 14.55),)}),
    ("-near < 2 and 2 * far >= 1 and near / 4 < 1", {"near": ((-2, 4),), "far": ((0.5, INF),)}),
    ("near == 3", {"near": ((3, 3),)}),
    ("near < 1 or near > 3", {"near": ((-INF, 1), (3, INF))}),
    ("near >= 5 * chance", {"near": ((0.5, INF),)}),  # the same for every network
    ("chance < 0.2", {"chance": ((-INF, 0.2),)}),  # the constant itself is asked about
    ("near > far", {}),  # two quantities: nothing can be shaded
    ("near - far >= 10", {}),
    ("near < 1 or far < 1", {}),
    ("max(near, far) > 0.5", {}),  # either may do
    ("not near < 1", {}),
    ("near != 1", {}),
    ("leads", {}),
])
def test_a_zone_is_what_the_rule_asks_of_one_quantity(rule, found):
    known = zones(rule, {"chance": 0.1}, UNTRAINED)
    assert known.keys() == found.keys()
    for name, zone in found.items():
        assert [edge for part in known[name] for edge in part] == pytest.approx([edge for part in zone for edge in part])


@pytest.mark.parametrize("claim", load())
def test_no_claim_is_shaded_where_its_rule_is_not_met(claim):
    """A value of one quantity outside of its zone fails the rule, whatever the others are."""
    rule = rule_of(load()[claim]).get("holds")
    if rule is None or any(word in rule for word in ("untrained", "==", "h14_is_best")):
        return
    for name, zone in zones(rule).items():
        outside = [edge + step for part in zone for edge, step in zip(part, (-1e-3, 1e-3), strict=True)
                   if math.isfinite(edge)]
        for value in outside:
            for other in (-1e6, 0, 1e6):
                assert not is_met(rule, {one: other for one in names(rule)} | {name: value}), f"{name} = {value}"


def test_zones_meet_and_join():
    assert overlap(((0, 2), (4, 6)), ((1, 5),)) == ((1, 2), (4, 5))
    assert union(((0, 2),), ((1, 5), (7, 8))) == ((0, 5), (7, 8))
