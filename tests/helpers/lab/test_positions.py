"""Position embeddings of the ablation."""

from __future__ import annotations

import torch


def test_relative_positions_depend_on_the_offset_only():
    """Without content, logits of patch pairs with the same 1-D offset are equal, and the class token has none."""
    from helpers.lab.positions import RelativeAttention

    torch.manual_seed(0)
    attention = RelativeAttention(8, num_heads=2, qkv_bias=True)
    attention.set_patches(5)
    with torch.no_grad():
        attention.qkv.weight.zero_()
        attention.qkv.bias[:8] = torch.randn(8)  # every query is the same, every key zero
        attention.qkv.weight[16:] = torch.randn(8, 8)
        attention.offsets.normal_()
        x = torch.randn(1, 6, 8)
        rows = attention.offsets @ attention.qkv.bias[:8].view(2, 4).T * attention.scale  # [9 offsets, 2 heads]
        logits = torch.zeros(1, 2, 6, 6)
        for q in range(5):
            for k in range(5):
                logits[0, :, q + 1, k + 1] = rows[q - k + 4]
        v = (x @ attention.qkv.weight[16:].T + attention.qkv.bias[16:]).view(1, 6, 2, 4).transpose(1, 2)
        by_hand = attention.proj((logits.softmax(-1) @ v).transpose(1, 2).reshape(1, 6, 8))
        assert torch.allclose(attention(x), by_hand, atol=1e-5)
