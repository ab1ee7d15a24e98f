"""Blocks are found by structure: sums and siblings decide, whatever the classes are called."""

from __future__ import annotations

import pytest
import timm
import torch
import torchvision
from torch import nn

from benchmarks.hand_written import HandWrittenViT
from helpers import features, taps
from helpers.networks.blocks import covered_share, outer_blocks
from helpers.networks.trace import trace

SMALL = torch.zeros(1, 3, 64, 64)


@pytest.mark.parametrize(("name", "n", "first"), [
    ("volo_d1_224", 20, "network.0.0"),
    ("swiftformer_xs", 16, "stages.0.blocks.0"),
    ("shvit_s1", 11, "stages.0.blocks.0"),
    ("fasternet_t0", 13, "stages.0.blocks.0"),
    ("efficientnet_b0", 16, "blocks.0.0"),
    ("mobilenetv3_small_050", 12, "blocks.0.0"),
    ("mobilenetv4_conv_small", 17, "blocks.0.0"),
    ("tiny_vit_5m_224", 12, "stages.0.blocks.0"),
    ("gcvit_xxtiny", 12, "stages.0.blocks.0"),
    ("skresnet18", 8, "layer1.0"),
    ("dla34", 12, "level2.tree1"),
    ("lcnetv2_small", 10, "stages.0.0"),
    ("nest_tiny", 12, "levels.0.transformer_encoder.0"),
    ("efficientvit_m0", 6, "stages.0.blocks.0"),
    ("fastvit_t8", 10, "stages.0.blocks.0"),
])
def test_blocks_of_a_family(name, n, first):
    with torch.device("meta"):
        model = timm.create_model(name, pretrained=False)
    found = taps(model.to_empty(device="cpu").apply(_zeroed))
    assert (len(found), found[0]) == (n, first)


def _zeroed(module: nn.Module) -> None:
    """Weights that take no time to make: where the blocks are depends on no value."""
    for tensor in [*module.parameters(recurse=False), *module.buffers(recurse=False)]:
        tensor.data.zero_()


def test_blocks_of_a_hand_written_vit_are_its_layers():
    assert taps(HandWrittenViT(depth=3), images=SMALL) == [f"encoder.layer.{i}" for i in range(3)]


class Adds(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.f = nn.Sequential(nn.Conv2d(4, 4, 1), nn.ReLU(), nn.Conv2d(4, 4, 1))

    def forward(self, x):
        return x + self.f(x)


def test_blocks_between_single_layers_and_one_block_alone():
    model = nn.Sequential(nn.Conv2d(3, 4, 1), Adds(), nn.MaxPool2d(2), Adds(), nn.Flatten(), nn.LazyLinear(2))
    model(SMALL)
    assert taps(model, images=SMALL) == ["1", "3"]
    assert taps(nn.Sequential(nn.Conv2d(3, 4, 1), Adds(), nn.Conv2d(4, 4, 1)), images=SMALL) == ["1"]


def test_without_sums_repeated_parts_are_blocks_and_branches_are_not():
    model = torchvision.models.googlenet(weights=None, aux_logits=False, init_weights=False)
    assert taps(model, images=SMALL)[:2] == ["inception3a", "inception3b"] and len(taps(model, images=SMALL)) == 9


def test_a_position_embedding_is_no_residual_sum(vit):
    assert trace(vit, None).sums == {"blocks.0", "blocks.1", "blocks.2"}


def test_the_share_of_the_parameters_in_blocks():
    model = nn.Sequential(nn.Conv2d(3, 4, 1), Adds(), Adds())
    assert covered_share(model, outer_blocks(model, trace(model, SMALL))) == pytest.approx(80 / 96)


def test_of_several_tensors_the_one_with_a_row_for_each_image_is_read():
    class Both(nn.Module):
        def forward(self, x):
            return x.reshape(-1, 2), x

    x = torch.randn(5, 8)
    assert torch.equal(features(nn.Sequential(Both()), x, "0"), x)
