"""Which heads see what another network sees: subsets by addition, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from timm.models.vision_transformer import ParallelScalingBlock, VisionTransformer

from helpers import attention_distance, head_similarity
from helpers.metrics.similarity import minibatch_cka


def test_head_subsets_by_addition_equal_concatenated_heads(vit, resnet, images):
    outputs: list[torch.Tensor] = []
    vit.blocks[1].attn.proj.register_forward_pre_hook(lambda m, args: outputs.append(args[0].detach()))
    result = head_similarity(vit, images, resnet, block=1, size=2, batch_size=8)
    heads = torch.cat(outputs[-3:]).reshape(24, 17, 3, 8)[:, 1:]  # [n, patches, heads, d], class token dropped
    layers: list[torch.Tensor] = []
    resnet.layer2[0].register_forward_hook(lambda m, i, out: layers.append(out.detach().clone()))
    with torch.no_grad():
        resnet(images)
    for subset, row in zip(result.subsets, result.cka, strict=True):
        concatenated = heads[:, :, list(subset)].double()
        expected = minibatch_cka(concatenated, layers[0].double(), batch_size=8)
        assert row[result.layers.index("layer2.0")] == pytest.approx(expected, abs=1e-6)
    distances = attention_distance(vit, images).pixels[1]
    assert np.allclose(result.head_distance, distances) and (np.diff(result.distance) >= 0).all()
    assert result.random.shape == (200, 4) and result.spearman.shape == (4,)


def test_head_similarity_refuses_what_is_not_there(vit, resnet, images):
    for block in (3, "head"):
        with pytest.raises(ValueError, match=f"no block {block!r}.*blocks 0 to 2"):
            head_similarity(vit, images, resnet, block=block)
    with pytest.raises(ValueError, match="3 heads"):
        head_similarity(vit, images, resnet, size=4)


def test_heads_of_a_block_without_an_attention_module(resnet, images):
    torch.manual_seed(0)
    model = VisionTransformer(img_size=32, patch_size=8, embed_dim=24, depth=2, num_heads=3,
                              block_fn=ParallelScalingBlock)
    result = head_similarity(model, images, resnet, block="blocks.1", size=2)
    assert np.allclose(result.head_distance, attention_distance(model, images).pixels[1])


def test_constant_layers_and_heads_are_named(vit, resnet, images):
    with torch.no_grad():
        resnet.layer2[0].bn2.weight.zero_()
        for p in resnet.layer2[0].downsample.parameters():
            p.zero_()  # the block's output is a ReLU of its bias, the same for all images
    with pytest.warns(UserWarning, match=r"undefined.*layer2\.0"):
        result = head_similarity(vit, images, resnet, size=1)
    constant = result.layers.index("layer2.0")
    assert np.isnan(result.cka[:, constant]).all() and np.isnan(result.random[:, constant]).all()
    assert np.isfinite(np.delete(result.cka, range(constant, 4), axis=1)).all()
    with torch.no_grad():
        vit.blocks[0].attn.qkv.weight[2 * 24 : 2 * 24 + 8] = 0  # values of head 0
    with pytest.warns(UserWarning, match=r"undefined.*head 0 of block 0"):
        result = head_similarity(vit, images, resnet, size=1)
    assert [bool(np.isnan(row[0])) for row in result.cka] == [subset == (0,) for subset in result.subsets]
