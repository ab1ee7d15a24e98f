"""Shifted images through layers: exact where theory says so, by hand elsewhere, and clear errors."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import conv2d

from helpers import load_images, load_model
from helpers.metrics.shifts import (
    carried,
    equivariance_error,
    invariance_error,
    shift_errors,
    shifted_views,
    with_circular_padding,
)

X = torch.randn(3, 2, 12, 16, generator=torch.Generator().manual_seed(0))


def test_errors_are_those_of_the_definition():
    kernel = torch.randn(4, 2, 3, 3, generator=torch.Generator().manual_seed(1))
    layer = lambda x: conv2d(x, kernel, padding=1)
    fx, moved = (layer(x).numpy() for x in (X, X.roll((2, 3), (-2, -1))))
    for got, expected in (
        (equivariance_error(layer, X, 3, 2), np.roll(fx, (2, 3), (2, 3))),
        (invariance_error(layer, X, 3, 2), fx),
    ):
        by_hand = [np.linalg.norm(m - e) / np.linalg.norm(f) for m, e, f in zip(moved, expected, fx, strict=True)]
        np.testing.assert_allclose(got, by_hand, rtol=1e-5)


@pytest.mark.parametrize(
    ("shift", "cells"),
    [((0, 0), (0, 0)), ((1, 0), (0, 0)), ((2, 0), (0, 1)), ((7, 4), (1, 2)), ((-2, 0), (0, 0)), ((-3, -4), (-1, -1))],
)
def test_maps_are_carried_by_the_nearest_number_of_cells(shift, cells):
    maps = torch.arange(2.0 * 3 * 4).reshape(1, 2, 3, 4)  # cells of 4 by 4 pixels
    assert torch.equal(carried(maps, shift, (12, 16)), maps.roll(cells, (-2, -1)))


def test_only_maps_can_be_carried():
    with pytest.raises(ValueError, match=r"shape \(3, 5\) has no positions"):
        carried(torch.ones(3, 5), (1, 0), (12, 16))


def test_circular_padding_makes_a_stack_follow_and_keeps_the_model():
    first, pool = nn.Conv2d(2, 4, 3, padding=1), nn.MaxPool2d(3, 1, padding=1)
    stack = nn.Sequential(first, nn.ReLU(), pool, nn.ConstantPad2d(1, 0), nn.Conv2d(4, 3, 3, stride=2))
    before, wrapped = stack(X), with_circular_padding(stack)
    assert torch.equal(stack(X), before)
    assert wrapped(X).shape == before.shape
    inner = (slice(None), slice(None), slice(2, -2), slice(2, -2))
    torch.testing.assert_close(wrapped(X)[inner], before[inner])  # away from the border nothing changes
    assert equivariance_error(wrapped, X, 2, 4).max() < 1e-6 < 0.01 < equivariance_error(stack, X, 2, 4).min()
    assert equivariance_error(wrapped, X, 1).min() > 0.01


def test_padding_by_name_is_refused():
    with pytest.raises(ValueError, match="padding='same' is not a number"):
        with_circular_padding(nn.Sequential(nn.Conv2d(2, 2, 3, padding="same")))


@pytest.mark.parametrize(("name", "layers"), [("vit_cls", ["patch_embed.proj", "blocks.1"]), ("resnet", "blocks")])
def test_networks_follow_once_border_and_positions_are_gone(name, layers):
    images, model = load_images(n=2), load_model(name)
    free = with_circular_padding(model)
    if name == "vit_cls":
        nn.init.zeros_(free.pos_embed)
    whole, part = (4, 8), (2, 0)
    found = shift_errors(free, images, [whole, part], layers)
    assert found.moved.shape == found.still.shape == (len(found.layers), 2, 2)
    assert found.moved[:, 0].max() < 1e-5 < 0.05 < found.moved[-1, 1].min()
    assert found.moved_probability[0].max() < 1e-4 and found.same_class[0].all()
    assert shift_errors(model, images, [whole], layers).moved[-1].min() > 0.05
    frame = found.to_frame().set_index(["layer", "right", "down"])
    assert frame.loc[(found.layers[-1], 2, 0), "moved"] == pytest.approx(found.moved[-1, 1].mean())


def test_views_are_maps_and_probabilities():
    images, model = load_images(n=2), load_model("vit_cls")
    (size, maps, probabilities), = shifted_views(model, images, [(0, 0)], "blocks.5")
    assert tuple(size) == (32, 32) and {name: tuple(m.shape) for name, m in maps.items()} == {"blocks.5": (2, 96, 8, 8)}
    torch.testing.assert_close(probabilities, model(images.tensor).softmax(1))


def test_a_network_without_a_head_is_refused():
    model = load_model("vit_cls")
    model.head = nn.Flatten(0)
    with pytest.raises(ValueError, match="not scores of classes"):
        shift_errors(model, load_images(n=2), [(1, 0)])


def test_the_plot_has_a_row_for_each_layer():
    found = shift_errors(load_model("vit_cls", trained=False), load_images(n=2), [(1, 0), (2, 3)])
    ax = found.plot()
    assert [t.get_text() for t in ax.get_xticklabels()] == ["1", "2, 3"]
    assert [t.get_text() for t in ax.get_yticklabels()] == [str(i) for i in range(len(found.layers))]  # blocks
    assert "6 layers, 2 shifts, 2 images" in repr(found)
