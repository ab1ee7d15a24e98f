"""The checks of chapter 5 recognise the usual slips."""

import pytest
from slips import refused


def parts(flat, side):
    """[n, rows, columns, channel, pixel row, pixel column] of nine patches."""
    return flat.view(len(flat), 3, 3, 3, side, side)


def shaped(values):
    return values.reshape(len(values), 3, 12, 12)


@pytest.mark.parametrize(("wrong", "hint"), [
    (lambda flat, side: shaped(flat), "new shape"),
    (lambda flat, side: shaped(parts(flat, side).permute(0, 3, 2, 4, 1, 5)), "column by column"),
    (lambda flat, side: shaped(parts(flat, side).permute(0, 3, 1, 5, 2, 4)), "every patch is transposed"),
    (lambda flat, side: shaped(flat.view(-1, 3, 3, side, side, 3).permute(0, 5, 1, 3, 2, 4)), "colours of a pixel"),
    (lambda flat, side: shaped(parts(flat, side).permute(0, 3, 1, 2, 4, 5)), "the pixel row comes before"),
    (lambda flat, side: shaped(flat).flip(-1), "not in their places"),
    (lambda flat, side: flat, "[2, 3, 12, 12] was expected"),
    (lambda flat, side: flat.missing, "AttributeError"),
    (lambda flat, side: None, "returns nothing"),
])  # fmt: skip
def test_together_names_the_slip(wrong, hint):
    assert refused("05.together", wrong, hint)


D = 768


@pytest.mark.parametrize(("wrong", "hint"), [
    (12 * D**2, "biases and the two LayerNorms"),
    (12 * D**2 + 9 * D, "LayerNorms are missing"),
    (12 * D**2 + 11 * D, "two LayerNorms, and each"),
    (12 * D**2 + 4 * D, "the biases are missing"),
    (11 * D**2 + 12 * D, "output matrix"),
    (8 * D**2 + 10 * D, "two layers"),
    (45 * D**2 + 46 * D, "per head"),
    (12 * (12 * D**2 + 13 * D), "all 12 blocks"),
    (7, "add up"),
    ([1, 2], "a number was expected"),
])  # fmt: skip
def test_block_parameters_names_the_slip(wrong, hint):
    assert refused("05.block_parameters", wrong, hint)
