"""The explorer of receptive fields."""

from __future__ import annotations

import numpy as np
import pytest
import traitlets

from explorer_samples import unpacked
from helpers import (
    ReceptiveField,
    load_images,
    receptive_field,
)
from helpers.explore import field_explorer, stored

pytestmark = pytest.mark.usefixtures("book_build")

RNG = np.random.default_rng(0)


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


def test_fields_hold_the_numbers_and_maps_of_the_metric(lab_vit):
    images = load_images(n=1).tensor
    after = receptive_field(lab_vit, images, channels=2, progress=False)
    before = receptive_field(lab_vit, images, channels=2, before_skip=True, progress=False)
    w = field_explorer({"vit": {"after": after, "before": before}}, names={"vit": {"en": "Our ViT", "ko": "우리 ViT"}})
    assert (w.left, w.right, w.skip, w.about["skips"]) == ("vit", "vit", "after", ["after", "before"])
    entry = w.about["models"]["vit"]
    assert entry["name"]["ko"] == "우리 ViT"
    for where, result in (("after", after), ("before", before)):
        shown = entry["layers"][where]
        assert [layer["name"] for layer in shown] == result.layers
        np.testing.assert_allclose([layer["uniform"] for layer in shown], result.uniform_share)
        for key, values in (
            ("centre", result.centre_share),
            ("half", result.radius(0.5)),
            ("most", result.radius(0.9)),
        ):
            np.testing.assert_allclose([layer[key] for layer in w.parts["vit"][where]], values)
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


def test_full_size_networks_stand_beside_the_reader_s_own():
    w = field_explorer({"mine": {"after": made_field(), "before": made_field()}}, full_size=True, right="resnet50_v1")
    assert list(w.about["models"]) == ["mine", *stored.networks()]
    assert (w.left, w.right, w.about["skips"]) == ("mine", "resnet50_v1", ["after", "before"])
    part = stored.part_at(w.parts["resnet50_v1"])
    for where, layers in w.about["models"]["resnet50_v1"]["layers"].items():
        assert len(layers) == len(part[where]) == 16
        assert all(0 < layer["half"] < layer["most"] < 224 for layer in part[where])


def test_only_what_every_network_has_can_be_switched():
    assert field_explorer({"mine": made_field()}, full_size=True).about["skips"] == ["after"]
