"""The checks of chapter 22 recognise the usual slips."""

import math

import pytest
import torch
from slips import refused

from helpers.exercises import check


@pytest.mark.parametrize(("wrong", "hint"), [
    (lambda z, f: (z.norm(dim=-1) / (z + f).norm(dim=-1)).mean(0), "f(z) alone below"),
    (lambda z, f: ((z + f).norm(dim=-1) / f.norm(dim=-1)).mean(0), "before the sum"),
    (lambda z, f: (f.norm(dim=-1) / z.norm(dim=-1)).mean(0), "upside down"),
    (lambda z, f: z.norm(dim=-1).mean(0) / f.norm(dim=-1).mean(0), "then average"),
    (lambda z, f: (z.square().sum(-1) / f.square().sum(-1)).mean(0), "square roots"),
    (lambda z, f: z.norm(dim=-1) / f.norm(dim=-1), "shape [5], not [6, 5]"),
    (lambda z, f: z.norm() / f.norm(), "shape [5], not []"),
    (lambda z, f: torch.ones(5), "numbers differ"),
    (lambda z, f: z.missing, "AttributeError"),
    (lambda z, f: "3", "Your function raised"),
    (lambda z, f: None, "returns nothing"),
])  # fmt: skip
def test_norm_ratio_names_the_slip(wrong, hint):
    assert refused("22.norm_ratio", wrong, hint)


def test_numpy_and_lists_are_answers_too():
    right = lambda z, f: (z.norm(dim=-1) / f.norm(dim=-1)).mean(0)
    assert check("22.norm_ratio", lambda z, f: right(z, f).numpy()).ok
    assert check("22.norm_ratio", lambda z, f: right(z, f).tolist()).ok


@pytest.mark.parametrize(("wrong", "hint"), [
    (4, "after the twelfth sum"),
    (13, "their squares do"),
    (15, "take the square root"),
    (math.sqrt(11), "starts with length 2"),
    (1 / math.sqrt(15), "upside down"),
    (7, "before the twelfth sum"),
    ("3", "before the twelfth sum"),
    ([1, 2], "a number was expected"),
])  # fmt: skip
def test_free_growth_names_the_slip(wrong, hint):
    assert refused("22.free_growth", wrong, hint)


def test_free_growth_accepts_a_rounded_number():
    assert check("22.free_growth", 3.873).ok
