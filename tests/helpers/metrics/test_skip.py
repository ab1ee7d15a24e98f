"""Norm ratios on blocks made by hand and on real ones, and blocks without their skips."""

from __future__ import annotations

import copy
import itertools

import matplotlib
import numpy as np
import pytest
import timm
import torch
from timm.models.vision_transformer import VisionTransformer
from torch import nn

from helpers import norm_ratio
from helpers.explore.skip import curves_of
from helpers.metrics.skip import branches

matplotlib.use("agg")


def test_a_block_made_by_hand(images):
    """With f(z) = c·z for the MLP branch, ratio is 1/c and both cosines are 1; attention adds a constant vector."""

    class Scaled(nn.Module):
        def __init__(self, factor: float) -> None:
            super().__init__()
            self.factor = nn.Parameter(torch.tensor(factor))
            self.fc2 = nn.Identity()

        def forward(self, x, **_):
            return self.fc2(x * self.factor)

    model = VisionTransformer(img_size=32, patch_size=8, embed_dim=24, depth=1, num_heads=3, num_classes=2).eval()
    block = model.blocks[0]
    block.norm1, block.norm2 = Scaled(1.0), Scaled(1.0)  # no normalisation, so that f is known
    block.attn, block.mlp = Scaled(-0.5), Scaled(0.25)
    result = norm_ratio(model, images)
    assert np.allclose(result.attn, 2) and np.allclose(result.mlp, 4)
    assert np.allclose(result.cosine_branch["attn"], -1, atol=1e-5)
    assert np.allclose(result.cosine_sum["attn"], 1, atol=1e-5)
    assert np.allclose(result.cosine_branch["mlp"], 1, atol=1e-5) and result.attn.shape == (1, 17)


def test_a_vit_token_by_token_with_layer_scale_inside(vit, images):
    result = norm_ratio(vit, images, batch_size=7)
    with torch.no_grad():
        z = vit.norm_pre(vit.patch_drop(vit._pos_embed(vit.patch_embed(images))))
        for depth, block in enumerate(vit.blocks):
            f = block.ls1(block.attn(block.norm1(z)))
            assert np.allclose(result.attn[depth], (z.norm(dim=-1) / f.norm(dim=-1)).mean(0), rtol=1e-4)
            cosine = nn.functional.cosine_similarity(z, z + f, dim=-1).mean(0)
            assert np.allclose(result.cosine_sum["attn"][depth], cosine, atol=1e-5)
            z = z + f
            f = block.ls2(block.mlp(block.norm2(z)))
            assert np.allclose(result.mlp[depth], (z.norm(dim=-1) / f.norm(dim=-1)).mean(0), rtol=1e-4)
            cosine = nn.functional.cosine_similarity(z, f, dim=-1).mean(0)
            assert np.allclose(result.cosine_branch["mlp"][depth], cosine, atol=1e-5)
            z = z + f
    assert np.allclose(result.cls["attn"], result.attn[:, 0])
    assert np.allclose(result.spatial["mlp"], result.mlp[:, 1:].mean(1)) and result.n_images == 24


def test_bit_uses_the_projected_shortcut(bit, images):
    result = norm_ratio(bit, images)
    with torch.no_grad():
        z = bit.stem(images)
        expected = []
        for block in (block for stage in bit.stages for block in stage.blocks):
            normed = block.norm1(z)
            skip = z if block.downsample is None else block.downsample(normed)
            f = block.conv3(block.norm3(block.conv2(block.norm2(block.conv1(normed)))))
            expected.append((skip.norm(dim=1) / f.norm(dim=1)).mean())
            z = skip + f
    assert np.allclose(result.blocks, expected, rtol=1e-4)
    assert result.spatial.keys() == {"conv"}
    with pytest.raises(ValueError, match="no class token"):
        _ = result.cls


def test_resnet_reads_the_branch_before_the_in_place_sum(resnet, images):
    result = norm_ratio(resnet, images)
    with torch.no_grad():
        z = resnet.maxpool(resnet.act1(resnet.bn1(resnet.conv1(images))))
        expected = []
        for block in (block for i in range(1, 5) for block in getattr(resnet, f"layer{i}")):
            skip = z if block.downsample is None else block.downsample(z)
            f = block.bn2(block.conv2(block.act1(block.bn1(block.conv1(z)))))
            expected.append((skip.norm(dim=1) / f.norm(dim=1)).mean())
            z = block.act2(skip + f)
    assert np.allclose(result.blocks, expected, rtol=1e-4)


def test_a_branch_that_adds_nothing_is_named(resnet, images):
    torch.nn.init.zeros_(resnet.layer2[0].bn2.weight)
    torch.nn.init.zeros_(resnet.layer2[0].bn2.bias)
    with pytest.warns(UserWarning, match=r"infinite ratio: layer2\.0\.bn2 \("):
        found = norm_ratio(resnet, images, progress=False)
    assert np.isinf(found.blocks).tolist() == [False, True, False, False]


def test_mixer(mixer, images):
    result = norm_ratio(mixer, images)
    assert result.attn.shape == result.mlp.shape == (2, 16)
    assert result.layers["attn"] == ["blocks.0.mix_out", "blocks.1.mix_out"]


@pytest.mark.parametrize(("name", "options", "kinds"), [
    ("vit_small_r26_s32_224", {"depth": 1}, {"conv", "attn", "mlp"}),
    ("eva02_tiny_patch14_224", {"depth": 1}, {"attn", "mlp"}),
    ("beit_base_patch16_224", {"depth": 1, "embed_dim": 48, "num_heads": 3}, {"attn", "mlp"}),
    ("resnet50", {"layers": (1, 1, 1, 1)}, {"conv"}),
])
def test_sums_are_recognised_in_every_family(name, options, kinds):
    torch.manual_seed(0)
    model = timm.create_model(name, pretrained=False, **options).eval()
    assert {b.kind for b in branches(model, torch.randn(1, *model.pretrained_cfg["input_size"]))} == kinds


@pytest.mark.parametrize(("name", "options", "reason"), [
    ("vit_base_patch16_rpn_224", {"depth": 1, "embed_dim": 48, "num_heads": 3}, "post-norm"),
    ("vit_small_patch16_18x2_224", {"depth": 1, "embed_dim": 48, "num_heads": 3}, "not known"),
    ("convnext_atto", {}, "not known"),
    ("vgg11", {}, "no residual blocks"),
    ("swin_tiny_patch4_window7_224", {"embed_dim": 24, "depths": (1, 1), "num_heads": (2, 2)},
     r"'layers\.0\.blocks\.0\.attn_out' has shape \(1, 56, 56, 24\), not \[n, tokens, C\]"),
    ("samvit_base_patch16_224", {"depth": 1, "embed_dim": 24, "num_heads": 2},
     r"'blocks\.0\.attn_out' has shape \(1, 14, 14, 24\), not \[n, tokens, C\]"),
    ("pit_ti_224", {"depth": (1, 1, 1)}, r"'transformers\.1\.blocks\.0\.attn_out' has 197 tokens and .* has 730"),
])
def test_what_has_no_norm_ratio_is_refused(name, options, reason):
    model = timm.create_model(name, pretrained=False, **options)
    with pytest.raises(ValueError, match=reason):
        norm_ratio(model, torch.randn(1, 3, 224, 224))


@pytest.mark.parametrize(("options", "prefix", "class_token"), [
    ({"class_token": False, "global_pool": "avg"}, 4, False), ({}, 5, True),
])
def test_registers_are_not_a_class_token(images, options, prefix, class_token):
    torch.manual_seed(0)
    model = VisionTransformer(img_size=32, patch_size=8, embed_dim=24, depth=2, num_heads=3, reg_tokens=4, **options)
    result = norm_ratio(model, images)
    assert (result.prefix, result.class_token, result.attn.shape) == (prefix, class_token, (2, 16 + prefix))
    assert np.allclose(result.spatial["attn"], result.attn[:, prefix:].mean(1))
    assert result.to_frame()["cls"].notna().all() == class_token
    assert len(result.plot().get_lines()) == (4 if class_token else 2)
    drawn = {curve["tokens"] for curve in curves_of({"ViT": result})}
    assert drawn == ({"spatial", "cls"} if class_token else {"spatial"})
    if not class_token:
        with pytest.raises(ValueError, match="no class token"):
            _ = result.cls


def test_kinds_of_branches_that_are_not_there_are_named(vit, resnet, images):
    with pytest.raises(ValueError, match="no branches of kind 'conv': it has 'attn', 'mlp'"):
        _ = norm_ratio(vit, images).blocks
    convolutional = norm_ratio(resnet, images)
    for kind in ("attn", "mlp"):
        with pytest.raises(ValueError, match=f"no branches of kind {kind!r}: it has 'conv'"):
            getattr(convolutional, kind)


@pytest.mark.parametrize(("model_there", "images_there"), list(itertools.product([False, True], repeat=2)))
def test_a_resnet_on_an_accelerator(resnet, images, accelerator, model_there, images_there):
    expected = norm_ratio(resnet, images, device="cpu").blocks
    model = resnet.requires_grad_(False).to(accelerator) if model_there else resnet
    source = images.to(accelerator) if images_there else images
    assert np.allclose(norm_ratio(model, source, device=accelerator).blocks, expected, rtol=1e-4)


def test_results_can_be_printed_tabled_and_drawn(vit, resnet, images):
    result = norm_ratio(vit, images)
    assert repr(result).startswith("NormRatio(6 branches, 24 images")
    assert list(result.to_frame()["layer"])[:2] == ["blocks.0.attn_out", "blocks.1.attn_out"]
    other = norm_ratio(resnet, images)
    assert result.plot() and other.plot() and other.to_frame()["cls"].isna().all()


def test_every_call_of_a_block_that_is_used_again_has_its_ratio(vit, images):
    twin = copy.deepcopy(vit)
    vit.blocks[1] = vit.blocks[0]
    twin.blocks[1].load_state_dict(twin.blocks[0].state_dict())
    mine, theirs = norm_ratio(vit, images), norm_ratio(twin, images)
    assert mine.layers["mlp"] == ["blocks.0.mlp_out@0", "blocks.0.mlp_out@1", "blocks.2.mlp_out"]
    assert np.allclose(mine.attn, theirs.attn) and np.allclose(mine.mlp, theirs.mlp)


def test_a_compiled_model_has_the_ratios_of_the_plain_one(vit, images):
    expected = norm_ratio(vit, images)
    compiled = torch.compile(vit, backend="eager")
    compiled(images)  # compiled before any hook is there
    try:
        found = norm_ratio(compiled, images)
    finally:
        torch._dynamo.reset()
    assert found.layers == expected.layers and np.allclose(found.attn, expected.attn)


def test_a_resnet_of_torchvision_that_calls_one_activation_after_each_sum():
    import torchvision

    torch.manual_seed(0)
    model, x = torchvision.models.resnet18(weights=None).eval(), torch.randn(2, 3, 64, 64)
    found, block = norm_ratio(model, x), model.layer1[0]
    with torch.no_grad():
        z = model.maxpool(model.relu(model.bn1(model.conv1(x))))
        f = block.bn2(block.conv2(block.relu(block.bn1(block.conv1(z)))))
    assert np.allclose(found.blocks[0], (z.norm(dim=1) / f.norm(dim=1)).mean(), rtol=1e-4) and len(found.blocks) == 8


def test_blocks_of_torchvisions_swin_are_refused_in_words():
    import torchvision

    with pytest.raises(ValueError, match=r"'features\.1\.0\.attn_out' has shape .*, not \[n, tokens, C\]"):
        norm_ratio(torchvision.models.swin_t(weights=None), torch.randn(1, 3, 64, 64))
