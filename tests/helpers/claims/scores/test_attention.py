"""Scores of attention whose answer is known."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from helpers.claims import scores


def test_spearman_by_place():
    falling, rising = np.array([3.0, 2, 1, 0]), np.array([0.0, 1, 2, 3])
    np.testing.assert_allclose(scores.spearman(np.stack([falling, rising, [1, 0, 2, 3]], 1)), [-1, 1, 0.8])


def test_reach_is_the_extremes_of_low_and_high_blocks():
    pixels = np.array([[1.0, 8], [4, 6], [9, 9], [7, 8], [6, 10]])
    distance = SimpleNamespace(pixels=pixels, uniform=10.0)
    assert scores.reach(distance) == {"lowest_nearest": 0.1, "lowest_farthest": 0.8, "highest_nearest": 0.6,
                                      "highest_median": 0.75}
