"""The checks of chapter 15 recognise the usual slips."""

import math

import pytest
from slips import refused

from helpers.exercises import check

POINTS, TIMES = 88.08 - 87.12, 4262 / 1567  # Table 6: ViT-L/16 and ViT-H/14, 14 epochs each


@pytest.mark.parametrize(("wrong", "hint"), [
    (POINTS / math.log(TIMES), "per factor e"),
    (POINTS / math.log10(TIMES), "factor 10"),
    (POINTS / TIMES, "by a logarithm"),
    (POINTS, "the whole gain"),
    ((88.08 - 86.30) / math.log2(4262 / 783), "7 epochs"),
    (math.log2(TIMES) / POINTS, "upside down"),
    (12, "divided by log2"),
    ("a lot", "a number was expected"),
])  # fmt: skip
def test_doubling_names_the_slip(wrong, hint):
    assert refused("15.doubling", wrong, hint)


def test_doubling_accepts_two_digits():
    assert check("15.doubling", round(POINTS / math.log2(TIMES), 3)).ok


def spread(weight):
    return weight.sum() ** 2 / (weight**2).sum()


@pytest.mark.parametrize(("wrong", "hint"), [
    (lambda g: spread(g.norm(dim=-1)), "squared lengths"),
    (lambda g: 1 / spread((g**2).sum(-1)), "take its inverse"),
    (lambda g: 1 / ((g**2).sum(-1) ** 2).sum(), "divide by the sum"),
    (lambda g: spread((g**2).flatten()), "single components"),
    (lambda g: spread((g**2).sum(0)), "is spread over"),
    (lambda g: None, "returns nothing"),
])  # fmt: skip
def test_tokens_reached_names_the_slip(wrong, hint):
    assert refused("15.tokens_reached", wrong, hint)
