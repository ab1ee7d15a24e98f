"""The checks of chapter 9 recognise the usual slips."""

import math

import pytest
from slips import refused

from helpers.exercises import check

SPREAD = lambda s, t: s**2 + t**2
FREEDOM = lambda s, t, n: (n - 1) * SPREAD(s, t) ** 2 / (s**4 + t**4)
ERROR = lambda s, t, n: math.sqrt(SPREAD(s, t) / n)


@pytest.mark.parametrize(("wrong", "hint"), [
    (lambda s, t, n: ERROR(s, t, n), "two numbers"),
    (lambda s, t, n: (math.sqrt(SPREAD(s, t)), 1), "does not shrink"),
    (lambda s, t, n: (SPREAD(s, t) / n, 1), "squared error"),
    (lambda s, t, n: ((s + t) / math.sqrt(n), 1), "their squares do"),
    (lambda s, t, n: (math.sqrt(SPREAD(s, t)) / n, 1), "under the root"),
    (lambda s, t, n: (ERROR(s, t, n - 1), 1), "already inside"),
    (lambda s, t, n: (1, 1), "standard error differs"),
    (lambda s, t, n: (ERROR(s, t, n), 2 * (n - 1)), "equal spreads"),
    (lambda s, t, n: (ERROR(s, t, n), n * SPREAD(s, t) ** 2 / (s**4 + t**4)), "n − 1 degrees"),
    (lambda s, t, n: (ERROR(s, t, n), (n - 1) * SPREAD(s, t) / (s**4 + t**4)), "squared once more"),
    (lambda s, t, n: (ERROR(s, t, n), n - 1), "more than s⁴ + t⁴"),
    (lambda s, t, n: (ERROR(s, t, n), 99), "term by term"),
    (lambda s, t, n: s.missing, "AttributeError"),
    (lambda s, t, n: None, "returns nothing"),
])  # fmt: skip
def test_welch_names_the_slip(wrong, hint):
    assert refused("09.welch", wrong, hint)


def test_welch_accepts_a_list():
    assert check("09.welch", lambda s, t, n: [ERROR(s, t, n), FREEDOM(s, t, n)]).ok


@pytest.mark.parametrize(("wrong", "hint"), [
    (9.9 / 2.5, "whole trainings"),
    (1.386, "40 epochs"),
    (0.541, "upside down"),
    (8.486, "do not multiply"),
    (30 / 14, "longer BiT-L trained"),
    (7, "core-days divided by epochs"),
])  # fmt: skip
def test_per_epoch_names_the_slip(wrong, hint):
    assert refused("09.per_epoch", wrong, hint)


def test_per_epoch_accepts_a_rounded_number():
    assert check("09.per_epoch", 1.85).ok
