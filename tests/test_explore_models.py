"""Explorers of models from Python: the page gets what the metrics say, and wrong input is refused with a reason."""

from __future__ import annotations

import ipywidgets
import numpy as np
import pytest
import torch
import traitlets
from sklearn.decomposition import PCA
from sklearn.metrics.pairwise import cosine_similarity
from timm.models.vision_transformer import VisionTransformer

from helpers import (
    AttentionDistance,
    Localization,
    ReceptiveField,
    attention_distance,
    attention_maps,
    load_images,
    load_model,
    probe,
    receptive_field,
)
from helpers.explore import attention, attention_explorer, field_explorer, posembed_explorer, token_explorer
from helpers.lab.architectures import build as build_model

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def book_build(monkeypatch):
    monkeypatch.setenv("BOOK_STATIC", "1")


@pytest.fixture(scope="module")
def vit():
    return load_model("vit_cls", trained=False)


def unpacked(packed: dict) -> np.ndarray:
    """What `unpack` in parts.js reads."""
    codes = np.frombuffer(packed["data"], "<u2" if packed["bytes"] == 2 else np.uint8).reshape(packed["shape"])
    return packed["low"] + packed["step"] * codes.astype(float)


def small_vit(**options) -> VisionTransformer:
    """A narrow ViT on the 14×14 grid of the papers."""
    return VisionTransformer(img_size=224, patch_size=16, embed_dim=24, depth=2, num_heads=3, **options).eval()


# --- attention --------------------------------------------------------------------------------------------------------


def test_attention_parts_hold_the_maps_and_the_pictures(vit):
    images = load_images(n=3)
    w = attention_explorer(vit, images)
    assert list(w.parts) == ["0", "1", "2"]
    maps = attention_maps(vit, images, progress=False)
    for i, part in enumerate(w.parts.values()):
        patches, peaks = maps.values[i][..., 1:], maps.values[i][..., 1:].max(-1, keepdims=True)
        np.testing.assert_allclose(unpacked(part["onPrefix"]), maps.values[i][..., :1], atol=5.1e-5)
        got = unpacked(part["shares"]) / 255 * unpacked(part["peaks"])
        assert (np.abs(got - patches) <= peaks / 510 + 5.1e-5).all()
        np.testing.assert_array_equal(unpacked(part["pixels"]), images.raw[i].permute(1, 2, 0))
    assert w.about["images"][1] == {"en": "1 · automobile", "ko": "1 · automobile"}


def test_attention_distances_are_those_of_the_metric_or_the_ones_given(vit):
    images = load_images(n=2)
    own = attention_explorer(vit, images).about
    measured = attention_distance(vit, images, progress=False)
    np.testing.assert_allclose(own["distance"], measured.pixels)
    np.testing.assert_allclose(own["onPrefix"], measured.cls_mass)
    assert (own["uniform"], own["measured"]) == (pytest.approx(measured.uniform), 2)
    more = attention_distance(vit, load_images(n=5), progress=False)
    assert attention_explorer(vit, images, distance=more).about["measured"] == 5


def test_attention_without_a_class_token_and_on_a_larger_grid():
    x = torch.randn(1, 3, 224, 224, generator=torch.Generator().manual_seed(0))
    w = attention_explorer(small_vit(class_token=False, global_pool="avg"), x, names=[{"en": "noise", "ko": "잡음"}])
    assert "onPrefix" not in w.parts["0"]
    assert (w.about["grid"], w.about["prefix"], w.query) == ([14, 14], 0, 7 * 14 + 7)
    registers = attention_explorer(small_vit(reg_tokens=2), x)
    assert registers.parts["0"]["onPrefix"]["shape"] == [2, 3, 199, 3]


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
def test_attention_refuses_what_is_not_there(vit, arguments, message):
    with pytest.raises(traitlets.TraitError, match=message):
        attention_explorer(vit, load_images(n=2), **arguments)


def test_attention_says_what_is_wrong_with_its_data(vit, monkeypatch):
    images = load_images(n=2)
    with pytest.raises(ValueError, match="no attention between patches"):
        attention_explorer(load_model("resnet", trained=False), images)
    with pytest.raises(ValueError, match="1 names for 2 images"):
        attention_explorer(vit, images, names=["one"])
    other = AttentionDistance(np.ones((4, 8)), np.ones((4, 8)), np.ones((4, 8)), 16.0, (8, 8), 2)
    with pytest.raises(ValueError, match=r"distance has \(4, 8\) layers and heads .* the model has \(6, 8\)"):
        attention_explorer(vit, images, distance=other)
    monkeypatch.setattr(attention, "MOST_BYTES", 250_000)
    with pytest.raises(ValueError, match="attention of 2 images takes 0 MB: pass at most 1"):
        attention_explorer(vit, images)


def test_a_live_attention_explorer_is_read_and_set(vit, monkeypatch):
    monkeypatch.delenv("BOOK_STATIC")
    try:
        w = attention_explorer(vit, load_images(n=1), layer=1, head=3, query=0)
        w.layer, w.head, w.view = np.int64(5), "mean", "rollout"
        assert (w.layer, w.head, w.query, w.view) == (5, "mean", 0, "rollout")
        with pytest.raises(traitlets.TraitError, match="query must be"):
            w.query = 65
        assert w.query == 0
    finally:
        ipywidgets.Widget.close_all()


# --- receptive fields -------------------------------------------------------------------------------------------------


def made_field(side: int = 32, layers: int = 3, **changes) -> ReceptiveField:
    values = dict(
        maps=RNG.random((layers, side, side)),
        layers=[f"blocks.{i}" for i in range(layers)],
        grids=[(8, 8)] * layers,
        channels=[1] * layers,
        exact=False,
        n_images=1,
    )
    return ReceptiveField(**values | changes)


def test_fields_hold_the_numbers_and_maps_of_the_metric(vit):
    images = load_images(n=1).tensor
    after = receptive_field(vit, images, channels=2, progress=False)
    before = receptive_field(vit, images, channels=2, before_skip=True, progress=False)
    w = field_explorer({"vit": {"after": after, "before": before}}, names={"vit": {"en": "Our ViT", "ko": "우리 ViT"}})
    assert (w.left, w.right, w.skip, w.about["skips"]) == ("vit", "vit", "after", ["after", "before"])
    entry = w.about["models"]["vit"]
    assert entry["name"]["ko"] == "우리 ViT"
    for where, result in (("after", after), ("before", before)):
        shown = entry["layers"][where]
        assert [layer["name"] for layer in shown] == result.layers
        for key, values in (
            ("centre", result.centre_share),
            ("uniform", result.uniform_share),
            ("half", result.radius(0.5)),
            ("most", result.radius(0.9)),
        ):
            np.testing.assert_allclose([layer[key] for layer in shown], values)
        for picture, share in zip(w.parts["vit"][where], result.shares, strict=True):
            got = (unpacked(picture["map"]) / 255) ** 2 * picture["peak"] / share.size
            np.testing.assert_allclose(got, share, atol=share.max() / 250)


def test_large_fields_are_averaged_and_keep_their_mass():
    result = made_field(224, 1)
    picture = field_explorer({"a": result}).parts["a"]["after"][0]
    got = (unpacked(picture["map"]) / 255) ** 2 * picture["peak"]
    assert got.shape == (56, 56)
    assert got.mean() == pytest.approx(1, abs=0.01)
    assert got[3, 5] == pytest.approx(result.shares[0, 12:16, 20:24].mean() * 224**2, rel=0.02)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "there is no network"),
        ({"a": {"inside": made_field()}}, "'a' must be a result of receptive_field, or {'after'"),
        ({"a": 3}, "'a' must be a result of receptive_field"),
        ({"a": made_field(), "b": {"after": made_field(), "before": made_field()}}, r"'b' has \['after', 'before'\]"),
        ({"a": made_field(maps=np.zeros((3, 32, 32)))}, "'a': no gradient reaches the input from layer 'blocks.0'"),
    ],
)
def test_fields_refuse_what_cannot_be_shown(fields, message):
    with pytest.raises(ValueError, match=message):
        field_explorer(fields)


def test_fields_refuse_unknown_networks_and_depths():
    with pytest.raises(traitlets.TraitError, match="right must be one of 'ViT', but it is 'Vit'; did you mean 'ViT'"):
        field_explorer({"ViT": made_field()}, right="Vit")
    with pytest.raises(traitlets.TraitError, match="depth must be a number from 0 to 1, but it is 2"):
        field_explorer({"ViT": made_field()}, depth=2)
    with pytest.raises(traitlets.TraitError, match="skip must be one of 'after', but it is 'before'"):
        field_explorer({"ViT": made_field()}, skip="before")


# --- tokens -----------------------------------------------------------------------------------------------------------


def made_map(rows: int = 3, columns: int = 3, layer: str = "blocks.0") -> Localization:
    return Localization(RNG.random((rows * columns, rows, columns)), layer, 16)


def made_probe(*shape: int):
    """A real probe on features that are partly noise."""
    labels = np.arange(24) % 3
    features = RNG.normal(size=(24, *shape, 4)) + labels.reshape(-1, *[1] * (len(shape) + 1))
    return probe(features[:12], labels[:12], features[12:], labels[12:])


def test_tokens_hold_the_maps_and_the_accuracies():
    maps = {"ViT": [made_map(), made_map(layer="blocks.1")], "ResNet": made_map(2, 2, "layer4.2")}
    probes = {"ViT": {"token": made_probe(2, 9), "[CLS]": made_probe(2)}, "ResNet": {"token": made_probe(3, 4)}}
    w = token_explorer(maps, probes, names={"[CLS]": {"en": "[CLS]", "ko": "[CLS] 토큰"}})
    assert (w.token, w.depth, w.view) == (4, 1, "similarity")
    for packed, result in zip(w.parts["ViT"]["maps"], maps["ViT"], strict=True):
        np.testing.assert_allclose(unpacked(packed), result.maps, atol=5.1e-4)
    accuracy = unpacked(w.parts["ResNet"]["probes"]["token"])
    np.testing.assert_allclose(accuracy, probes["ResNet"]["token"].accuracy, atol=5.1e-4)
    assert w.about["models"]["ViT"]["lines"] == {"[CLS]": {"en": "[CLS]", "ko": "[CLS] 토큰"}}
    assert w.about["models"]["ResNet"]["chance"] == pytest.approx(1 / 3)


def test_tokens_work_without_probes():
    w = token_explorer({"ViT": made_map()})
    with pytest.raises(traitlets.TraitError, match="view must be one of 'similarity', but it is 'probe'"):
        w.view = "probe"
    with pytest.raises(traitlets.TraitError, match="token must be a whole number from 0 to 8, but it is 9"):
        w.token = 9


@pytest.mark.parametrize(
    ("maps", "probes", "message"),
    [
        ({}, None, "there is no network"),
        ({"a": []}, None, "there is no network, or one without layers"),
        ({"a": [np.ones((9, 3, 3))]}, None, "'a' must be a result of localization"),
        ({"a": [made_map(), made_map(2, 2, "x")]}, None, r"'a': layer 'x' has a grid \(2, 2\)"),
        ({"a": Localization(np.full((4, 2, 2), np.nan), "x", 8)}, None, "layer 'x' has tokens or patches that never"),
        ({"a": made_map()}, {"b": {}}, "probes has 'b', but maps has only 'a'"),
        ({"a": made_map()}, {}, "probes has no \"token\" for 'a'"),
        ({"a": made_map()}, {"a": {"token": made_probe(2, 4)}}, r"shape \(2, 4\); expected \[layers, 9\]"),
        ({"a": made_map()}, {"a": {"token": made_probe(2, 9), "mean": made_probe(3)}}, r"of 'a' has shape \(3,\)"),
    ],
)
def test_tokens_refuse_what_does_not_fit(maps, probes, message):
    with pytest.raises(ValueError, match=message):
        token_explorer(maps, probes)


# --- position embeddings and patch filters ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options", [{}, {"no_embed_class": True}, {"reg_tokens": 2}, {"class_token": False, "global_pool": "avg"}]
)
def test_cosines_are_those_of_the_patches(options):
    model = small_vit(**options)
    w = posembed_explorer(model)
    table = model.pos_embed[0, -196:].detach().numpy()
    np.testing.assert_allclose(unpacked(w.parts["ViT"]["cosines"]), cosine_similarity(table), atol=5.1e-4)
    assert (w.model, w.position) == ("ViT", 7 * 14 + 7)


def test_filters_are_principal_components(vit):
    part = posembed_explorer({"a": vit}).parts["a"]
    weights = vit.patch_embed.proj.weight.detach().double().flatten(1).numpy()
    reference = PCA(28).fit(weights)
    np.testing.assert_allclose(part["shares"], reference.explained_variance_ratio_, rtol=1e-6)
    pictures = unpacked(part["filters"])
    assert pictures.shape == (28, 4, 4, 3)
    for picture, component in zip(pictures, reference.components_, strict=True):
        image = component.reshape(3, 4, 4).transpose(1, 2, 0)
        assert abs(np.corrcoef(picture.ravel(), image.ravel())[0, 1]) > 0.9999
        assert (picture.min(), picture.max()) == (0, 255)


def test_tables_of_the_ablation_and_models_without_patch_filters():
    own = build_model("vit", 0, positions="2d")
    table = own.blocks[0].position()[1:].detach().numpy()
    cosines = unpacked(posembed_explorer(own).parts["ViT"]["cosines"])
    np.testing.assert_allclose(cosines, cosine_similarity(table), atol=5.1e-4)
    assert "filters" not in posembed_explorer(build_model("vit", 0, stem="conv")).parts["ViT"]


@pytest.mark.parametrize("kind", ["relative", "mixer"])
def test_models_without_a_table_of_positions_are_refused(kind):
    model = build_model("mixer", 0) if kind == "mixer" else build_model("vit", 0, positions=kind)
    with pytest.raises(ValueError, match="has no table of position embeddings"):
        posembed_explorer(model)


def test_posembed_refuses_unknown_models_and_positions(vit):
    with pytest.raises(ValueError, match="there is no model"):
        posembed_explorer({})
    with pytest.raises(traitlets.TraitError, match="model must be one of 'ours', but it is 'our'"):
        posembed_explorer({"ours": vit}, model="our")
    with pytest.raises(traitlets.TraitError, match="position must be a whole number from 0 to 63, but it is 64"):
        posembed_explorer({"ours": vit}, position=64)
