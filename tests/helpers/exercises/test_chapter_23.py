"""The checks of chapter 23 recognise the usual slips."""

import numpy as np
import pytest
from slips import refused

from helpers.exercises import check


def side(values):
    return values[~np.eye(len(values), dtype=bool)].mean()


def split(s, k, *, within=side, best=min):
    return s[:k, k:].mean() / best(within(s[:k, :k]), within(s[k:, k:]))


@pytest.mark.parametrize(("wrong", "hint"), [
    (lambda s, k: split(s, k, within=np.mean), "leave the diagonal out"),
    (lambda s, k: split(s, k, best=max), "the smaller of the two sides"),
    (lambda s, k: split(s, k, best=lambda a, b: (a + b) / 2), "averaged the two sides"),
    (lambda s, k: s[:k, k:].mean() / np.average([side(s[:k, :k]), side(s[k:, k:])],
                                                weights=[k * (k - 1), (len(s) - k) * (len(s) - k - 1)]), "pooled"),
    (lambda s, k: 1 / split(s, k), "upside down"),
    (lambda s, k: split(s, k + 1), "0 to k − 1"),
    (lambda s, k: 0.5, "a test map"),
    (lambda s, k: s.missing, "AttributeError"),
    (lambda s, k: None, "returns nothing"),
    (lambda s, k: s, "a number was expected"),
])  # fmt: skip
def test_split_names_the_slip(wrong, hint):
    assert refused("23.split", wrong, hint)


def test_split_accepts_the_definition():
    assert check("23.split", split).ok


@pytest.mark.parametrize(("wrong", "hint"), [
    (0.00904, "100 times"),
    (1.2175, "image by image"),
    (0.33715, "−1 for 9 %"),
    (45.727, "square root of their number"),
    (0.8168, "take the square root"),
    (2, "standard deviation"),
    ([1, 2], "a number was expected"),
])  # fmt: skip
def test_paired_error_names_the_slip(wrong, hint):
    assert refused("23.paired_error", wrong, hint)


@pytest.mark.parametrize("right", [0.904, 100 * (0.2091 / 2560) ** 0.5, 100 * (0.2091 / 2559) ** 0.5])
def test_paired_error_accepts_rounding(right):
    assert check("23.paired_error", right).ok
