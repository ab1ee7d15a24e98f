"""Networks of a run: untrained twins, and descriptions that cannot be meant."""

from __future__ import annotations

import torch

from helpers.paper.networks import Network, count_classes, find_networks, kind, read_spec
from paper_toys import VIT


def test_branches_of_untrained_twins_do_something():
    resnet = Network("r", "resnet18", {"channels": [4, 8, 8, 16]}).load(trained=False)
    assert all(float(block.bn2.weight.detach().abs().min()) > 0 for block in resnet.layer1)
    small = {key: value for key, value in VIT["options"].items() if key != "num_classes"}
    vit = Network("v", "deit3_small_patch16_224", small).load(trained=False)
    assert all((block.ls1.gamma == 1).all() and (block.ls2.gamma == 1).all() for block in vit.blocks)


def test_names_are_looked_up_in_the_description_first_then_in_the_zoo_then_in_timm(place):
    described, settings = read_spec(place / "spec.yml")
    found = find_networks(["toy_vit", "vit_b16", "resnet18"], described | {"resnet18": described["toy_cnn"]})
    assert found["toy_vit"].weights == place / "vit.safetensors" and settings["parts"] == 2
    assert found["vit_b16"].architecture == "vit_base_patch16_224.augreg_in21k"
    assert found["resnet18"] is described["toy_cnn"]
    assert find_networks(["resnet18"], {})["resnet18"] == Network("resnet18", "resnet18")


def test_the_kind_of_a_network(vit, mixer, resnet):
    assert [kind(model) for model in (vit, mixer, resnet)] == ["vit", "mixer", "cnn"]
    assert count_classes(vit) == 5 and count_classes(torch.nn.Identity()) == 0
