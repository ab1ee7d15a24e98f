"""How a network is built: what has attention maps and what is refused, with the reason."""

from __future__ import annotations

from functools import partial

import pytest
import timm
import torch
from torch import nn

from helpers import attention_distance, attention_maps, attention_rollout, head_similarity
from helpers.networks.anatomy import (
    block_index,
    block_indices,
    channels,
    feature_map,
    fixed_size,
    grid_of,
    has_class_token,
    normalisation,
    patch_embed,
    reads_images,
)


@pytest.mark.parametrize(("name", "options", "reason"), [
    ("swin_tiny_patch4_window7_224", {"embed_dim": 24, "depths": (1, 1), "num_heads": (2, 2)}, "inside windows"),
    ("cait_xxs24_224", {"depth": 1, "embed_dim": 24, "num_heads": 2}, "talking heads"),
    ("xcit_nano_12_p16_224", {"depth": 1}, "between channels"),
    ("resnet18", {}, "no attention between patches"),
    ("convnext_atto", {}, "no attention between patches"),
    ("samvit_base_patch16_224", {"depth": 1, "embed_dim": 24, "num_heads": 2}, "not built like.*num_prefix_tokens"),
    ("convit_tiny", {"depth": 1}, "not built like.*num_prefix_tokens"),
    ("tnt_s_patch16_224", {"depth": 1}, "not built like.*patch_embed"),
    ("crossvit_9_240", {"img_size": 224}, "not built like.*patch_embed"),
    ("pit_ti_224", {}, "not built like.*num_prefix_tokens"),
    ("hiera_tiny_224", {}, "not built like.*patch_embed"),
])
def test_models_without_a_map_are_refused_with_the_reason(name, options, reason):
    refuse_everywhere(timm.create_model(name, pretrained=False, **options), torch.randn(2, 3, 224, 224), reason)


def refuse_everywhere(model: nn.Module, x: torch.Tensor, reason: str) -> None:
    heads = partial(head_similarity, other=nn.Conv2d(3, 4, 3))
    for metric in (attention_distance, attention_maps, attention_rollout, heads):
        with pytest.raises(ValueError, match=reason):
            metric(model, x)


def test_a_mixer_another_vit_and_a_wrapped_vit_are_refused(vit, mixer, images):
    refuse_everywhere(mixer, images, "no attention between patches")
    torchvision = pytest.importorskip("torchvision")
    refuse_everywhere(torchvision.models.VisionTransformer(32, 8, 1, 2, 24, 48), images, "not built like timm's")
    refuse_everywhere(nn.DataParallel(vit), images, r"DataParallel wraps.*model\.module")


def test_what_a_network_reads(vit, resnet, mixer):
    assert [channels(model) for model in (vit, resnet, mixer)] == [3, 3, 3]
    assert channels(nn.Conv2d(3, 3, 1)) is None
    assert [fixed_size(model) for model in (vit, resnet, mixer)] == [(32, 32), None, (32, 32)]
    assert patch_embed(vit) is vit.patch_embed and patch_embed(mixer) is mixer.stem and patch_embed(resnet) is None
    assert reads_images(resnet) and not reads_images(nn.Linear(3, 3))
    vit.pretrained_cfg = {"mean": [0.5] * 3, "std": [0.25] * 3}
    assert normalisation(vit) == ((0.5,) * 3, (0.25,) * 3) and normalisation(nn.Identity()) is None


def test_the_grid_of_a_vit(vit, images):
    grid = grid_of(vit, images)
    assert (grid.rows, grid.columns, grid.prefix, grid.tokens) == (4, 4, 1, 17) and has_class_token(vit)
    assert grid.distances()[0, [0, 1, 4, 5]].tolist() == pytest.approx([0, 8, 8, 8 * 2**0.5])


def test_blocks_are_counted_from_either_end_and_named(vit):
    assert block_indices(vit, [0, -1, "blocks.1"]) == [0, 2, 1] and block_indices(vit, "blocks.2") == [2]
    for wrong in (3, -4, "blocks.3", 1.0, None):
        with pytest.raises(ValueError, match="the model has blocks 0 to 2"):
            block_index(vit, wrong)


def test_features_become_maps(vit, resnet, images):
    tokens = torch.arange(17.0)[None, :, None].expand(24, -1, 6)
    assert feature_map(tokens, vit, images, "x")[0, 0].flatten().tolist() == list(range(1, 17))
    assert feature_map(torch.zeros(24, 6, 8, 8), resnet, images, "x").shape == (24, 6, 8, 8)
    assert feature_map(torch.zeros(24, 8, 8, 6), resnet, images, "x").shape == (24, 6, 8, 8)
    with pytest.raises(ValueError, match="has no positions in the image"):
        feature_map(torch.zeros(24, 6), vit, images, "x")
