"""Networks without some of their skip connections."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from helpers import norm_ratio, taps, without_skip


def test_without_skip_keeps_only_the_branches(vit, mixer, images):
    bare = without_skip(vit, np.int64(1))
    z = torch.randn(2, 17, 24)
    block = vit.blocks[1]
    with torch.no_grad():
        step = block.ls1(block.attn(block.norm1(z)))
        assert torch.allclose(bare.blocks[1](z), block.ls2(block.mlp(block.norm2(step))))
        assert torch.equal(bare.blocks[0](z), vit.blocks[0](z))
        assert not torch.allclose(bare(images), vit(images))
        tokens = torch.randn(2, 16, 16)
        mix = mixer.blocks[0]
        step = mix.mlp_tokens(mix.norm1(tokens).transpose(1, 2)).transpose(1, 2)
        assert torch.allclose(without_skip(mixer, [0]).blocks[0](tokens), mix.mlp_channels(mix.norm2(step)))
    assert bare.state_dict().keys() == vit.state_dict().keys() and taps(bare) == taps(vit)
    with pytest.raises(ValueError, match=r"'blocks\.1\.attn_out' is not added to a skip"):
        norm_ratio(bare, images)


def test_without_skip_can_be_trained_and_leaves_the_original_alone(vit, images):
    before = {name: p.clone() for name, p in vit.named_parameters()}
    bare = without_skip(vit, range(3)).train()
    bare(images).square().mean().backward()
    assert bare.blocks[0].attn.qkv.weight.grad.abs().sum() > 0
    assert all(torch.equal(p, before[name]) and p.grad is None for name, p in vit.named_parameters())


def test_without_skip_refuses_what_it_cannot_do(vit, resnet):
    with pytest.raises(ValueError, match="no block 3: the model has blocks 0 to 2"):
        without_skip(vit, 3)
    with pytest.raises(ValueError, match=r"ResNet has no `blocks` with two skips to remove.*MixerBlock"):
        without_skip(resnet, 0)
    bare = without_skip(vit, 0)
    with pytest.raises(ValueError, match="not from NoSkipBlock"):
        without_skip(bare, 0)


@pytest.mark.parametrize("block", [0, 1, 2])
def test_a_block_without_skips_is_still_one_of_the_blocks(vit, block):
    """The last one stands at the end of the list, the first at its beginning: no residual sum on one side of it."""
    assert taps(without_skip(vit, block)) == taps(vit)
    assert taps(without_skip(vit, block), "all") == taps(vit, "all")
