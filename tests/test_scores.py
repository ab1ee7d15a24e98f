"""Scores on matrices whose answer is known."""

from __future__ import annotations

import numpy as np

from helpers import scores

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


def test_halves_and_steps_of_curves():
    assert scores.halves(np.array([3.0, 3, 1, 1])) == 2
    depths = np.array([0.25, 0.5, 0.75, 1])
    assert scores.largest_step(np.array([1.0, 1, 4, 5]), depths) == (0.75, 0.625)
    assert scores.largest_step(np.array([1.0, 4, 0, 1]), depths) == (0.75, 0.375)  # a step down is no growth
    assert scores.largest_step(np.array([1.0, 1, 4, 5]), np.array([0.1, 0.2, 0.9, 1])) == (0.75, 0.55)
    assert np.isnan(scores.largest_step(np.ones(4), depths)).all()
