"""Measuring for the explorers: what is stored agrees with the metrics on the same photo."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
import timm
import torch
from timm.models.vision_transformer import VisionTransformer

from helpers import attention_distance, attention_maps, load_images, load_model, receptive_field
from helpers.explore import full_size, stored

GIVEN = os.environ.get("BOOK_WEIGHTS", "")
weights_needed = pytest.mark.skipif(not GIVEN or not Path(GIVEN).is_dir(),
                                    reason="BOOK_WEIGHTS names no folder with the full-size weights")


def small(name: str, *, scale: str, trained: bool) -> torch.nn.Module:
    """A stand-in for a network of the zoo that takes photos at 224 px."""
    torch.manual_seed(0)
    if "resnet" in name:
        return timm.create_model("resnet10t", zero_init_last=False).eval()
    return VisionTransformer(img_size=224, patch_size=32, embed_dim=24, depth=2, num_heads=3).eval()


@pytest.fixture
def measured(tmp_path, monkeypatch):
    """The folder that measuring two small networks fills."""
    monkeypatch.setattr(full_size, "load_model", small)
    monkeypatch.setattr(full_size, "FREE_PHOTOS", "photos224")
    full_size.measure(tmp_path, {"vit": ("vit_ti16", True), "resnet": ("resnet50_v1", False)}, channels=4)
    return tmp_path


def test_stored_numbers_are_those_of_the_metrics(measured, monkeypatch):
    monkeypatch.setattr(stored, "FOLDER", measured)
    about, model = stored.networks(measured), small("vit_ti16", scale="paper", trained=True)
    images = load_images("photos224", model=model)
    np.testing.assert_allclose(about["vit"]["attention"]["distance"],
                               attention_distance(model, images, progress=False).pixels)
    assert "attention" not in about["resnet"] and about["vit"]["photos"] == list(stored.PHOTOS)
    with np.load(measured / "attention.vit.flower.npz") as kept:
        maps = attention_maps(model, images.at(torch.tensor([5])), progress=False).values[0]
        got = (kept["shares"] / full_size.LEVELS) ** 2 * kept["peaks"]
        assert (np.abs(got - maps[..., 1:]) <= 1.01 * kept["peaks"] / full_size.LEVELS).all()
    field = receptive_field(model, images, channels=4, before_skip=True, progress=False)
    part = stored.part_at(stored.address_of("field.vit"))["before"]
    np.testing.assert_allclose([layer["half"] for layer in part], field.radius(0.5))
    assert [layer["name"] for layer in about["vit"]["field"]["layers"]["before"]] == field.layers


def test_a_run_that_was_stopped_goes_on(measured, monkeypatch):
    kept = {path.name: path.read_bytes() for path in measured.iterdir()}
    (measured / "field.resnet.npz").unlink()
    monkeypatch.setattr(full_size, "row_codes", None)  # nothing of this is measured again
    full_size.measure(measured, {"vit": ("vit_ti16", True), "resnet": ("resnet50_v1", False)}, channels=4)
    assert json.loads(kept["about.json"]) == json.loads((measured / "about.json").read_text())
    assert {path.name for path in measured.iterdir()} == set(kept)


@weights_needed
@pytest.mark.parametrize("name", ["vit_ti16", "deit_ti16"])
def test_the_package_has_what_the_public_weights_say(name):
    model = load_model(name, scale="paper")
    images = load_images("photos224", model=model)
    assert full_size.predictions(model, images) == stored.networks()[name]["predictions"]
    maps = attention_maps(model, images.at(torch.tensor([2])), progress=False).values[0]
    with np.load(stored.FOLDER / f"attention.{name}.chelsea.npz") as kept:
        got = (kept["shares"] / full_size.LEVELS) ** 2 * kept["peaks"]
        assert (np.abs(got - maps[..., 1:]) <= 1.02 * kept["peaks"] / full_size.LEVELS + 1e-6).all()
