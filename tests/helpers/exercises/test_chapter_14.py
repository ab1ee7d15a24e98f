"""The checks of chapter 14 recognise the usual slips."""

import pytest
import torch
from slips import refused

from helpers.exercises import check


def grid(rows, columns):
    """Both tables [R, C, D/2] spread over the grid."""
    shape = (len(rows), len(columns), -1)
    return rows[:, None].expand(shape), columns[None].expand(shape)


def table(rows, columns):
    return torch.cat(grid(rows, columns), -1).flatten(0, 1)


@pytest.mark.parametrize("right", [
    table,
    lambda rows, columns: table(rows, columns).numpy(),
    lambda rows, columns: table(rows, columns).float(),
    lambda rows, columns: torch.stack([torch.cat([row, column]) for row in rows for column in columns]),
])  # fmt: skip
def test_the_right_table_passes(right):
    assert check("14.table2d", right).ok


@pytest.mark.parametrize(("wrong", "hint"), [
    (lambda rows, columns: (rows[:, None] + columns).flatten(0, 1), "were added"),
    (lambda rows, columns: rows[:, None] + columns, "were added"),
    (lambda rows, columns: torch.cat(grid(rows, columns), -1), "two axes"),
    (lambda rows, columns: torch.cat(grid(rows, columns), -1).transpose(0, 1).flatten(0, 1), "run down"),
    (lambda rows, columns: torch.cat(grid(rows, columns)[::-1], -1).flatten(0, 1), "column's half comes first"),
    (lambda rows, columns: torch.cat([rows.repeat(5, 1), columns.repeat(3, 1)], 1), "both change at every step"),
    (lambda rows, columns: torch.cat([rows.repeat_interleave(5, 0), columns.repeat_interleave(3, 0)], 1),
     "stay for several places"),
    (lambda rows, columns: table(rows, columns).T, "the shape is (8, 15)"),
    (lambda rows, columns: torch.zeros(15, 8), "place r·C + c"),
    (lambda rows, columns: rows.missing, "AttributeError"),
    (lambda rows, columns: None, "returns nothing"),
])  # fmt: skip
def test_the_table_names_the_slip(wrong, hint):
    assert refused("14.table2d", wrong, hint)


def cheaper_from(axial, whole):
    """The first side of a grid at which the axial blocks need fewer multiplications per token, width 768."""
    return next(side for side in range(1, 1000) if axial(side, 768) < whole(side, 768))


def axial(side, width):
    return 24 * width**2 + 4 * side * width


def whole(side, width):
    return 12 * width**2 + 2 * side**2 * width


def test_the_right_side_passes():
    assert check("14.axial", cheaper_from(axial, whole)).ok


@pytest.mark.parametrize(("wrong", "hint"), [
    (cheaper_from(axial, whole) - 1, "still a little cheaper"),
    (cheaper_from(axial, whole) ** 2, "number of tokens"),
    (16 * cheaper_from(axial, whole), "in pixels"),
    (cheaper_from(lambda g, d: 4 * g * d, lambda g, d: 2 * g**2 * d), "only the scores"),
    (cheaper_from(lambda g, d: 16 * d**2 + 4 * g * d, whole), "second MLP is missing"),
    (cheaper_from(axial, lambda g, d: 12 * d**2 + g**2 * d), "one for weighted means"),
    (196, "first whole g"),
    ([69], "a number was expected"),
])  # fmt: skip
def test_the_side_names_the_slip(wrong, hint):
    assert refused("14.axial", wrong, hint)
