"""Strips: the numbers of a record, ready to be drawn."""

import math

import pytest
from claim_samples import reported

from helpers.claims.intervals import Interval
from helpers.claims.reports import completed
from helpers.claims.strips import dot, primary, shown_first, strips_of


def strips(**changes):
    """Quantity → its strip, of the sample's record."""
    return {strip.quantity: strip for strip in strips_of(completed(reported(**changes).record))}


def test_a_strip_has_trained_and_untrained_values_and_the_zone_of_the_rule(invented):
    found = strips()
    assert list(found) == ["near", "gap"]
    near, gap = found.values()
    assert (near.trained, near.untrained) == (dot(0.2), (dot(0.9),))
    assert near.zone == ((-math.inf, 0.3),) and near.nearly == ((-math.inf, 0.6),) and near.bounds == (0, 2)
    assert gap.trained == Interval(0.5, 0.1, 0.9) and gap.zone == ((0, math.inf),) and gap.nearly == ()
    assert near.label == {"en": "nearest head", "ko": "최소"} and gap.label["ko"] == "4픽셀의 차이"


def test_a_value_that_is_no_number_is_not_drawn(invented):
    assert dot(True) is dot("text") is dot(None) is None
    assert list(strips(trained={"gap": None}, untrained={"gap": None})) == ["near"]


def test_the_primary_number_is_the_one_the_entry_names(invented):
    record = completed(reported().record)
    assert primary(record).quantity == "near"
    invented["X01"]["primary"] = "gap"
    assert primary(record).quantity == "gap"
    del invented["X01"]["primary"]
    assert primary(record).quantity == "near"  # the first that is shaded


def test_full_size_stands_beside_the_lab(invented):
    trained = {"values": {"near": Interval(0.1, 0.05, 0.15)}, "verdict": "holds"}
    one = {"run": "r", "networks": ["big"], "trained": trained, "untrained": [{"values": {"near": 1.0}, "verdict": "fails"}]}
    (near, gap) = strips_of(completed(reported().record) | {"full_size": [one]})
    assert near.full == (("big", Interval(0.1, 0.05, 0.15)),) and near.twins == (dot(1.0),)
    assert gap.full == gap.twins == ()


def test_what_the_paper_gives_is_marked(invented):
    invented["X01"]["quantities"]["near"]["paper"] = 0.25
    assert strips()["near"].paper == 0.25


@pytest.mark.parametrize(("further", "shown", "more"), [(2, 4, 0), (3, 2, 3)])
def test_a_card_of_many_numbers_shows_those_that_decide(invented, further, shown, more):
    names = {f"other_{i}": {"en": f"other {i}", "ko": f"다른 {i}"} for i in range(further)}
    invented["X01"]["quantities"] |= names
    values = dict.fromkeys(names, 1.0)
    first, rest = shown_first(list(strips(trained=values, untrained=values).values()))
    assert (len(first), len(rest)) == (shown, more)
