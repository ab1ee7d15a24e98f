"""The checks of chapter 1 recognise the usual slips."""

import pytest
from slips import refused

from helpers.exercises import check


def relative(found, expected):
    length = lambda maps: maps.flatten(1).norm(dim=1)
    return length(found - expected) / length(expected)


@pytest.mark.parametrize(("wrong", "hint"), [
    (lambda f, x, r: relative(f(x.roll(r, -1)), f(x)), "invariance error"),
    (lambda f, x, r: relative(f(x.roll(r, -2)), f(x).roll(r, -2)), "moved down"),
    (lambda f, x, r: relative(f(x.roll(-r, -1)), f(x).roll(-r, -1)), "to the left"),
    (lambda f, x, r: relative(f(x.roll(r, -1)), f(x).roll(-r, -1)), "opposite directions"),
    (lambda f, x, r: relative(f(x.roll(r, -1)), f(x).roll(r, -1)) ** 2, "square roots"),
    (lambda f, x, r: (f(x.roll(r, -1)) - f(x).roll(r, -1)).flatten(1).norm(dim=1), "divide by"),
    (lambda f, x, r: relative(f(x.roll(r, -1)), f(x.roll(r, -1))), "with itself"),
    (lambda f, x, r: (f(x.roll(r, -1)) - f(x).roll(r, -1)).norm() / f(x).norm(), "shape [4], not []"),
    (lambda f, x, r: f(x).mean((1, 2, 3)), "numbers differ"),
    (lambda f, x, r: x.missing, "AttributeError"),
    (lambda f, x, r: None, "returns nothing"),
])  # fmt: skip
def test_error_names_the_slip(wrong, hint):
    assert refused("01.error", wrong, hint)


def test_arrays_and_lists_are_answers_too():
    right = lambda f, x, r: relative(f(x.roll(r, -1)), f(x).roll(r, -1))
    assert check("01.error", lambda *given: right(*given).numpy()).ok
    assert check("01.error", lambda *given: right(*given).tolist()).ok


def side(layers, start=1, own_stride=False, step=1):
    """The formula with room for slips."""
    r, jump = start, 1
    for kernel, stride in layers:
        r, jump = r + (kernel - step) * jump * (stride if own_stride else 1), jump * stride
    return r


LAYERS = [(7, 2), (3, 2), (3, 1), (3, 1), (3, 1)]


@pytest.mark.parametrize(("wrong", "hint"), [
    (side([(kernel, 1) for kernel, _ in LAYERS]), "ignores the strides"),
    (side([(7, 2), (3, 1), *LAYERS[2:]]), "one stride is missing"),
    (side(LAYERS, own_stride=True), "only for the layers after it"),
    (side(LAYERS[:-1]), "you counted two"),
    (side([(7, 2), (1, 2), *LAYERS[2:]]), "pooling adds"),
    (side(LAYERS, step=0), "k − 1, not k"),
    (side(LAYERS, start=0), "r₀ = 1"),
    (100, "go through the layers"),
    ([1, 2], "a number was expected"),
])  # fmt: skip
def test_field_names_the_slip(wrong, hint):
    assert refused("01.field", wrong, hint)


def test_field_accepts_the_formula():
    assert check("01.field", side(LAYERS)).ok
