"""Attention: against maps that timm computes itself, against closed forms, and refused where there is none."""

from __future__ import annotations

from functools import partial

import matplotlib
import numpy as np
import pytest
import timm
import torch
import torch.nn.functional as F
from timm.layers import set_fused_attn
from timm.models.vision_transformer import VisionTransformer
from torch import nn

from helpers import attention_distance, attention_maps, attention_rollout, head_similarity
from helpers.metrics.attention import DistanceSums, Heads
from helpers.networks.anatomy import Grid

matplotlib.use("agg")


def maps_by_timm(build, state: dict, x: torch.Tensor) -> torch.Tensor:
    """[n, depth, heads, tokens, tokens] from a twin with fused attention off, read behind its own softmax."""
    set_fused_attn(False)
    try:
        twin = build()
    finally:
        set_fused_attn(True)
    twin.load_state_dict(state)
    kept: list[torch.Tensor] = []
    for name, module in twin.named_modules():
        if name.endswith("attn_drop"):
            module.register_forward_hook(lambda m, i, out: kept.append(out.detach()))
    with torch.no_grad():
        twin.eval()(x)
    return torch.stack([a for a in kept if a.shape[-1] == a.shape[-2]], dim=1)


def families() -> dict:
    small = {"depth": 2, "embed_dim": 24, "num_heads": 3}
    vit = lambda **kw: VisionTransformer(img_size=32, patch_size=8, num_classes=3, **small, **kw)
    timm_model = lambda name, **kw: timm.create_model(name, pretrained=False, num_classes=3, **{**small, **kw})
    return {
        "class token, qk_norm, LayerScale": lambda: vit(qk_norm=True, init_values=0.1),
        **{f"{k} registers, mean pooling": partial(vit, class_token=False, reg_tokens=k, global_pool="avg")
           for k in range(6)},
        "class token and four registers": lambda: vit(reg_tokens=4),
        "attention pooling": lambda: vit(class_token=False, global_pool="map"),
        "non-square": lambda: VisionTransformer(img_size=(32, 48), patch_size=8, num_classes=3, **small),
        "beit, relative bias": lambda: timm_model("beit_base_patch16_224", img_size=64),
        "relpos, MLP bias": lambda: timm_model("vit_relpos_small_patch16_224", img_size=64),
        "relpos with class token": lambda: timm_model("vit_relpos_medium_patch16_cls_224", img_size=64),
        "eva02, rotary": lambda: timm_model("eva02_tiny_patch14_224", img_size=56),
        "distilled, two prefix tokens": lambda: timm_model("deit_tiny_distilled_patch16_224", img_size=64),
    }


@pytest.mark.parametrize("family", families())
def test_maps_and_distances_of_every_family(family):
    torch.manual_seed(0)
    build = families()[family]
    model = build().eval()
    with torch.no_grad():
        for p in model.parameters():
            p.add_(0.3 * torch.randn_like(p))
    height, width = model.patch_embed.img_size
    x = torch.randn(3, 3, height, width)
    expected = maps_by_timm(build, model.state_dict(), x)
    measured = attention_maps(model, x, batch_size=2)
    assert np.allclose(measured.values, expected, atol=1e-5)
    assert torch.allclose(torch.tensor(measured.values).sum(-1), torch.ones(()), atol=1e-5)

    rows, columns = measured.grid
    places = [((r + 0.5) * height / rows, (c + 0.5) * width / columns) for r in range(rows) for c in range(columns)]
    far = torch.tensor([[np.hypot(a[0] - b[0], a[1] - b[1]) for b in places] for a in places])
    patches = expected[..., measured.prefix :, measured.prefix :].double()
    raw = (patches * far).sum(-1)
    result = attention_distance(model, x, batch_size=2)
    assert np.allclose(result.raw, raw.mean((0, 3)), atol=1e-4)
    assert np.allclose(result.pixels, (raw / patches.sum(-1)).mean((0, 3)), atol=1e-4)
    assert np.allclose(result.prefix_mass, (1 - patches.sum(-1)).mean((0, 3)), atol=1e-5)
    assert result.uniform == pytest.approx(float(far.mean()))


def heads_that(weights: torch.Tensor) -> Heads:
    """A layer whose attention weights [tokens, tokens] are given: one-hot queries against their logarithms as keys."""
    tokens = len(weights)
    q = torch.eye(tokens).expand(1, 1, tokens, tokens)
    k = weights.clamp_min(1e-30).log().T.expand(1, 1, tokens, tokens)
    return Heads(q, k, None, 1.0, q)


@pytest.mark.parametrize(("side", "uniform", "local"), [(7, 115.5, 32.4), (14, 116.5, 16.7), (16, 116.6, 14.7)])
def test_closed_forms_on_a_224_pixel_image(side, uniform, local):
    grid = Grid(side, side, 1, 224, 224)
    row, column = torch.arange(side**2) // side, torch.arange(side**2) % side
    near = ((row[:, None] - row).abs() <= 1) & ((column[:, None] - column).abs() <= 1)
    cases = ((torch.ones(side**2, side**2), uniform), (torch.eye(side**2), 0.0), (near.float(), local))
    for patches, expected in cases:
        weights = torch.full((side**2 + 1, side**2 + 1), 0.25)  # a quarter of every row goes to the class token
        weights[:, 1:] = 0.75 / side**2
        weights[1:, 1:] = 0.75 * patches / patches.sum(-1, keepdim=True)
        sums = DistanceSums(grid, class_token=True)
        sums.add(0, heads_that(weights))
        distance, raw, mass, on_registers = sums.means()[:, 0, 0]
        assert on_registers == 0
        assert distance == pytest.approx(expected, abs=0.05)
        assert raw == pytest.approx(0.75 * distance, rel=1e-4, abs=1e-6) and mass == pytest.approx(0.25, rel=1e-4)
    assert float(grid.distances().mean()) == pytest.approx(uniform, abs=0.05)


def test_masks_and_causality():
    torch.manual_seed(0)
    q, k = torch.randn(2, 3, 5, 4), torch.randn(2, 3, 5, 4)
    causal = torch.ones(5, 5, dtype=torch.bool).tril()
    for bias in (torch.randn(1, 3, 5, 5), torch.randn(2, 1, 5, 5), causal.expand(1, 1, 5, 5), torch.randn(2, 1, 1, 5)):
        added = torch.zeros(bias.shape).masked_fill(~bias, -torch.inf) if bias.dtype == torch.bool else bias
        expected = (q @ k.transpose(-1, -2) / 2 + added).softmax(-1)
        for first in (0, 2):
            measured = torch.cat([w for _, w in Heads(q, k, bias, 0.5, q).weights(first)])
            assert torch.allclose(measured, expected[:, :, first:], atol=1e-6)


class Restricted(nn.Module):
    """Attention without projections that hands the given options to PyTorch."""

    def __init__(self, heads: int, **options) -> None:
        super().__init__()
        self.num_heads, self.options = heads, options

    def forward(self, x, **_):
        heads = x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
        return F.scaled_dot_product_attention(heads, heads, heads, **self.options).transpose(1, 2).flatten(2)


@pytest.mark.parametrize("options", [
    {"is_causal": True}, {"scale": 3.0}, {"attn_mask": torch.ones(17, 17, dtype=torch.bool).triu(-2)},
    {"attn_mask": torch.linspace(-3, 3, 289).reshape(17, 17)},
    {"attn_mask": torch.linspace(-3, 3, 17).reshape(1, 1, 17)},
])
def test_masks_that_a_model_asks_for(vit, images, options):
    vit.blocks[1].attn = Restricted(3, **options)
    read: list[torch.Tensor] = []
    vit.blocks[1].norm1.register_forward_hook(lambda m, i, out: read.append(out))
    maps = attention_maps(vit, images[:2], layers=[1])
    heads = read[-1].unflatten(-1, (3, -1)).transpose(1, 2)
    expected = F.scaled_dot_product_attention(heads, heads, torch.eye(17).expand(2, 3, 17, 17), **options)
    assert np.allclose(maps.values[:, 0], expected, atol=1e-5)


def test_any_grid_with_dynamic_image_size():
    torch.manual_seed(0)
    model = VisionTransformer(img_size=32, patch_size=8, embed_dim=24, depth=1, num_heads=3, dynamic_img_size=True)
    assert attention_distance(model, torch.randn(2, 3, 24, 56)).grid == (3, 7)


# ---- rollout and heads ------------------------------------------------------------------------------------------


# ---- refused ----------------------------------------------------------------------------------------------------


def refuse_everywhere(model: nn.Module, x: torch.Tensor, reason: str) -> None:
    heads = partial(head_similarity, other=nn.Conv2d(3, 4, 3))
    for metric in (attention_distance, attention_maps, attention_rollout, heads):
        with pytest.raises(ValueError, match=reason):
            metric(model, x)


def test_fused_attention_switched_off_is_recognised(images):
    set_fused_attn(False)
    try:
        model = VisionTransformer(img_size=32, patch_size=8, embed_dim=24, depth=1, num_heads=3)
    finally:
        set_fused_attn(True)
    with pytest.raises(ValueError, match="set_fused_attn"):
        attention_distance(model, images)


def test_two_attentions_per_block_are_refused(images):
    model = VisionTransformer(img_size=32, patch_size=8, embed_dim=24, depth=1, num_heads=3, attn_layer="diff")
    with pytest.raises(ValueError, match="cannot be told apart"):
        attention_distance(model, images)


# ---- streaming, state, devices ----------------------------------------------------------------------------------


def test_batches_do_not_matter_and_the_model_is_given_back(vit, images):
    vit.train()
    whole, parts = attention_distance(vit, images), attention_distance(vit, images, batch_size=5)
    assert np.allclose(whole.pixels, parts.pixels) and parts.n_images == 24 and vit.training
    with torch.inference_mode():
        assert np.allclose(attention_distance(vit, images).pixels, whole.pixels)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert np.allclose(attention_distance(vit, images).pixels, whole.pixels, atol=0.3)


def test_few_weights_are_alive_at_a_time(monkeypatch):
    monkeypatch.setattr("helpers.metrics.attention._CHUNK_BYTES", 4 * 3 * 17 * 17 * 2)  # room for two images
    q = torch.randn(7, 3, 17, 8)
    assert [len(w) for _, w in Heads(q, q, None, 1.0, q).weights()] == [2, 2, 2, 1]


def test_results_can_be_printed_tabled_and_drawn(vit, resnet, images):
    distance, maps = attention_distance(vit, images), attention_maps(vit, images[:2], layers=[-1])
    assert repr(distance).startswith("AttentionDistance(3 layers × 3 heads, 24 images")
    assert len(distance.to_frame()) == 9 and distance.plot() and distance.plot(layers=[0, 2])
    assert maps.layers == [2] and maps.values.shape == (2, 1, 3, 17, 17) and len(maps.plot()) == 3
    assert (maps.entropy <= np.log(17) + 1e-6).all() and list(maps.to_frame()["layer"]) == [2, 2, 2]
    rollout = attention_rollout(vit, images[:2])
    assert len(rollout.to_frame()) == 32 and len(rollout.plot()) == 2 and "0.5 A" in repr(rollout)
    similar = head_similarity(vit, images, resnet)
    assert list(similar.to_frame().columns[:2]) == ["heads", "pixels"]
    assert similar.plot() and "24 images" in repr(similar)


@pytest.mark.parametrize(("class_token", "registers"), [(True, 0), (True, 3), (False, 2), (False, 0)])
def test_class_token_and_registers_are_told_apart(images, class_token, registers):
    torch.manual_seed(0)
    model = VisionTransformer(img_size=32, patch_size=8, embed_dim=24, depth=2, num_heads=3, class_token=class_token,
                              reg_tokens=registers, global_pool="avg").eval()
    found = attention_distance(model, images[:4])
    rows = attention_maps(model, images[:4]).values[..., class_token + registers :, :]  # of the patches
    assert np.allclose(found.cls_mass, rows[..., : int(class_token)].sum(-1).mean((0, 3)), atol=1e-6)
    if registers:
        on_registers = rows[..., int(class_token) : class_token + registers].sum(-1).mean((0, 3))
        assert np.allclose(found.register_mass, on_registers, atol=1e-6) and (found.register_mass > 0).all()
        assert np.allclose(found.to_frame()["register_mass"], found.register_mass.ravel())
    else:
        assert found.register_mass is None and "register_mass" not in found.to_frame()
    assert (found.cls_mass > 0).all() == class_token


def test_distances_on_a_padded_grid_are_those_of_whole_patches():
    from timm.models.vision_transformer import VisionTransformer

    model = VisionTransformer(img_size=32, patch_size=16, embed_dim=24, depth=1, num_heads=3, dynamic_img_size=True,
                              dynamic_img_pad=True)
    found = attention_distance(model, torch.randn(2, 3, 40, 40))
    assert found.grid == (3, 3) and found.uniform == pytest.approx(Grid(3, 3, 1, 48, 48).distances().mean())
