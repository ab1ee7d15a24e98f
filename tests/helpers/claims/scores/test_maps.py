"""Scores of maps of CKA whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import CKA
from helpers.claims import scores

TWO_STAGES = np.kron(np.eye(2), np.ones((3, 3)))


def test_stages_are_the_networks_own_or_equal_parts():
    names = ["conv1", "layer1.0", "layer1.1", "layer2.0", "layer2.1", "norm"]
    assert scores.stages(names).tolist() == [1, 1, 1, 2, 2, 2]
    assert scores.stages(["stem", "stages.0.blocks.0", "stages.1.blocks.0"]).tolist() == [0, 0, 1]
    assert scores.stages(["blocks.0", "blocks.1", "blocks.2", "blocks.3"]).tolist() == [0, 1, 2, 3]


def test_stages_that_share_nothing_have_full_contrast_and_no_likeness_of_low_and_high():
    assert scores.contrast(TWO_STAGES, np.array([0, 0, 0, 1, 1, 1])) == 1
    assert scores.low_high(TWO_STAGES) == 0 and scores.low_high(np.ones((6, 6))) == 1


def test_nothing_to_average_is_nan_without_a_warning():
    assert np.isnan(scores.contrast(TWO_STAGES, np.arange(6))) and np.isnan(scores.contrast(TWO_STAGES, np.zeros(6)))
    assert np.isnan(scores.two_sides(TWO_STAGES, 1)["before"])


def test_two_sides_of_a_cut_and_the_best_one():
    assert scores.two_sides(TWO_STAGES, 3) == {"before": 1, "after": 1, "across": 0}
    assert scores.best_cut(TWO_STAGES) == 3
    uneven = np.kron(np.eye(2), np.ones((4, 4)))[2:, 2:]  # two layers, then four
    assert scores.best_cut(uneven) == 2
    uneven[2] = uneven[:, 2] = 9  # a layer of neither side
    assert scores.two_sides(uneven, 2, 3) == {"before": 1, "after": 1, "across": 0}


def test_a_map_breaks_at_the_block_without_skips():
    layers = ["embed", "blocks.0", "blocks.1.norm1", "blocks.1", "blocks.2"]
    intact, broken = np.full((5, 5), 0.8), np.full((5, 5), 0.6)
    broken[:2, :2] = 0.5
    broken[:2, 3:] = broken[3:, :2] = 0.2
    broken[2] = broken[:, 2] = 9  # inside the block
    found = scores.break_at(broken, intact, layers, 1)
    assert found == pytest.approx({"before": 0.5, "after": 0.6, "across": 0.2, "across_intact": 0.8, "over_side": 0.4,
                                   "over_intact": 0.25, "deepened": 0.4})


def test_the_best_split_has_a_depth_and_a_length():
    uneven = 0.5 * np.kron(np.eye(2), np.ones((4, 4)))[2:, 2:] + 0.1  # two layers, then four
    assert scores.best_split(uneven) == pytest.approx({"before": 0.6, "after": 0.6, "across": 0.1, "over_side": 1 / 6,
                                                       "length": 1 / 3})


def test_best_matches():
    cross = np.eye(4)[:, [0, 0, 1, 3]]
    depth, best = scores.matches(cross)
    np.testing.assert_allclose(depth, [0, 0, 1 / 3, 1])
    assert best.tolist() == [1, 1, 0, 1]
    assert scores.match_depth(cross) == 0 and scores.match_thirds(cross) == {"first": 1, "middle": 0, "last": 1}


def test_a_grid_is_seen_where_taps_of_one_kind_are_alike():
    names = ["blocks.0.norm1", "blocks.0", "blocks.1.norm1", "blocks.1", "blocks.2.norm1", "blocks.2"]
    assert [scores.kind(name) for name in names[:2]] == ["norm1", "block"]
    assert [name for name in names if scores.is_block(name)] == ["blocks.0", "blocks.1", "blocks.2"]
    by_kind = np.kron(np.ones((3, 3)), np.array([[0.9, 0.1], [0.1, 0.9]]))
    assert np.isclose(scores.grid(by_kind, names), 0.8) and np.isclose(scores.spread(by_kind, names), 0)
    assert scores.grid(np.ones((6, 6)), names) == 0
    by_kind[0, 2] = by_kind[2, 0] = 0.3  # one pair of like taps out of six
    assert np.isclose(scores.spread(by_kind, names), 0.6 * np.sqrt(1 / 6 * 5 / 6))


def test_structure_of_a_uniform_vit_and_a_resnet_in_two_stages():
    names = ["stages.0.blocks.0", "stages.0.blocks.1", "stages.0.blocks.2"]
    names += [name.replace("stages.0", "stages.1") for name in names]
    maps = CKA(np.ones((6, 6)), [f"blocks.{i}" for i in range(6)], 8, 8, other=TWO_STAGES, cross=np.ones((6, 6)),
               other_layers=names)
    found = scores.structure(maps)
    assert (found["low_high_vit"], found["low_high_resnet"], found["low_high_gap"]) == (1, 0, 1)
    assert (found["contrast_vit"], found["contrast_resnet"], found["contrast_gap"]) == (0, 1, -1)
    assert found["spread_vit"] == 0 and found["spread_resnet"] > 0.4 and found["spread_gap"] == -found["spread_resnet"]
    with pytest.raises(ValueError, match="two networks"):
        scores.structure(CKA(np.ones((6, 6)), maps.layers, 8, 8))


def test_matching_says_where_the_halves_of_the_columns_lie_and_how_alike_the_thirds_of_the_rows_are():
    cross = np.full((6, 4), 0.1)
    cross[[0, 1, 3, 3], range(4)] = 0.9
    found = scores.matching(cross)
    np.testing.assert_allclose([found["lower_median"], found["upper_median"]], [0.1, 0.6])
    np.testing.assert_allclose(found["lower_p90"], 0.18)
    np.testing.assert_allclose([found[f"{third}_third"] for third in ("first", "middle", "last")], [0.9, 0.5, 0.1])
    np.testing.assert_allclose([found["last_minus_first"], found["last_minus_middle"]], [-0.8, -0.4])


def test_matching_blocks_that_grow_apart_with_depth():
    parts = [np.array([0.9, 0.8, 0.7, 0.6, 0.5, 0.4]), np.array([0.9, 0.6, 0.7, 0.6, 0.5, 0.4]) - 0.1]
    found = scores.with_depth(parts)
    assert found["lowest"] == pytest.approx(0.75) and found["highest"] == pytest.approx(0.4)
    assert found["gap"] == pytest.approx(0.35)
    assert found["spearman"] == pytest.approx((-1 - 0.8986) / 2, abs=1e-4)
