"""The checks of chapter 26 recognise the usual slips."""

import numpy as np
import pytest
from slips import refused

from helpers.exercises import check


def share(curve, floor, ceiling, first, last):
    curve, floor, ceiling = (np.mean(values[first : last + 1]) for values in (curve, floor, ceiling))
    return (curve - floor) / (ceiling - floor)


@pytest.mark.parametrize(("wrong", "hint"), [
    (lambda c, f, t, i, j: share(c, f, t, i, j - 1), "`last` belongs to the range"),
    (lambda c, f, t, i, j: ((c - f) / (t - f))[i : j + 1].mean(), "average the three curves first"),
    (lambda c, f, t, i, j: share(c, f, t, 0, len(c)), "all blocks"),
    (lambda c, f, t, i, j: c[i : j + 1].mean() / t[i : j + 1].mean(), "the floor is missing"),
    (lambda c, f, t, i, j: (c - f)[i : j + 1].mean() / t[i : j + 1].mean(), "below as well"),
    (lambda c, f, t, i, j: (c - f)[i : j + 1].mean(), "the whole way"),
    (lambda c, f, t, i, j: 1 - share(c, f, t, i, j), "still missing"),
    (lambda c, f, t, i, j: 1 / share(c, f, t, i, j), "upside down"),
    (lambda c, f, t, i, j: 0.5, "made curves"),
    (lambda c, f, t, i, j: c.missing, "AttributeError"),
    (lambda c, f, t, i, j: None, "returns nothing"),
    (lambda c, f, t, i, j: "much", "a number was expected"),
])  # fmt: skip
def test_share_names_the_slip(wrong, hint):
    assert refused("26.share", wrong, hint)


def test_share_accepts_the_definition():
    assert check("26.share", share).ok


@pytest.mark.parametrize(("wrong", "hint"), [
    (200, "divide by how often"),
    (20, "by how many times"),
    (180, "give the ratio"),
    (0.1, "fewer images"),
    (1, "300,000 images in all"),
    (100 / 3, "compare it with 30 %"),
    (6, "1,500 images"),
    ([10, 1], "a number was expected"),
])  # fmt: skip
def test_repeats_names_the_slip(wrong, hint):
    assert refused("26.repeats", wrong, hint)


@pytest.mark.parametrize("right", [10, 10.0, (300_000 / 1500) / (300_000 / 15_000)])
def test_repeats_accepts_the_answer(right):
    assert check("26.repeats", right).ok
