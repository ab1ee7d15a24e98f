"""The checks of chapter 18 name the likely slip."""

import numpy as np
import pytest
from slips import refused

from helpers.exercises import check


def cut(similarity, *, off_diagonal=True, choose=np.argmax, shift=1):
    """The best cut of a map, with the parts that can go wrong left open."""
    n = len(similarity)
    differences = []
    for k in range(1, n):
        pairs = [(i, j) for i in range(n) for j in range(n) if i != j or not off_diagonal]
        same = [similarity[i, j] for i, j in pairs if (i < k) == (j < k)]
        across = [similarity[i, j] for i, j in pairs if (i < k) != (j < k)]
        differences.append(np.mean(same) - np.mean(across))
    return choose(differences) + shift


def test_the_right_cut_passes():
    assert check("18.cut", cut).ok


@pytest.mark.parametrize("wrong,hint", [
    (lambda s: cut(s, shift=0), "one too small"),
    (lambda s: cut(s, shift=2), "one too large"),
    (lambda s: cut(s, off_diagonal=False), "diagonal"),
    (lambda s: cut(s, choose=np.argmin), "smallest"),
    (lambda s: 8, "at every k"),
    (lambda s: s.nonexistent, "AttributeError"),
    (lambda s: None, "returns nothing"),
])  # fmt: skip
def test_the_check_of_the_cut_says_what_is_probably_wrong(wrong, hint):
    assert refused("18.cut", wrong, hint)


@pytest.mark.parametrize("wrong,hint", [
    (1 / (1 + 2**2), "not 2"),
    (1 / (1 + 1 / 2), "squared"),
    (1 / np.sqrt(1 + 1 / 4), "cosine"),
    (1 / (1 + 1 / 4) ** 2, "once"),
    (1 / np.sqrt(1 + 1 / 16), "Gram"),
    (0.5, "multiples of I"),
])  # fmt: skip
def test_the_check_of_one_branch_says_what_is_probably_wrong(wrong, hint):
    assert refused("18.one_branch", wrong, hint)


def test_a_simulation_of_one_branch_passes_its_check():
    z, f = np.random.default_rng(0).normal(size=(2, 200_000, 16))
    x, y = z - z.mean(0), (z + f / 2) - (z + f / 2).mean(0)
    simulated = np.sum((x.T @ y) ** 2) / (np.linalg.norm(x.T @ x) * np.linalg.norm(y.T @ y))
    assert check("18.one_branch", simulated).ok
