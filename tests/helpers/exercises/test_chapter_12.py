"""The checks of chapter 12 recognise the usual slips."""

import pytest
import torch
from slips import refused

from helpers.exercises import check


def product(attention, identity=0.5):
    """Rollout [tokens, tokens], heads averaged, later blocks on the left."""
    eye = torch.eye(attention.shape[-1], dtype=attention.dtype)
    whole = eye
    for block in attention:
        whole = ((1 - identity) * block.mean(0) + identity * eye) @ whole
    return whole


def scaled(row):
    return row / row.sum()


@pytest.mark.parametrize("right", [
    lambda a: scaled(product(a)[0, 1:]),
    lambda a: scaled(product(a)[0, 1:]).numpy(),
    lambda a: scaled(product(a)[0, 1:]).float(),
])  # fmt: skip
def test_the_right_answer_passes(right):
    assert check("12.rollout", right).ok


@pytest.mark.parametrize(("wrong", "hint"), [
    (lambda a: scaled(product(a, identity=0)[0, 1:]), "skip connection is missing"),
    (lambda a: scaled(product(a.flip(0))[0, 1:]), "wrong order"),
    (lambda a: product(a)[0, 1:], "no longer sums to 1"),
    (lambda a: product(a)[0], "still has [CLS]"),
    (lambda a: scaled(product(a)[1:, 0]), "that is a column"),
    (lambda a: scaled(product(a)[1:, 1:].mean(0)), "mean over the patches"),
    (lambda a: scaled(product(a)[0, :-1]), "[CLS] is the first"),
    (lambda a: scaled(product(a[:, :1])[0, 1:]), "first head alone"),
    (lambda a: scaled(a[-1].mean(0)[0, 1:]), "last block alone"),
    (lambda a: product(a), "the shape is (10, 10)"),
    (lambda a: torch.ones(9) / 9, "mean over heads"),
    (lambda a: a.missing, "AttributeError"),
    (lambda a: None, "returns nothing"),
])  # fmt: skip
def test_rollout_names_the_slip(wrong, hint):
    assert refused("12.rollout", wrong, hint)


@pytest.mark.parametrize(("wrong", "hint"), [
    (1, "larger right-angled"),
    (2, "one is missing"),
    (4, "farther than a row"),
    (6, "not triangles"),
    (13, "outside rows"),
    (7, "when is that whole"),
    ({5, 10, 13}, "a number was expected"),
])  # fmt: skip
def test_distances_names_the_slip(wrong, hint):
    assert refused("12.distances", wrong, hint)


def test_distances_counts_hypotenuses():
    steps = range(1, 14)
    whole = {c for a in steps for b in steps for c in steps if a * a + b * b == c * c}
    assert check("12.distances", len(whole)).ok
