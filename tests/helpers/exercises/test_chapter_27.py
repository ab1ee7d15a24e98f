"""The checks of chapter 27 recognise the usual slips."""

import numpy as np
import pytest
from slips import refused

from helpers.exercises import check


def ends(curve):
    return np.arange(1, len(curve) + 1) / len(curve)


def along_the_slope(curve, depth):
    if depth >= 1 / len(curve):
        return np.interp(depth, ends(curve), curve)
    return curve[0] + (depth * len(curve) - 1) * (curve[1] - curve[0])


@pytest.mark.parametrize(("wrong", "hint"), [
    (lambda c, d: np.interp(d, np.linspace(0, 1, len(c)), c), "first block at depth 0"),
    (lambda c, d: np.interp(d, ends(c) - 0.5 / len(c), c), "middles of the blocks"),
    (lambda c, d: np.interp(d, ends(c) - 1 / len(c), c), "one block too early"),
    (lambda c, d: c[round(d * len(c)) - 1], "interpolate between the two"),
    (lambda c, d: c[int(d * len(c))], "interpolate between the two"),
    (along_the_slope, "keep its value"),
    (lambda c, d: np.interp(d, [0, *ends(c)], [0, *c]), "start from 0"),
    (lambda c, d: None, "returns nothing"),
    (lambda c, d: c / 0, "a number was expected"),
])
def test_depth(wrong, hint):
    with np.errstate(divide="ignore"):
        assert refused("27.depth", wrong, hint)


def test_depth_right():
    assert check("27.depth", lambda c, d: np.interp(d, ends(c), c)).ok


@pytest.mark.parametrize(("wrong", "hint"), [
    (lambda a, b: ((a.var(ddof=1) + b.var(ddof=1)) / len(a)) ** 0.5, "two separate samples"),
    (lambda a, b: (a - b).std() / len(a) ** 0.5, "ddof=1"),
    (lambda a, b: (a - b).std(ddof=1), "divide by √n"),
    (lambda a, b: (a - b).std(ddof=1) / len(a), "not by n"),
    (lambda a, b: 1.96 * (a - b).std(ddof=1) / len(a) ** 0.5, "half of the 95 % interval"),
    (lambda a, b: (a - b).mean(), "the difference itself"),
    (lambda a, b: 0.3, "for made results"),
])
def test_paired(wrong, hint):
    assert refused("27.paired", wrong, hint)


def test_paired_right():
    assert check("27.paired", lambda a, b: (a - b).std(ddof=1) / len(a) ** 0.5).ok
