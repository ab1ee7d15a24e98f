"""The checks of chapter 29 recognise the usual slips."""

import math

import pytest
import torch
from slips import refused

from helpers.exercises import check

READ = lambda x, weight: x @ torch.linalg.pinv(weight) @ weight


@pytest.mark.parametrize(("wrong", "hint"), [
    (READ, "the part the head reads"),
    (lambda x, weight: x - x @ weight.T @ weight, "only if the rows of W are orthonormal"),
    (lambda x, weight: x - x @ (u := weight / weight.norm(dim=1, keepdim=True)).T @ u, "not orthogonal to one another"),
    (lambda x, weight: x, "nothing was taken away"),
    (lambda x, weight: x @ torch.linalg.svd(weight).Vh[3:].T, "[5, 7] here, not [5, 4]"),
    (lambda x, weight: 0 * x, "too much"),
    (lambda x, weight: x @ weight, "Your function raised RuntimeError"),
    (lambda x, weight: "x", "Your function raised"),
    (lambda x, weight: None, "returns nothing"),
])  # fmt: skip
def test_unread_names_the_slip(wrong, hint):
    assert refused("29.unread", wrong, hint)


def test_other_ways_to_project_are_right_too():
    def by_basis(x, weight):
        hidden = torch.linalg.svd(weight).Vh[len(weight):]
        return x @ hidden.T @ hidden

    def by_qr(x, weight):
        rows = torch.linalg.qr(weight.T).Q
        return (x - x @ rows @ rows.T).numpy()

    assert check("29.unread", by_basis).ok
    assert check("29.unread", by_qr).ok


@pytest.mark.parametrize(("wrong", "hint"), [
    (2.5 / math.sqrt(7), "its weight is s², not s"),
    (4.5 / math.sqrt(17), "cross term 2 s² HSIC(K, L) is missing"),
    (4.5 / math.sqrt(19), "enters twice"),
    (4.5**2 / 21, "this is the square"),
    (4.5 / 21, "square root in the denominator is missing"),
    (1, "K is still there"),
    (0.5, "expand both HSIC terms"),
    ("0.98", "expand both"),
    ([1], "a number was expected"),
])  # fmt: skip
def test_dial_names_the_slip(wrong, hint):
    assert refused("29.dial", wrong, hint)


def test_dial_accepts_a_rounded_number():
    assert check("29.dial", 0.982).ok
