"""The checks of chapter 13 recognise the usual slips."""

from math import comb

import pytest
import torch
from slips import refused

from helpers.exercises import check
from helpers.lab.objectives import mean_colours


def number(levels, weights=(64, 8, 1)):
    return int(sum(weight * int(level) for weight, level in zip(weights, levels, strict=True)))


def means(patch):
    return patch.float().mean((1, 2))


@pytest.mark.parametrize(("wrong", "hint"), [
    (lambda p: number((means(p) / 32).round()), "rounded"),
    (lambda p: number((p // 32).float().mean((1, 2))), "mean first"),
    (lambda p: number((means(p) / 32).flip(0)), "changed places"),
    (lambda p: number((means(p) / 255 * 7).round()), "32 wide"),
    (lambda p: number(means(p) / 8), "32 levels"),
    (lambda p: number([p.float().mean() / 32] * 3), "grey mean"),
    (lambda p: sum(int(level) for level in means(p) / 32), "stay apart"),
    (lambda p: number(means(p) / 32, (100, 10, 1)), "base 10"),
    (lambda p: 0, "belongs to class"),
    (lambda p: p.mean(), "raised"),
    (lambda p: means(p), "a number was expected"),
])
def test_colour(wrong, hint):
    assert refused("13.colour", wrong, hint)


def test_colour_of_the_library_is_right():
    assert check("13.colour", lambda p: mean_colours(p[None], 4).item()).ok


@pytest.mark.parametrize(("wrong", "hint"), [
    (0.5**8, "by itself"),
    ((31 / 63) ** 8, "put each one back"),
    (0.4**8, "whatever became of them"),
    (comb(56, 24) / comb(64, 32), "the patch itself"),
    (1 - comb(55, 23) / comb(63, 31), "at least one"),
    (0.25, "eight factors"),
    (..., "Still empty"),
])
def test_alone(wrong, hint):
    assert refused("13.alone", wrong, hint)


def test_alone_agrees_with_counting():
    """Of 400,000 drawn corruptions of 63 other places, how often the first eight are corrupted."""
    dice = torch.Generator().manual_seed(0)
    alone = sum(int((torch.rand(20_000, 63, generator=dice).argsort(1)[:, :8] < 31).all(1).sum()) for _ in range(20))
    share = comb(55, 23) / comb(63, 31)
    assert check("13.alone", share).ok
    assert alone / 400_000 == pytest.approx(share, rel=0.1)
