"""The checks of chapter 10 recognise the usual slips."""

import numpy as np
import pytest
from scipy.stats import linregress, ttest_rel
from slips import refused

from helpers.exercises import check

LINE = lambda x, y: linregress(x, y).slope
STUDENT = lambda v, r: ttest_rel(100 * v, 100 * r)
SCATTER = lambda x: np.std(100 * x, ddof=1)


@pytest.mark.parametrize(("wrong", "hint"), [
    (lambda f, v, r: LINE(np.log10(f), r - v), "ViT minus ResNet"),
    (lambda f, v, r: LINE(np.log(f), v - r), "e times the data"),
    (lambda f, v, r: LINE(np.log2(f), v - r), "a doubling"),
    (lambda f, v, r: LINE(f, v - r), "logarithm of the shares is missing"),
    (lambda f, v, r: LINE(np.log10(f), v), "ViT alone"),
    (lambda f, v, r: np.ptp(v - r) / np.ptp(np.log10(f)), "first and the last share"),
    (lambda f, v, r: LINE(v - r, np.log10(f)), "roles are swapped"),
    (lambda f, v, r: ((np.log10(f) - np.log10(f).mean()) * (v - r)).sum(), "squared deviations"),
    (lambda f, v, r: np.linalg.lstsq(np.log10(f)[:, None], v - r)[0].item(), "through the origin"),
    (lambda f, v, r: 0, "it must be"),
    (lambda f, v, r: f.missing, "AttributeError"),
    (lambda f, v, r: None, "returns nothing"),
])  # fmt: skip
def test_slope_names_the_slip(wrong, hint):
    assert refused("10.slope", wrong, hint)


def test_slope_is_least_squares_and_a_share_may_be_a_fraction():
    assert check("10.slope", lambda f, v, r: LINE(np.log10(f / 100), v - r)).ok


@pytest.mark.parametrize(("wrong", "hint"), [
    (lambda v, r: np.hypot(SCATTER(v), SCATTER(r)) / np.sqrt(len(v)), "difference of every image first"),
    (lambda v, r: SCATTER(v - r) / np.sqrt(len(v)) / 100, "multiply by 100"),
    (lambda v, r: SCATTER(v - r), "single images scatter"),
    (lambda v, r: SCATTER(v - r) / len(v), "not by n"),
    (lambda v, r: SCATTER(v - r) ** 2 / len(v), "the variance"),
    (lambda v, r: 1.96 * SCATTER(v - r) / np.sqrt(len(v)), "half of a 95 % interval"),
    (lambda v, r: 100 * (v.mean() - r.mean()), "the gap itself"),
    (lambda v, r: 100 * np.std(v - r) / np.sqrt(len(v)), "ddof=1"),
    (lambda v, r: 1.0, "it must be"),
    (lambda v, r: None, "returns nothing"),
])  # fmt: skip
def test_error_names_the_slip(wrong, hint):
    assert refused("10.error", wrong, hint)


def test_error_is_the_one_of_the_paired_t_test():
    assert check("10.error", lambda v, r: 100 * (v - r).mean() / STUDENT(v, r).statistic).ok
