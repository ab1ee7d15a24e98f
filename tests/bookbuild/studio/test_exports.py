"""What is exported, and what is refused; whether the files compute the same is asked in tests/browser."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from bookbuild.studio.exports import export, rounded
from bookbuild.studio.files import NETWORKS, network_key
from bookbuild.studio.onnx_file import OPSET
from helpers import load_images, load_model
from helpers.lab import architectures
from helpers.metrics.surgery import without_skip
from onnx_reader import read

MOST_BYTES = 1_600_000


@pytest.mark.parametrize("name", NETWORKS)
def test_a_file_is_small_and_complete(name):
    model = load_model(name)
    exported = export(model)
    assert 2 * sum(p.numel() for p in model.parameters()) < len(exported.file) < MOST_BYTES
    whole = read(exported.file)
    assert read(whole[8][0])[2] == [OPSET]
    graph = read(whole[7][0])
    assert all(9 in read(tensor) and 14 not in read(tensor) for tensor in graph[5])  # data here, none elsewhere
    inputs, outputs = ([read(info)[1][0].decode() for info in graph[field]] for field in (11, 12))
    vit = hasattr(model, "pos_embed")
    assert sorted(inputs) == sorted(["image", "skips", *(["positions"] if vit else [])])
    assert sorted(outputs) == sorted(["lens", "features", "ratios", *(["attention"] if vit else [])])
    assert (exported.heads > 0) == exported.positions == vit


def test_shapes_are_those_of_the_network():
    vit, resnet = export(load_model("vit_cls")), export(load_model("resnet"))
    assert vit.blocks == [[65, 96]] * 6 and vit.prefix == 1 and vit.heads == 8
    assert [shape[1] for shape in resnet.blocks] == [32] * 3 + [16] * 3 + [8] * 3
    assert "file" not in vit.about() and vit.about()["prefix"] == 1


@pytest.mark.parametrize("name", NETWORKS)
def test_shipped_weights_fit_the_file(name):
    model, same = load_model(name), rounded(load_model(name))
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), same.parameters(), strict=True))


@pytest.mark.parametrize("name", NETWORKS)
def test_rounding_an_untrained_network_changes_no_answer(name):
    x = load_images(n=200).tensor
    with torch.no_grad():
        exact = load_model(name, trained=False)(x)
        near = rounded(load_model(name, trained=False))(x)
    assert torch.equal(exact.argmax(1), near.argmax(1))
    assert (exact.softmax(1) - near.softmax(1)).abs().max() < 1e-4


@pytest.mark.parametrize(("network", "what"), [
    (lambda: nn.Linear(2, 2), "not a Linear"),
    (lambda: load_model("vit_masked"), "not a MaskedViT"),
    (lambda: without_skip(load_model("vit_cls", trained=False), 2), "NoSkipBlock"),
    (lambda: without_skip(load_model("mixer", trained=False), 2), "NoSkipMixerBlock"),
    (lambda: architectures.build("vit", 0, positions="relative"), "learned positions"),
    (lambda: architectures.build("vit", 0, positions="none"), "learned positions"),
])
def test_other_networks_are_refused(network, what):
    with pytest.raises(ValueError, match=what):
        export(network())


def test_names_of_files():
    assert network_key("resnet", True) == "resnet" and network_key("resnet", False) == "resnet-untrained"
