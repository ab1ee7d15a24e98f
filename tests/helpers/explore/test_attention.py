"""Explorers of models from Python: the page gets what the metrics say, and wrong input is refused with a reason."""

from __future__ import annotations

import ipywidgets
import numpy as np
import pytest
import torch
import traitlets
from timm.models.vision_transformer import VisionTransformer

from explorer_samples import unpacked
from helpers import (
    AttentionDistance,
    attention_distance,
    attention_maps,
    load_images,
    load_model,
)
from helpers.explore import attention, attention_explorer

pytestmark = pytest.mark.usefixtures("book_build")

RNG = np.random.default_rng(0)


def small_vit(**options) -> VisionTransformer:
    """A narrow ViT on the 14×14 grid of the papers."""
    return VisionTransformer(img_size=224, patch_size=16, embed_dim=24, depth=2, num_heads=3, **options).eval()


# --- attention --------------------------------------------------------------------------------------------------------


def decoded(part: dict) -> np.ndarray:
    """The weights of the patches, as attention_rows.js reads them."""
    return (unpacked(part["shares"]) / part["levels"]) ** 2 * unpacked(part["peaks"])


def test_attention_parts_hold_the_maps_and_the_pictures(lab_vit):
    images = load_images(n=3)
    w = attention_explorer(lab_vit, images)
    assert [name for name in w.parts if name.startswith("lab")] == ["lab 0", "lab 1", "lab 2"]
    maps = attention_maps(lab_vit, images, progress=False)
    for i in range(3):
        part = w.parts[f"lab {i}"]
        patches, peaks = maps.values[i][..., 1:], maps.values[i][..., 1:].max(-1, keepdims=True)
        np.testing.assert_allclose(unpacked(part["onPrefix"]), maps.values[i][..., :1], atol=5.1e-5)
        assert (np.abs(decoded(part) - patches) <= peaks / 255 + 5.1e-5).all()
        np.testing.assert_array_equal(unpacked(w.parts[f"photo lab {i}"]["pixels"]), images.raw[i].permute(1, 2, 0))
    assert w.about["models"]["lab"]["images"][1]["name"] == {"en": "1 · automobile", "ko": "1 · 자동차"}


@pytest.mark.parametrize("levels", [15, 63, 255])
def test_quantised_weights_are_within_half_a_level(levels):
    weights = torch.softmax(6 * torch.randn(2, 3, 50, 50, generator=torch.Generator().manual_seed(0)), -1).numpy()
    codes = attention.row_codes(weights, 1, levels)
    got = (codes["shares"] / levels) ** 2 * codes["peaks"]
    bound = codes["peaks"] * (1 / levels + 1 / (4 * levels**2))  # (√s + 1/2L)² − s ≤ 1/L + 1/4L²
    assert (np.abs(got - weights[..., 1:]) <= bound).all()
    assert codes["shares"].max() == levels


def test_attention_distances_are_those_of_the_metric_or_the_ones_given(lab_vit):
    images = load_images(n=2)
    own = attention_explorer(lab_vit, images).about["models"]["lab"]
    measured = attention_distance(lab_vit, images, progress=False)
    np.testing.assert_allclose(own["distance"], measured.pixels)
    np.testing.assert_allclose(own["onPrefix"], measured.cls_mass)
    assert (own["uniform"], own["measured"]) == (pytest.approx(measured.uniform), 2)
    more = attention_distance(lab_vit, load_images(n=5), progress=False)
    assert attention_explorer(lab_vit, images, distance=more).about["models"]["lab"]["measured"] == 5


def test_attention_without_a_class_token_and_on_a_larger_grid():
    x = torch.randn(1, 3, 224, 224, generator=torch.Generator().manual_seed(0))
    w = attention_explorer(small_vit(class_token=False, global_pool="avg"), x, names=[{"en": "noise", "ko": "잡음"}])
    assert "onPrefix" not in w.parts["lab 0"]
    model = w.about["models"]["lab"]
    assert (model["grid"], model["prefix"], w.query) == ([14, 14], 0, 7 * 14 + 7)
    registers = attention_explorer(small_vit(reg_tokens=2), x)
    assert registers.parts["lab 0"]["onPrefix"]["shape"] == [2, 3, 199, 3]


def test_an_untrained_twin_stands_beside_its_network(lab_vit):
    images, twin = load_images(n=2), load_model("vit_cls", trained=False, seed=1)
    w = attention_explorer(lab_vit, images, untrained=twin)
    assert w.beside == "untrained" and attention_explorer(lab_vit, images).beside == "map"
    found = w.about["models"]["lab"]["twin"]
    np.testing.assert_allclose(found["distance"], attention_distance(twin, images, progress=False).pixels)
    maps = attention_maps(twin, images, progress=False)
    np.testing.assert_allclose(decoded(w.parts[found["weights"][1]]), maps.values[1][..., 1:], atol=0.01)


def test_a_head_can_be_asked_for_by_what_it_does(lab_vit):
    images = load_images(n=1)
    distance = attention_distance(lab_vit, images, progress=False)
    for what, find in (("local", np.argmin), ("global", np.argmax)):
        w = attention_explorer(lab_vit, images, distance=distance, head=what)
        assert (w.layer, w.head) == np.unravel_index(find(distance.pixels), distance.pixels.shape)


def test_full_size_networks_need_no_model_and_stand_beside_one(lab_vit):
    alone = attention_explorer(full_size=True)
    assert list(alone.about["models"]) == ["vit_ti16", "deit_ti16"]
    both = attention_explorer(lab_vit, load_images(n=1), full_size=True)
    assert list(both.about["models"]) == ["lab", "vit_ti16", "deit_ti16"]
    assert all(isinstance(part, str) for part in alone.parts.values())  # addresses: nothing travels unasked
    both.image, both.layer = 0, 5
    both.network = "deit_ti16"
    both.image, both.layer, both.query = 6, 11, 196
    both.network = "lab"  # which has fewer of all
    assert (both.image, both.layer, both.query) == (0, 5, 64)
    with pytest.raises(ValueError, match="needs a model and images, or full_size=True"):
        attention_explorer()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"layer": 6}, "layer must be a whole number from 0 to 5, but it is 6"),
        ({"head": 8}, "head must be one of 'mean', 0, 1, 2, 3, 4, 5, 6, 7, but it is 8"),
        ({"head": "median"}, "head must be one of 'mean', .* but it is 'median'"),
        ({"query": 65}, "query must be a whole number from 0 to 64"),
        ({"image": 2}, "image must be a whole number from 0 to 1"),
        ({"view": "flow"}, "view must be one of 'query', 'rollout'"),
    ],
)
def test_attention_refuses_what_is_not_there(lab_vit, arguments, message):
    with pytest.raises(traitlets.TraitError, match=message):
        attention_explorer(lab_vit, load_images(n=2), **arguments)


def test_attention_says_what_is_wrong_with_its_data(lab_vit, monkeypatch):
    images = load_images(n=2)
    with pytest.raises(ValueError, match="no attention between patches"):
        attention_explorer(load_model("resnet", trained=False), images)
    with pytest.raises(ValueError, match="1 names for 2 images"):
        attention_explorer(lab_vit, images, names=["one"])
    other = AttentionDistance(np.ones((4, 8)), np.ones((4, 8)), np.ones((4, 8)), 16.0, (8, 8), 2)
    with pytest.raises(ValueError, match=r"distance has \(4, 8\) layers and heads .* the model has \(6, 8\)"):
        attention_explorer(lab_vit, images, distance=other)
    monkeypatch.setattr(attention, "MOST_BYTES", 250_000)
    with pytest.raises(ValueError, match="attention of 2 images takes 0 MB: pass at most 1"):
        attention_explorer(lab_vit, images)


def test_a_live_attention_explorer_is_read_and_set(lab_vit, monkeypatch):
    monkeypatch.delenv("BOOK_STATIC")
    try:
        w = attention_explorer(lab_vit, load_images(n=1), layer=1, head=3, query=0)
        w.layer, w.head, w.view = np.int64(5), "mean", "rollout"
        assert (w.layer, w.head, w.query, w.view) == (5, "mean", 0, "rollout")
        with pytest.raises(traitlets.TraitError, match="query must be"):
            w.query = 65
        assert w.query == 0
    finally:
        ipywidgets.Widget.close_all()
