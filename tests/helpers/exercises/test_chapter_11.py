"""The checks of chapter 11 recognise the usual slips."""

import pytest
from slips import refused

from helpers.exercises import check

WEIGHTS = lambda t, d, l: 24 * t * d**2 * l
ATTENTION = lambda t, d, l: 4 * t**2 * d * l


@pytest.mark.parametrize(("wrong", "hint"), [
    (lambda t, d, l: (WEIGHTS(t, d, l) + ATTENTION(t, d, l)) / 2, "multiplications only"),
    (lambda t, d, l: (WEIGHTS(t, d, l) + ATTENTION(t, d, l)) / l, "one block"),
    (lambda t, d, l: WEIGHTS(t, d, l), "attention is missing"),
    (lambda t, d, l: ATTENTION(t, d, l), "weight matrices are missing"),
    (lambda t, d, l: WEIGHTS(t, d, l) + ATTENTION(t, d, l) / 2, "multiplies twice"),
    (lambda t, d, l: WEIGHTS(t, d, l) / 2 + ATTENTION(t, d, l), "four times as wide"),
    (lambda t, d, l: WEIGHTS(t, d, l) * 2 / 3 + ATTENTION(t, d, l), "only the MLP"),
    (lambda t, d, l: WEIGHTS(t, d, l) / 3 + ATTENTION(t, d, l), "the MLP is missing"),
    (lambda t, d, l: 1, "add up weights and attention"),
    (lambda t, d, l: t.missing, "AttributeError"),
    (lambda t, d, l: None, "returns nothing"),
])  # fmt: skip
def test_flops_names_the_slip(wrong, hint):
    assert refused("11.flops", wrong, hint)


@pytest.mark.parametrize(("wrong", "hint"), [
    (6144, "number of tokens"),
    (512, "T = 6D, not at T = D"),
    (1086.1, "width of Base"),
    (2508.3, "32 pixels"),
    (78.4, "side in patches"),
    (1773.6, "so does each product"),
    (99, "solve for T"),
])  # fmt: skip
def test_half_names_the_slip(wrong, hint):
    assert refused("11.half", wrong, hint)


def test_half_accepts_whole_pixels():
    assert check("11.half", 1254).ok
