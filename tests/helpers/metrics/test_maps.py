"""Attention that is kept: maps of chosen blocks, and rollout."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from timm.models.vision_transformer import VisionTransformer

from helpers import attention_maps, attention_rollout


@pytest.mark.parametrize("identity", [True, False])
@pytest.mark.parametrize(("pool", "registers"), [("token", 0), ("token", 2), ("avg", 0), ("avg", 2)])
@pytest.mark.parametrize("autocast", [False, True])
def test_rollout_is_the_product_of_mean_maps(identity, pool, registers, autocast):
    torch.manual_seed(0)
    model = VisionTransformer(img_size=32, patch_size=8, embed_dim=24, depth=3, num_heads=3, num_classes=3,
                              class_token=pool == "token", reg_tokens=registers, global_pool=pool).eval()
    with torch.no_grad():
        for p in model.parameters():
            p.add_(0.3 * torch.randn_like(p))
    x = torch.randn(3, 3, 32, 32)
    rounded = torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast)  # the model may be, the product may not
    with rounded:
        maps = attention_maps(model, x, batch_size=2)
    product = np.eye(maps.values.shape[-1])
    for layer in range(3):
        mean = maps.values[:, layer].mean(1)
        product = ((mean + np.eye(mean.shape[-1])) / 2 if identity else mean) @ product
    readers = product[:, :1] if pool == "token" else product[:, maps.prefix :]  # what the model itself pools
    row = readers.mean(1)[:, maps.prefix :]
    expected = (row / row.sum(-1, keepdims=True)).reshape(3, 4, 4)
    with rounded:
        result = attention_rollout(model, x, identity=identity, batch_size=2)
    assert np.allclose(result.maps, expected, atol=1e-6) and np.allclose(result.maps.sum((1, 2)), 1)


@pytest.mark.parametrize(("layers", "numbers"), [(-1, [2]), (1, [1]), ("blocks.1", [1]), (["blocks.0", -1], [0, 2])])
def test_blocks_by_number_and_by_name(vit, images, layers, numbers):
    assert attention_maps(vit, images[:1], layers=layers).layers == numbers


@pytest.mark.parametrize(("layers", "message"), [
    ([9], "no block 9.*blocks 0 to 2"), (["blocks.3"], r"no block 'blocks\.3'.*blocks 0 to 2"),
    (1.5, "no block 1.5"), ([None], "no block None"), ([], "layers is empty"),
])
def test_blocks_that_are_not_there(vit, images, layers, message):
    with pytest.raises(ValueError, match=message):
        attention_maps(vit, images[:1], layers=layers)
