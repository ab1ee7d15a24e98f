"""No rule changes without a dated amendment that says why."""

import datetime

import pytest

from helpers.claims import amendments, entries
from helpers.claims.amendments import fingerprint, problems, unamended


def test_every_rule_stands_as_it_was_fixed_or_amended():
    assert unamended() == []


@pytest.mark.parametrize(("number", "amendment"), list(enumerate(amendments.amendments())))
def test_an_amendment_is_complete(number, amendment):
    assert problems(amendment) == [], f"amendment {number + 1}, {amendment.get('id')}"


def test_amendments_stand_in_the_order_of_their_dates():
    dates = [amendment["date"] for amendment in amendments.amendments()]
    assert dates == sorted(dates)


@pytest.mark.parametrize(("change", "what"), [
    ({"holds": "lowest_nearest < 0.9"}, "R10: its rule is now"),
    ({"partly": None}, "R10: its rule is now"),
    ({"no_control": {"en": "not asked", "ko": "묻지 않음"}}, "R10: its rule is now"),
    ({"kind": "arithmetic"}, "R10: its kind is now 'arithmetic' but was fixed as 'learned'"),
    ({"primary": "lowest_farthest"}, "R10: its primary is now 'lowest_farthest'"),
])
def test_a_doctored_claim_is_named(monkeypatch, change, what):
    doctored = entries.load() | {"R10": entries.load()["R10"] | change}
    monkeypatch.setattr(amendments, "load", lambda: doctored)
    found = unamended()
    assert found and all(line.startswith("R10: ") for line in found)
    assert any(what in line and "to amendments.yml" in line for line in found)


def test_an_amendment_makes_a_change_good(monkeypatch):
    changed = entries.load()["R10"] | {"holds": "lowest_nearest < 0.9"}
    monkeypatch.setattr(amendments, "load", lambda: entries.load() | {"R10": changed})
    entry = {"id": "R10", "date": datetime.date(2099, 1, 1), "rule": fingerprint(changed)}
    before = amendments.amendments()
    monkeypatch.setattr(amendments, "amendments", lambda: (*before, entry))
    assert unamended() == []


def test_a_rule_may_be_written_in_other_lines_but_not_with_another_margin():
    entry = {"kind": "learned", "holds": "a < 1 and\n   b.high < margin", "margin": 2}
    assert fingerprint(entry) == fingerprint(entry | {"holds": "a < 1 and b.high < margin"})
    assert fingerprint(entry) != fingerprint(entry | {"margin": 3})


def test_what_an_amendment_lacks_is_said():
    found = problems({"id": "R99", "old": "good", "date": "today", "sign": 1})
    assert {"no new", "no what", "no why", "unknown field 'sign'", "old is 'good', no verdict", "'R99' is no claim",
            "its date must read YYYY-MM-DD", "why must be written in both languages"} <= set(found)
