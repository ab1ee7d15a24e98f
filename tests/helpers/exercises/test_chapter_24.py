"""The checks of chapter 24 recognise the usual slips."""

import numpy as np
import pytest
import torch
from slips import refused

from helpers.exercises import check
from helpers.metrics.localize import Localization


def own_and_others(maps):
    flat = maps.flatten(1)
    own = flat.diagonal()
    return flat, own, (flat.sum(1) - own) / (len(flat) - 1)


def transposed(maps):
    own = torch.stack([maps[t, t % 3, t // 3] for t in range(15)])
    return (own - (maps.flatten(1).sum(1) - own) / 14).mean()


def brightest(maps):
    flat = maps.flatten(1)
    best = flat.max(1).values
    return (best - (flat.sum(1) - best) / 14).mean()


@pytest.mark.parametrize(("wrong", "hint"), [
    (lambda maps: (own_and_others(maps)[1] - maps.mean((1, 2))).mean(), "leave it out"),
    (brightest, "the token's own one"),
    (transposed, "row by row"),
    (lambda maps: (own_and_others(maps)[1] - 14 * own_and_others(maps)[2]).mean(), "take their mean"),
    (lambda maps: (own_and_others(maps)[1] - 14 / 15 * own_and_others(maps)[2]).mean(), "N − 1 other patches"),
    (lambda maps: (own_and_others(maps)[1] / own_and_others(maps)[2]).mean(), "a difference"),
    (lambda maps: (own_and_others(maps)[1] - own_and_others(maps)[2]).sum(), "average over the tokens"),
    (lambda maps: (own_and_others(maps)[2] - own_and_others(maps)[1]).mean(), "turned round"),
    (lambda maps: own_and_others(maps)[1] - own_and_others(maps)[2], "a number was expected"),
    (lambda maps: 0.5, "the number differs"),
    (lambda maps: maps.missing, "AttributeError"),
    (lambda maps: None, "returns nothing"),
])  # fmt: skip
def test_contrast_names_the_slip(wrong, hint):
    assert refused("24.contrast", wrong, hint)


def test_the_contrast_of_the_library_is_the_right_answer():
    assert check("24.contrast", lambda maps: Localization(np.asarray(maps), "layer", 10).contrast).ok


@pytest.mark.parametrize(("wrong", "hint"), [
    (111.5, "middle of the patch"),
    (112, "middle of the patch"),
    (48, "there are five"),
    (128, "counted from 0"),
    (6, "go on through all five"),
    (30, "doublings multiply"),
    (95, "2i − padding"),
    ([96, 127], "a number was expected"),
])  # fmt: skip
def test_centre_names_the_slip(wrong, hint):
    assert refused("24.centre", wrong, hint)
