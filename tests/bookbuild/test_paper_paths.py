"""Chapters at paper scale without the public weights: what takes the places of the public networks."""

from __future__ import annotations

import nbformat
import pytest
import torch
from PIL import Image

from bookbuild import paper_paths
from bookbuild.paths import ROOT
from helpers.inputs.photos import Photos, photos
from helpers.networks import zoo
from helpers.paper.networks import Network

PUBLIC = zoo.Entry("small ViT", "vit_tiny_patch16_224.augreg_in21k", "vit_cls")
SMALL = Network("small", "vit_tiny_patch16_224", {"img_size": 32, "patch_size": 8, "embed_dim": 24, "depth": 2})


def first_weights(model: torch.nn.Module) -> torch.Tensor:
    return next(p for name, p in model.named_parameters() if name.endswith("qkv.weight"))


def test_without_a_stand_in_the_architecture_gets_random_weights():
    trained, twin = (paper_paths.create({}, PUBLIC, pretrained) for pretrained in (True, False))
    assert len(trained.blocks) == 12 and trained.pretrained_cfg["mean"] == (0.5, 0.5, 0.5)
    assert not torch.equal(first_weights(trained), first_weights(twin))


def test_a_stand_in_is_prepared_as_the_public_network():
    twin = paper_paths.create({"vit": SMALL}, PUBLIC, pretrained=False)
    assert len(twin.blocks) == 2 and twin.pretrained_cfg["mean"] == (0.5, 0.5, 0.5)
    assert twin.pretrained_cfg["input_size"] == (3, 32, 32)
    cnn = zoo.Entry("ResNet", "resnet18.a1_in1k", "resnet")
    assert hasattr(paper_paths.create({"vit": SMALL}, cnn, pretrained=False), "layer4")


def test_operations_and_photos_are_counted(tmp_path, monkeypatch):
    Image.new("RGB", (8, 8)).save(tmp_path / "0.png")
    monkeypatch.setattr(Photos, "__getitem__", Photos.__getitem__)  # put back afterwards
    layer, x = torch.nn.Linear(5, 7), torch.randn(3, 5, requires_grad=True)
    with paper_paths.Counted() as counted:
        layer(x).sum().backward()  # forward, and gradients of the weights and of the input
        photos(tmp_path, paper_paths.create({}, PUBLIC, pretrained=False))[0]
    assert counted.flops == 3 * 2 * 3 * 5 * 7 and counted.photos == 1


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks" / "en").glob("[12]*.ipynb")), ids=lambda path: path.stem)
def test_a_chapter_that_measures_at_two_scales_has_one_switch(path):
    cells = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert not any("SCALE" in cell for cell in cells) or sum('SCALE = "lab"' in cell for cell in cells) == 1
    assert path.name < "16" or any("SCALE" in cell for cell in cells)
