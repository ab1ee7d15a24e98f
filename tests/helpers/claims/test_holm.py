"""A chapter's claims together: Holm's correction."""

import copy

import pytest
from claim_samples import GOOD

from helpers.claims import Interval, report
from helpers.claims.holm import holm, survives
from helpers.claims.reports import completed


def done(id, gap):
    table = GOOD | {"trained": {"near": 0.2, "gap": gap}}
    return completed(report(id, table.__getitem__, side=4, off=0).record)


@pytest.fixture
def three(invented):
    """Three claims of one chapter about one number."""
    entry = {**invented["X01"], "holds": "gap.low > 0", "partly": None, "primary": "gap"}
    for id in ("X01", "X03", "X04"):
        invented[id] = copy.deepcopy(entry) | {"id": id}
    return invented


def test_strong_effects_survive_and_a_narrow_one_does_not(three):
    strong, strong_too, narrow = Interval(10, 9, 11), Interval(8, 7, 9), Interval(1, 0.01, 1.99)
    records = [done(id, gap) for id, gap in zip(("X01", "X03", "X04"), (strong, strong_too, narrow), strict=True)]
    assert holm(records) == {"X01": True, "X03": True, "X04": True}  # the last of all is asked for 95 %, as before
    records = [done(id, gap) for id, gap in zip(("X01", "X03", "X04"), (strong, narrow, narrow), strict=True)]
    assert holm(records) == {"X01": True, "X03": False, "X04": False}  # of two such, one may be luck


def test_an_interval_is_widened_by_the_number_of_claims(three):
    record = done("X01", Interval(1, 0.1, 1.9))
    assert [survives(record, number) for number in (1, 2, 3)] == [True, False, False]  # factors 1, 1.14, 1.22


def test_what_does_not_rest_on_an_interval_is_not_asked(three):
    three["X01"]["kind"] = "architecture"
    assert holm([done("X01", Interval(1, 0.5, 1.5)), done("X03", Interval(1, -1, 3)), done("X04", 1.0)]) == {}
