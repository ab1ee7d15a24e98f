"""Scores of localization whose answer is known."""

from __future__ import annotations

import numpy as np

from helpers.claims import scores
from helpers.metrics.localize import Localization


def maps(own: float) -> Localization:
    """4×4 tokens, each `own` like its own patch and 0.1 like every other."""
    values = np.full((16, 16), 0.1)
    np.fill_diagonal(values, own)
    return Localization(values.reshape(16, 4, 4), "blocks.0", 10)


def test_places_compare_a_vit_with_two_units_of_a_resnet():
    found = scores.places(maps(0.9), maps(0.5), maps(0.05))
    assert found["R28 hit_rate"] == 1 and found["R30 hit_rate"] == -1  # 0.05 is less than every other patch has
    assert np.isclose(found["R30 contrast"], -0.85) and np.isclose(found["R30 inner_contrast"], -0.85)
    assert np.isclose(found["R31 unit_1_minus_last"], 0.45) and np.isclose(found["R31 vit_minus_unit_1"], 0.4)
    assert np.isclose(found["R29 edge"], 0) and np.isclose(found["R29 minus_inner"], 0)


def test_numbers_are_picked_by_claim():
    assert scores.of_claim({"R28 hit_rate": 1, "R2 hit_rate": 2, "contrast": 3}, "R28") == {"hit_rate": 1}
