"""Wrong answers to the exercises of chapter 0 get the hint that helps."""

import pytest
from slips import refused

from helpers import lab
from helpers.exercises import check


@pytest.mark.parametrize("wrong,hint", [
    (lambda row, column, grid, cls: cls + row * grid[0] + column, "grid has columns"),
    (lambda row, column, grid, cls: cls + column * grid[0] + row, "along the rows"),
    (lambda row, column, grid, cls: cls + column * grid[1] + row, "swapped"),
    (lambda row, column, grid, cls: row * grid[1] + column, "class token is token 0"),
    (lambda row, column, grid, cls: 1 + row * grid[1] + column, "only for a class token"),
    (lambda row, column, grid, cls: cls + row * grid[1] + column - (not cls), "first patch is token 0"),
    (lambda row, column, grid, cls: 7, "is token 30"),
    (lambda row, column, grid, cls: (row, column), "a number was expected"),
])  # fmt: skip
def test_token(wrong, hint):
    assert refused("00.token", wrong, hint)


def test_times_seen():
    entry = lab.read_manifest()["vit_cls_3"]
    assert "all training images" in check("00.times_seen", entry["images_seen"] / 50_000).en
    assert "number of training images" in check("00.times_seen", 1500).en
    assert "below the line" in check("00.times_seen", entry["images_seen"] * 0.03 / 50_000).en
    assert "number of steps" in check("00.times_seen", entry["images_seen"] / 128).en
    assert not check("00.times_seen", 3).ok


def test_a_rounded_number_is_as_good():
    assert check("00.times_seen", 200).ok
