"""Scores of curves whose answer is known."""

from __future__ import annotations

import numpy as np

from helpers.claims import scores


def test_halves_and_steps_of_curves():
    assert scores.halves(np.array([3.0, 3, 1, 1])) == 2
    depths = np.array([0.25, 0.5, 0.75, 1])
    assert scores.largest_step(np.array([1.0, 1, 4, 5]), depths) == (0.75, 0.625)
    assert scores.largest_step(np.array([1.0, 4, 0, 1]), depths) == (0.75, 0.375)  # a step down is no growth
    assert scores.largest_step(np.array([1.0, 1, 4, 5]), np.array([0.1, 0.2, 0.9, 1])) == (0.75, 0.55)
    assert np.isnan(scores.largest_step(np.ones(4), depths)).all()
