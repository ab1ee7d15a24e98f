"""The checks of chapter 19 recognise the usual slips."""

import math

import pytest
import torch
from slips import refused

from helpers.exercises import check


def centres(side, patch):
    """Places of the patches [P, 2], row by row."""
    places = [(row * patch, column * patch) for row in range(side) for column in range(side)]
    return torch.tensor(places, dtype=torch.float64)


def distance(weights, side, patch):
    """The right answer, query by query."""
    place, total = centres(side, patch), 0.0
    for i, row in enumerate(weights[1:, 1:]):
        total += sum(w * math.dist(place[i], place[j]) for j, w in enumerate(row)) / row.sum()
    return total / side**2


def raw(weights, side, patch):
    place = centres(side, patch)
    return (weights[1:, 1:] * torch.cdist(place, place)).sum(1)


def test_the_right_answer_passes():
    assert check("19.distance", distance).ok


@pytest.mark.parametrize(("wrong", "hint"), [
    (lambda w, side, patch: raw(w, side, patch).mean(), "no longer sum to 1"),
    (lambda w, side, patch: distance(w, side, 1), "counts patches; multiply"),
    (lambda w, side, patch: raw(w, side, 1).mean(), "not renormalised either"),
    (lambda w, side, patch: raw(w, side, patch).sum() / w[1:, 1:].sum(), "divided once at the end"),
    (lambda w, side, patch: distance(w.T, side, patch), "rows and columns are swapped"),
    (lambda w, side, patch: distance(w.roll((1, 1), (0, 1)), side, patch), "[CLS] is the first"),
    (lambda w, side, patch: side**2 * distance(w, side, patch), "do not add them up"),
    (lambda w, side, patch: 42, "3×3 grid"),
    (lambda w, side, patch: w.missing, "AttributeError"),
    (lambda w, side, patch: None, "returns nothing"),
])  # fmt: skip
def test_distance_names_the_slip(wrong, hint):
    assert refused("19.distance", wrong, hint)


@pytest.mark.parametrize(("wrong", "hint"), [
    (112 * (2 + math.sqrt(2)) / 3, "left out"),
    ((2 + math.sqrt(2)) / 4, "counts patches"),
    (56 * (2 + math.sqrt(2)) / 4, "a whole patch apart"),
    (224 * (2 + math.sqrt(2)) / 4, "only half of it"),
    (112, "no detour"),
    (84, "longer than a side"),
    (112 * (2 + math.sqrt(2)), "take the mean"),
    (116.5, "four distances"),
    ([1, 2], "a number was expected"),
])  # fmt: skip
def test_uniform_names_the_slip(wrong, hint):
    assert refused("19.uniform", wrong, hint)


def test_uniform_accepts_a_rounded_number():
    assert check("19.uniform", 95.6).ok
