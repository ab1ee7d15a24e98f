"""Wrong answers to the exercises of chapter 16 get the hint that helps."""

import numpy as np
import pytest
from slips import refused

from helpers.claims.entries import load
from helpers.exercises import check


@pytest.mark.parametrize("wrong,hint", [
    (lambda a, b: np.corrcoef(a.ravel(), b.ravel())[0, 1], "diagonals are still in"),
    (lambda a, b: np.corrcoef((a - np.eye(7)).ravel(), (b - np.eye(7)).ravel())[0, 1], "set to zero"),
    (lambda a, b: np.corrcoef(a[~np.eye(7, dtype=bool)], b[~np.eye(7, dtype=bool)])[0, 1] ** 2, "square"),
    (lambda a, b: np.corrcoef(a, b), "a number was expected"),
    (lambda a, b: 0.1, "two test maps"),
])  # fmt: skip
def test_agreement(wrong, hint):
    assert refused("16.agreement", wrong, hint)


def test_the_upper_triangle_is_as_good_as_both():
    assert check("16.agreement", lambda a, b: np.corrcoef(a[np.triu_indices(7, 1)], b[np.triu_indices(7, 1)])[0, 1]).ok


def test_by_training():
    kinds = [entry["evidence"] for entry in load().values() if entry["paper"] == "raghu"]
    assert "E/T" in check("16.by_training", kinds.count("T")).en
    assert "all claims of the book" in check("16.by_training", sum("T" in e["evidence"] for e in load().values())).en
    assert not check("16.by_training", 48).ok
