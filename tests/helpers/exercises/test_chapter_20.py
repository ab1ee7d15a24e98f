"""The checks of chapter 20 name the likely slip."""

from itertools import pairwise, permutations

import numpy as np
import pytest
import torch
from slips import refused

from helpers.exercises import check
from helpers.metrics.similarity import gram, hsic1, linear_cka


def subset(hsic, heads, unit, *, pairs=True, root=True, unit_itself=True):
    """The formula, with the parts that can go wrong left open."""
    own = hsic[np.ix_(heads, heads)].sum() if pairs else hsic[heads, heads].sum()
    below = own * (hsic[unit, unit] if unit_itself else 1)
    return hsic[heads, unit].sum() / (below**0.5 if root else below)


def single(hsic, heads, unit):
    """CKA of each head alone."""
    return np.array([subset(hsic, [head], unit) for head in heads])


def test_the_formula_is_cka_of_concatenated_heads_and_passes():
    draw = torch.Generator().manual_seed(0)
    *heads, unit = (torch.randn(12, width, generator=draw, dtype=torch.float64) for width in (3, 4, 5, 6))
    grams = [gram(table) for table in (*heads, unit)]
    hsic = np.array([[float(hsic1(k, l)) for k in grams] for l in grams])
    assert subset(hsic, [0, 2], 3) == pytest.approx(linear_cka(torch.cat([heads[0], heads[2]], 1), unit))
    assert check("20.subset_cka", subset).ok


@pytest.mark.parametrize(("wrong", "hint"), [
    (lambda t, h, u: single(t, h, u).mean(), "mean of the single heads"),
    (lambda t, h, u: single(t, h, u).sum(), "CKA added up"),
    (lambda t, h, u: subset(t, h, u, pairs=False), "pairs of different heads"),
    (lambda t, h, u: subset(t, h, u, root=False), "square root"),
    (lambda t, h, u: subset(t, h, u, unit_itself=False), "unit with itself"),
    (lambda t, h, u: subset(t, h, u) / len(h), "sums in both places"),
    (lambda t, h, u: t[h, u], "a number was expected"),
    (lambda t, h, u: 0.1, "sum under the root"),
    (lambda t, h, u: t.missing, "AttributeError"),
    (lambda t, h, u: None, "returns nothing"),
])  # fmt: skip
def test_the_subset_names_the_slip(wrong, hint):
    assert refused("20.subset_cka", wrong, hint)


def test_counting_orders_passes():
    orders = list(permutations(range(4)))
    falling = [order for order in orders if all(a > b for a, b in pairwise(order))]
    assert check("20.by_chance", len(falling) / len(orders)).ok
    assert check("20.by_chance", 0.0417).ok


@pytest.mark.parametrize(("wrong", "hint"), [
    (2 / 24, "rising as well"),
    (0.5**3, "not independent"),
    (0.5**4, "not coins"),
    (1 / 4, "all four places"),
    (4**-4, "4 · 3 · 2 · 1"),
    (24, "one over it"),
    (0.3, "equally likely"),
    ("many", "a number was expected"),
])  # fmt: skip
def test_by_chance_names_the_slip(wrong, hint):
    assert refused("20.by_chance", wrong, hint)
