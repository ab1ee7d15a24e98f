"""The checks of chapter 25 recognise the usual slips."""

import pytest
import torch
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler
from slips import refused

from helpers.exercises import check


def scores(x, y, test_x, ridge, *, test_mean=None, scaled=True, low=-1.0, correction=0, intercept=True):
    """The right answer, with a switch for each slip."""
    targets = torch.where(torch.nn.functional.one_hot(y) > 0, 1.0, low)
    mean, std = x.mean(0), x.std(0, correction=correction) if scaled else 1.0
    train = (x - mean) / std
    if test_mean:
        mean, std = test_x.mean(0), test_x.std(0, correction=correction)
    W = torch.linalg.solve(train.T @ train + ridge * torch.eye(x.shape[1]), train.T @ targets)
    return (test_x - mean) / std @ W + (targets.mean(0) if intercept else 0)


def by_scikit_learn(x, y, test_x, ridge):
    scaler = StandardScaler().fit(x)
    targets = 2.0 * torch.nn.functional.one_hot(y) - 1
    return Ridge(alpha=ridge).fit(scaler.transform(x), targets).predict(scaler.transform(test_x))


@pytest.mark.parametrize("right", [
    scores,
    by_scikit_learn,
    lambda *given: scores(*given, correction=1),
    lambda *given: scores(*given).tolist(),
])  # fmt: skip
def test_right_scores_by_any_road(right):
    assert check("25.scores", right).ok


@pytest.mark.parametrize(("wrong", "hint"), [
    (lambda *given: scores(*given, low=0.0), "−1 and +1"),
    (lambda *given: scores(*given, intercept=False), "intercept is missing"),
    (lambda x, y, test_x, ridge: scores(x, y, test_x, 0), "λ is missing"),
    (lambda x, y, test_x, ridge: scores(x, y, test_x, len(x) * ridge), "adds λ alone"),
    (lambda *given: scores(*given, test_mean=True), "those of the training images"),
    (lambda *given: scores(*given, scaled=False), "not divided"),
    (lambda *given: scores(*given).argmax(1), "shape [12, 3], not [12]"),
    (lambda *given: torch.ones(12, 3), "scores differ"),
    (lambda *given: given[0].missing, "AttributeError"),
    (lambda *given: None, "returns nothing"),
])  # fmt: skip
def test_scores_names_the_slip(wrong, hint):
    assert refused("25.scores", wrong, hint)


@pytest.mark.parametrize("right", [2.975, 3.0, 3.036])
def test_half_width_accepts_rounding_and_two_errors(right):
    assert check("25.half_width", right).ok


@pytest.mark.parametrize(("wrong", "hint"), [
    (1.518, "one standard error"),
    (5.95, "whole width"),
    (94.08, "divide by √n"),
    (0.0941, "it is √n"),
    (0.02975, "right as a share"),
    (12, "the standard error is"),
    ("a", "a number was expected"),
])  # fmt: skip
def test_half_width_names_the_slip(wrong, hint):
    assert refused("25.half_width", wrong, hint)
