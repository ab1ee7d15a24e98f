"""Effective receptive fields: against convolved kernels, and against one backward pass per channel."""

from __future__ import annotations

import copy
import itertools

import matplotlib
import numpy as np
import pytest
import timm
import torch
from scipy.signal import convolve2d
from timm.models.vision_transformer import VisionTransformer
from torch import nn

from helpers import receptive_field, taps
from helpers.metrics.receptive import ReceptiveField

matplotlib.use("agg")


def one_by_one(model: nn.Module, layer: str, x: torch.Tensor, centre) -> np.ndarray:
    """Mean |gradient| from a plain loop over images and channels."""
    kept = {}
    handle = model.get_submodule(layer).register_forward_hook(lambda m, i, out: kept.__setitem__("y", out.clone()))
    maps = []
    for image in x:
        single = image[None].clone().requires_grad_()
        model(single)
        y = centre(kept["y"])[0]
        maps += [torch.autograd.grad(y[c], single, retain_graph=True)[0][0].abs().mean(0) for c in range(len(y))]
    handle.remove()
    return torch.stack(maps).mean(0).numpy()


def test_a_stack_of_linear_convolutions_gives_the_convolved_kernel():
    torch.manual_seed(0)
    stack = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(4, 5, 5, padding=2)).double()
    first, second = (conv.weight.detach().numpy() for conv in stack)
    kernels = [[sum(convolve2d(second[c, m], first[m, i]) for m in range(4)) for i in range(3)] for c in range(5)]
    result = receptive_field(stack, torch.randn(3, 3, 15, 15, dtype=torch.float64), ["0", "1"])
    assert np.allclose(result.maps[1, 4:11, 4:11], np.abs(kernels).mean((0, 1)), atol=1e-12)
    assert result.maps[1].sum() == pytest.approx(np.abs(kernels).mean((0, 1)).sum())
    assert np.allclose(result.maps[0, 6:9, 6:9], np.abs(first).mean((0, 1)))
    assert result.exact and result.channels == [4, 5] and result.grids == [(15, 15), (15, 15)]


def test_vit_blocks_equal_one_backward_pass_per_channel(vit, images):
    result = receptive_field(vit, images[:3], ["blocks.0", "blocks.2"], batch_size=2)
    centre = 1 + 2 * 4 + 2  # class token, then row 2 and column 2 of a 4×4 grid
    for i, layer in enumerate(result.layers):
        assert np.allclose(result.maps[i], one_by_one(vit, layer, images[:3], lambda y: y[:, centre]), atol=1e-6)


def test_in_place_operations_after_a_tap_do_not_reach_back(resnet, images):
    names = ["layer1.0.bn1", "layer1.0.bn2", "layer2.0"]
    result = receptive_field(resnet, images[:2], names)
    assert result.layers == names
    for i, layer in enumerate(names):
        pick = lambda y: y[:, :, y.shape[2] // 2, y.shape[3] // 2]
        assert np.allclose(result.maps[i], one_by_one(resnet, layer, images[:2], pick), atol=1e-6)


def test_mixer_and_bit_run(mixer, bit, images):
    for model in (mixer, bit):
        result = receptive_field(model, images[:2], channels=3)
        assert result.layers == taps(model) and np.isfinite(result.maps).all() and (result.maps.sum((1, 2)) > 0).all()


def test_sampled_channels_are_a_sample_and_it_says_so(vit, images):
    sampled, exact = receptive_field(vit, images[:2], channels=6), receptive_field(vit, images[:2])
    assert not sampled.exact and sampled.channels == [6, 6, 6] and "6 sampled channels" in repr(sampled)
    assert exact.exact and exact.channels == [24, 24, 24] and "all channels" in repr(exact)
    assert receptive_field(vit, images[:2], channels=99).exact
    assert np.corrcoef(sampled.maps.ravel(), exact.maps.ravel())[0, 1] > 0.9
    with pytest.raises(ValueError, match="at least one channel"):
        receptive_field(vit, images[:2], channels=0)


def test_before_the_skip(vit, bit, resnet, images):
    x = images[:2]
    branches = receptive_field(vit, x, before_skip=True, channels=4)
    assert branches.layers == [f"blocks.{i}.{kind}_out" for i in range(3) for kind in ("attn", "mlp")]
    named = receptive_field(vit, x, ["blocks.1.after_attn"], before_skip=True, channels=4)
    assert named.layers == ["blocks.1.attn_out"] and np.allclose(named.maps[0], branches.maps[2])
    assert receptive_field(bit, x, before_skip=True, channels=2).layers[0] == "stages.0.blocks.0.conv3"
    assert receptive_field(resnet, x, before_skip=True, channels=2).layers[0] == "layer1.0.bn2"
    with pytest.raises(ValueError, match=r"not a residual sum.*blocks\.0\.after_attn"):
        receptive_field(vit, x, ["blocks.1.norm1"], before_skip=True)


def field(values: np.ndarray, grid: tuple[int, int]) -> ReceptiveField:
    return ReceptiveField(values[None], ["layer"], [grid], [1], True, 1)


def test_summaries_of_maps_that_are_known():
    point = np.zeros((28, 28))
    point[13:15, 13:15] = 1  # the centre of a 7×7 grid of 4-pixel cells is rows and columns 12 to 15
    assert field(point, (7, 7)).centre_share == pytest.approx([1])
    assert field(point, (7, 7)).radius(0.9) == pytest.approx([np.sqrt(0.5)])
    assert field(point, (7, 7)).participation == pytest.approx([4 / 784])
    flat = field(np.ones((28, 28)), (7, 7))
    assert flat.centre_share == pytest.approx([1 / 49]) == flat.uniform_share
    assert flat.participation == pytest.approx([1])
    assert flat.radius(0.5)[0] == pytest.approx(np.sqrt(0.5 * 784 / np.pi), abs=0.5)
    with pytest.raises(ValueError, match="between 0 and 1"):
        flat.radius(50)


def small(name: str, **options) -> nn.Module:
    torch.manual_seed(0)
    return timm.create_model(name, pretrained=False, img_size=64, **options).requires_grad_(False).eval()


@pytest.mark.parametrize(("name", "options", "layers"), [
    ("swin_tiny_patch4_window7_224", {"embed_dim": 24, "depths": (1, 1), "num_heads": (2, 2), "window_size": 4},
     {"patch_embed.proj": (16, 16, False), "patch_embed": (16, 16, True), "layers.1.blocks.0": (8, 8, True)}),
    ("samvit_base_patch16_224", {"depth": 1, "embed_dim": 24, "num_heads": 2},
     {"patch_embed.proj": (4, 4, False), "patch_embed": (4, 4, True), "blocks.0": (4, 4, True)}),
])
def test_channels_may_come_last(name, options, layers):
    model, x = small(name, **options), torch.randn(1, 3, 64, 64)
    result = receptive_field(model, x, list(layers))
    for i, (rows, columns, last) in enumerate(layers[layer] for layer in result.layers):
        middle = (slice(None), rows // 2, columns // 2)
        pick = lambda y, at=middle, last=last: y[at] if last else y.movedim(1, -1)[at]
        assert result.grids[i] == (rows, columns)
        assert np.allclose(result.maps[i], one_by_one(model, result.layers[i], x, pick), atol=1e-6)


def test_the_channels_of_images_that_are_not_square(bit):
    vit = VisionTransformer(img_size=32, patch_size=8, embed_dim=24, depth=1, num_heads=3, dynamic_img_size=True)
    x = torch.randn(1, 3, 24, 56)
    assert receptive_field(vit, x, ["patch_embed", "blocks.0"], channels=1).grids == [(3, 7), (3, 7)]
    assert receptive_field(bit, torch.randn(1, 3, 30, 52), channels=1).grids[0] == (8, 13)


def test_attention_is_no_feature_map(vit, images):
    vit = copy.deepcopy(vit)
    for block in vit.blocks:
        block.attn.fused_attn = False
    with pytest.raises(ValueError, match=r"attn_drop' has shape \(1, 3, 17, 17\): that is attention, \[n, heads"):
        receptive_field(vit, images[:1], ["blocks.0.attn.attn_drop"])


def test_layers_whose_positions_are_not_known(vit, images):
    xcit = small("xcit_nano_12_p16_224", depth=1)
    with pytest.raises(ValueError, match=r"'blocks\.0' has shape \(1, 16, 128\).*not known in Xcit"):
        receptive_field(xcit, torch.randn(1, 3, 64, 64), ["blocks.0"])
    with pytest.raises(ValueError, match=r"q_norm' has shape \(1, 3, 17, 8\).*32×32 px it cannot be told"):
        receptive_field(vit, images[:1], ["blocks.0.attn.q_norm"])
    swin = small("swin_tiny_patch4_window7_224", embed_dim=16, depths=(1,), num_heads=(2,), window_size=4)
    with pytest.raises(ValueError, match=r"\(1, 16, 16, 16\).*cannot be told"):  # as many channels as columns
        receptive_field(swin, torch.randn(1, 3, 64, 64), ["patch_embed"])
    with pytest.raises(ValueError, match=r"attn' gives 16 rows for one image"):  # sixteen windows, not sixteen images
        receptive_field(swin, torch.randn(1, 3, 64, 64), ["layers.0.blocks.0.attn"])


def test_layers_without_positions_and_wrong_images(vit, images):
    with pytest.raises(ValueError, match=r"'head' has shape \(1, 5\).*no positions"):
        receptive_field(vit, images[:1], ["head"])
    with pytest.raises(ValueError, match="no images"):
        receptive_field(vit, images[:0])
    with pytest.raises(ValueError, match="nearest names"):
        receptive_field(vit, images[:1], ["block.0"])


def test_channels_that_are_off_are_pointed_out(resnet, images):
    with torch.no_grad():
        resnet.bn1.bias.fill_(-100)  # the ReLU that follows lets nothing through
    with pytest.warns(UserWarning, match=r"no gradient.*'act1'"):
        result = receptive_field(resnet, images[:1], ["conv1", "act1"])
    assert np.isfinite(result.radius()[0]) and np.isnan(result.radius()[1]) and np.isnan(result.centre_share[1])


@pytest.mark.parametrize(("model_there", "images_there"), list(itertools.product([False, True], repeat=2)))
def test_a_resnet_on_an_accelerator(resnet, images, accelerator, model_there, images_there):
    expected = receptive_field(resnet, images[:2], channels=2, device="cpu").maps
    model = resnet.requires_grad_(False).to(accelerator) if model_there else resnet
    source = images[:2].to(accelerator) if images_there else images[:2]
    assert np.allclose(receptive_field(model, source, channels=2, device=accelerator).maps, expected, atol=1e-5)


def test_results_can_be_tabled_and_drawn(vit, images):
    result = receptive_field(vit, images[:1], channels=2)
    assert list(result.to_frame()["layer"]) == taps(vit) and len(result.plot()) == 3


def test_a_classifier_at_the_end_is_left_out_of_what_nobody_chose(images):
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2))
    with pytest.warns(UserWarning, match="no positions in the image: 4"):
        assert receptive_field(model, images[:2]).layers == ["0", "1", "2"]


def test_tokens_in_blocks_are_no_map():
    model = timm.create_model("nest_tiny", img_size=64)
    with pytest.raises(ValueError, match="stand in blocks"):
        receptive_field(model, torch.randn(1, 3, 64, 64), ["levels.0.transformer_encoder.0"], channels=1)


def test_a_map_as_wide_as_there_are_patches_is_not_taken_for_attention():
    model = timm.create_model("vitamin_small_224", img_size=64)
    layer = "patch_embed.backbone.stages.0.0"
    assert receptive_field(model, torch.randn(1, 3, 64, 64), [layer], channels=1).layers == [layer]


def test_another_default_device_changes_nothing(vit, images, simulated):
    expected = receptive_field(vit, images[:2], channels=2, device="cpu").maps
    torch.set_default_device(simulated)
    try:
        found = receptive_field(vit, images[:2], channels=2, device="cpu").maps
    finally:
        torch.set_default_device(None)
    assert np.allclose(found, expected)
