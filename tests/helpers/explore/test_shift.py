"""The explorer of shifts from Python: the page gets what the networks say, and wrong input is refused with a reason."""

from __future__ import annotations

import ipywidgets
import numpy as np
import pytest
import torch
import traitlets

from explorer_samples import unpacked
from helpers import load_images, load_model
from helpers.explore import shift, shift_explorer
from helpers.metrics.shifts import equivariance_error

LAYERS = {"ViT": ["patch_embed.proj", "blocks.5"], "ResNet": ["stem.conv"]}


@pytest.fixture(autouse=True)
def book_build(monkeypatch):
    monkeypatch.setenv("BOOK_STATIC", "1")


@pytest.fixture(scope="module")
def models():
    return {"ViT": load_model("vit_cls"), "ResNet": load_model("resnet")}


def test_parts_hold_maps_errors_and_predictions(models):
    images, shifts = load_images(n=2), [0, 1, 4]
    w = shift_explorer(models, images, layers=LAYERS, shifts=shifts)
    assert list(w.parts) == ["image 0", "image 1", "ViT 0", "ViT 1", "ResNet 0", "ResNet 1"]
    assert w.about["models"]["ViT"] == {"name": {"en": "ViT", "ko": "ViT"}, "layers": LAYERS["ViT"],
                                        "cells": [[4.0, 4.0], [4.0, 4.0]]}  # fmt: skip
    np.testing.assert_array_equal(unpacked(w.parts["image 1"]["pixels"]), images.raw[1].permute(1, 2, 0))
    part, patches = w.parts["ViT 1"], models["ViT"].patch_embed.proj
    maps = unpacked(part["maps"][0])  # [down, right, rows, columns]
    assert maps.shape == (3, 3, 8, 8)
    with torch.no_grad():
        channel = patches(images.tensor).flatten(2).std(2).mean(0).argmax()
        for i, down in enumerate(shifts):
            for j, right in enumerate(shifts):
                moved = images.tensor.roll((down, right), (-2, -1))
                found = patches(moved)[1, channel].numpy()
                assert np.abs(maps[i, j] - found).max() <= part["maps"][0]["step"] / 2 + 1e-5
                error = equivariance_error(patches, images.tensor, right, down)[1].item()
                assert unpacked(part["moved"])[i, j, 0] == pytest.approx(error, abs=5.1e-4)
                shown = unpacked(part["probabilities"])[i, j]
                np.testing.assert_allclose(shown, models["ViT"](moved).softmax(1)[1], atol=5.1e-5)
    assert part["classes"] == list(range(10))
    assert (unpacked(part["still"])[0, 0] == 0).all() and (unpacked(part["moved"])[2, 2, 0] == 0).all()


def test_large_maps_are_averaged():
    model = load_model("resnet", trained=False)
    images = torch.randn(1, 3, 64, 64, generator=torch.Generator().manual_seed(0))
    w = shift_explorer({"ResNet": model}, images, layers={"ResNet": ["stem.conv"]}, shifts=[0, 2])
    assert w.parts["ResNet 0"]["maps"][0]["shape"] == [2, 2, 32, 32]
    assert (w.upper, w.lower, w.about["classes"]) == ("ResNet", "ResNet", [])


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"upper": "VGG"}, traitlets.TraitError, "upper must be one of 'ViT', 'ResNet', but it is 'VGG'"),
        ({"right": 3}, traitlets.TraitError, "right must be one of 0, 1, 4, but it is 3"),
        ({"image": 1}, traitlets.TraitError, "image must be a whole number from 0 to 0"),
        ({"depth": 2}, traitlets.TraitError, "depth must be a number from 0 to 1"),
        ({"layers": {"ViT": ["blocks.5"]}}, ValueError, "layers has none for 'ResNet'"),
        ({"shifts": [1, 2]}, ValueError, r"shifts must begin with 0 and rise, but they are \[1, 2\]"),
        ({"shifts": [0, 2, 1]}, ValueError, "must begin with 0 and rise"),
        ({"models": {}}, ValueError, "there is no network"),
        ({"image_labels": ["a", "b"]}, ValueError, "2 names for 1 images"),
        ({"names": {"VGG": "x"}}, ValueError, "names has 'VGG'"),
    ],
)
def test_what_is_wrong_is_said(models, arguments, error, message):
    given = {"models": models, "images": load_images(n=1), "layers": LAYERS, "shifts": [0, 1, 4]} | arguments
    with pytest.raises(error, match=message):
        shift_explorer(**given)


def test_too_much_data_is_refused(models, monkeypatch):
    monkeypatch.setattr(shift, "MOST_BYTES", 1000)
    with pytest.raises(ValueError, match=r"maps of 'ViT' alone take .* MB: pass fewer images"):
        shift_explorer(models, load_images(n=1), layers=LAYERS, shifts=[0, 1, 4])


def test_a_live_explorer_is_read_and_set(models, monkeypatch):
    monkeypatch.delenv("BOOK_STATIC")
    try:
        w = shift_explorer(models, load_images(n=1), layers=LAYERS, shifts=[0, 4], right=4)
        w.down, w.lower, w.depth = np.int64(4), "ViT", 1
        assert (w.right, w.down, w.upper, w.lower, w.depth) == (4, 4, "ViT", "ViT", 1.0)
        with pytest.raises(traitlets.TraitError, match="down must be"):
            w.down = 1
        assert w.down == 4
    finally:
        ipywidgets.Widget.close_all()
