"""The checks of chapter 8 recognise the usual slips."""

import pytest
import timm
import torch
from slips import refused

from helpers.exercises import check


def count(patch, width, depth, classes, side=224):
    """timm's own count, as an independent reference."""
    with torch.device("meta"):
        model = timm.models.VisionTransformer(side, patch, num_classes=classes, embed_dim=width, depth=depth,
                                              num_heads=4)
    return sum(p.numel() for p in model.parameters())


def off(difference):
    """A wrong count: timm's, changed by what `difference(width, depth, classes, patch)` gives."""
    return lambda patch, width, depth, classes, side=224: (count(patch, width, depth, classes, side)
                                                           + difference(width, depth, classes, patch))


def test_parameters_accepts_timms_count():
    assert check("08.parameters", count).ok


@pytest.mark.parametrize(("difference", "hint"), [
    (lambda width, depth, classes, patch: -width, "one width"),
    (lambda width, depth, classes, patch: -2 * width, "two widths"),
    (lambda width, depth, classes, patch: -classes, "one number per class"),
    (lambda width, depth, classes, patch: -(width + 1) * classes, "head is missing"),
    (lambda width, depth, classes, patch: -13 * width * depth, "only matrices"),
    (lambda width, depth, classes, patch: -9 * width * depth, "biases in the blocks"),
    (lambda width, depth, classes, patch: -4 * width * depth, "its two norms"),
    (lambda width, depth, classes, patch: -depth * width**2, "output projection"),
    (lambda width, depth, classes, patch: -depth * 4 * width**2, "one up, one down"),
    (lambda width, depth, classes, patch: -2 * patch**2 * width, "three channels"),
    (lambda width, depth, classes, patch: -(depth - 1) * (12 * width**2 + 13 * width), "`depth` blocks"),
    (lambda width, depth, classes, patch: 5, "part by part"),
])  # fmt: skip
def test_parameters_names_what_is_missing(difference, hint):
    assert refused("08.parameters", off(difference), hint)


@pytest.mark.parametrize(("wrong", "hint"), [
    (lambda patch, width, depth, classes, side=224: None, "returns nothing"),
    (lambda patch, width, depth, classes, side=224: patch.missing, "AttributeError"),
    (lambda patch, width, depth, classes, side=224: "many", "number was expected"),
])  # fmt: skip
def test_parameters_that_give_no_number(wrong, hint):
    assert refused("08.parameters", wrong, hint)


@pytest.mark.parametrize(("wrong", "hint"), [
    (0.99987, "constant 100"),
    (0.561, "takes away"),
    (1 / 65, "all n images"),
    (0.78125, "does not replace"),
    (43.9, "not per cent"),
    (0.1, "n c²"),
])  # fmt: skip
def test_intercept_names_the_slip(wrong, hint):
    assert refused("08.intercept", wrong, hint)


def test_intercept_accepts_a_rounded_number():
    assert check("08.intercept", 0.439).ok
