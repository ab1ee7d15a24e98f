"""Scores of receptive fields whose answer is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from helpers import ReceptiveField
from helpers.claims import scores


def field(*centres: float, grid: tuple[int, int] = (4, 4)) -> ReceptiveField:
    """Layers on 8×8 pixels: `centre` times as much gradient in the centre patch as in every other."""
    maps = np.ones((len(centres), 8, 8))
    maps[:, 4:6, 4:6] *= np.array(centres)[:, None, None]
    return ReceptiveField(maps, [f"blocks.{i}" for i in range(len(centres))], [grid] * len(centres),
                          [1] * len(centres), True, 1)


def test_scores_of_receptive_fields():
    narrow, wide = field(1e6, 1e6, 1e6), field(1e6, 1, 1)
    gaps = scores.first_radii(wide, narrow)
    assert gaps["gap_50"] > 2 and gaps["gap_90"] > 3 and set(scores.first_radii(narrow, narrow).values()) == {0}
    assert scores.first_radii(narrow, field(1e6, 1, 1))["gap_50"] < 0  # the wider one of stem and first block
    assert np.isclose(scores.smallest_centre(field(1, 15, 31)), 15 / 30 * 16)  # the embedding does not count
    assert scores.centre_leads(field(0.5, 2, 2)) and not scores.centre_leads(field(2, 2, 0.5))
    ratio = scores.centre_ratio(field(1, 15, 1, 15), field(15, 15, 15, 15))
    assert np.isclose(ratio["attention"], 1 / 8) and ratio["mlp"] == 1
    assert (scores.radius_ratio(wide, narrow) > 1).tolist() == [False, True, True]
    assert scores.stage_starts([(8, 8), (8, 8), (4, 4), (4, 4)]).tolist() == [False, False, True, False]


def test_growth_compares_the_largest_steps():
    late, even = field(1, 1e6, 1e6, 1e6, 1), field(1, 1e6, 1e6, 1, 1)
    found = scores.growth(late, even)
    assert (found["vit_step"], found["resnet_step"], found["step_gap"]) == (1, 1, 0) and found["step_depth"] == 0.875
    assert scores.growth(even, late)["step_depth"] == 0.625


def test_groups_of_images_give_intervals():
    narrow, wide = field(1e6, 1e6, 1e6), field(1e6, 1, 1)
    both = scores.over_groups(scores.first_radii, [wide, wide], [narrow, wide])
    assert both["gap_50"].value == scores.first_radii(wide, narrow)["gap_50"] / 2 and both["gap_50"].low < 0
    assert np.isclose(scores.whole([field(1), field(3)]).maps[0, 4, 4], 2)
    ahead = scores.dominance([field(1, 15, 31), field(1, 15, 31)])
    assert np.isclose(ahead["smallest_centre"].value, 8) and ahead["centre_leads"] is True


def test_narrowing_tells_first_blocks_of_a_stage_from_others():
    grids = [(8, 8), (8, 8), (4, 4), (4, 4)]
    of = lambda *centres: replace(field(*centres), grids=grids)
    same, wider = of(1e6, 1e6, 1e6, 1e6), of(1e6, 1e6, 1, 1e6)  # before the sum, block 2 sees more
    found = scores.narrowing([wider, wider], [same, same])
    assert found["ordinary"].value == 1 and found["first"].value > 1
    assert found["farther"].value == found["first"].value - 1 and found["farthest"].value == 1
