"""The checks of chapter 21 recognise the usual slips."""

import pytest
import torch
from slips import refused

from helpers.exercises import check


@pytest.mark.parametrize(("wrong", "hint"), [
    (lambda g: g.mean((0, 1, 2)), "absolute value is missing"),
    (lambda g: g.mean((0, 1, 2)).abs(), "absolute value of the mean"),
    (lambda g: g.mean(1).abs().mean((0, 1)), "every channel"),
    (lambda g: g.mean(0).abs().mean((0, 1)), "every image"),
    (lambda g: g.square().mean((0, 1, 2)), "these are squares"),
    (lambda g: g.abs().sum((0, 1, 2)), "a sum, not a mean"),
    (lambda g: g.abs().mean(), "shape [5, 5], not []"),
    (lambda g: g.abs().mean((0, 1)), "shape [5, 5], not [3, 5, 5]"),
    (lambda g: torch.ones(5, 5), "the numbers differ"),
    (lambda g: g.missing, "AttributeError"),
    (lambda g: None, "returns nothing"),
])  # fmt: skip
def test_the_field_names_the_slip(wrong, hint):
    assert refused("21.field", wrong, hint)


def test_numpy_and_lists_are_answers_too():
    right = lambda g: g.abs().mean((0, 1, 2))
    assert check("21.field", lambda g: right(g).numpy()).ok
    assert check("21.field", lambda g: right(g).tolist()).ok


def reach(layers: list[tuple[int, int]]) -> int:
    """Side of the pixels that can move the middle output of convolutions (kernel, stride), by marking them."""
    size = 129
    x = torch.zeros(1, 1, size, requires_grad=True)
    y = x
    for kernel, stride in layers:
        y = torch.nn.functional.conv1d(y, torch.ones(1, 1, kernel), stride=stride)
    y[0, 0, y.shape[-1] // 2].backward()
    return int((x.grad > 0).sum())


def test_the_side_is_what_convolutions_reach():
    assert check("21.side", reach([(7, 2), (3, 2), (1, 1), (3, 1), (1, 1), (3, 1), (3, 1)])).ok


@pytest.mark.parametrize(("wrong", "hint"), [
    (reach([(7, 1), (3, 1), (3, 1), (3, 1), (3, 1)]), "strides are missing"),
    (reach([(7, 2), (3, 1), (3, 1), (3, 1), (3, 1)]), "pooling has a stride"),
    (45, "own stride"),
    (49, "k − 1"),
    (reach([(7, 2), (3, 2), (3, 1)]), "there are three"),
    (reach([(7, 2), (3, 2)]), "before the first block"),
    (8, "start with 1 pixel"),
    ([35, 35], "a number was expected"),
])  # fmt: skip
def test_the_side_names_the_slip(wrong, hint):
    assert refused("21.side", wrong, hint)
