"""Position embeddings of the ViT paper's ablation (App. D.4): 1-D, 2-D or relative, at the stem or in every block."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from timm.models.vision_transformer import Attention, Block, VisionTransformer
from torch import Tensor, nn


class Table1D(nn.Module):
    """One learned vector per token: [tokens, width]."""

    def __init__(self, grid: int, width: int, prefix: int):
        super().__init__()
        self.table = nn.Parameter(torch.randn(prefix + grid**2, width) * 0.02)

    def forward(self) -> Tensor:
        return self.table


class Table2D(nn.Module):
    """Half of the vector from the row, half from the column; the class token has its own: [tokens, width]."""

    def __init__(self, grid: int, width: int, prefix: int):
        super().__init__()
        self.row, self.column = (nn.Parameter(torch.randn(grid, width // 2) * 0.02) for _ in range(2))
        self.prefix = nn.Parameter(torch.randn(prefix, width) * 0.02)

    def forward(self) -> Tensor:
        grid = len(self.row)
        both = torch.cat([self.row[:, None].expand(-1, grid, -1), self.column[None].expand(grid, -1, -1)], -1)
        return torch.cat([self.prefix, both.flatten(0, 1)])


class PositionBlock(Block):
    """An encoder block that adds a position table, if it was given one, to what it reads."""

    def __init__(self, *args: Any, **options: Any):
        super().__init__(*args, **options)
        self.position: nn.Module | None = None

    def forward(self, x: Tensor, attn_mask: Tensor | None = None, is_causal: bool = False) -> Tensor:
        if self.position is not None:
            x = x + self.position()
        return super().forward(x, attn_mask=attn_mask, is_causal=is_causal)


class RelativeAttention(Attention):
    """Attention whose logits gain q · r(p_q − p_k)/√D_h, with one learned r per 1-D offset between patches."""

    def __init__(self, dim: int, *args: Any, **options: Any):
        super().__init__(dim, *args, **options)
        self.offsets: nn.Parameter | None = None

    def set_patches(self, patches: int) -> None:
        """Make the table of the 2·patches − 1 possible offsets, and remember which pair uses which."""
        self.offsets = nn.Parameter(torch.randn(2 * patches - 1, self.head_dim) * 0.02)
        place = torch.arange(patches)
        self.register_buffer("pair", place[:, None] - place[None, :] + patches - 1, persistent=False)

    pair: Tensor  # which offset a query and a key have, [patches, patches]

    def forward(self, x: Tensor, attn_mask: Tensor | None = None, is_causal: bool = False) -> Tensor:
        if self.offsets is None:
            raise RuntimeError("RelativeAttention needs set_patches(n) before it runs")
        n, tokens, _ = x.shape
        weight, bias = (p[: self.attn_dim] for p in (self.qkv.weight, self.qkv.bias))
        q = self.q_norm(F.linear(x, weight, bias).view(n, tokens, self.num_heads, self.head_dim).transpose(1, 2))
        prefix = tokens - len(self.pair)  # the class token has no place in the sequence, so no offset
        by_offset = q[:, :, prefix:] @ self.offsets.T * self.scale
        logits = by_offset.gather(-1, self.pair.expand(n, self.num_heads, -1, -1))
        return super().forward(x, attn_mask=F.pad(logits, (prefix, 0, prefix, 0)))


def add_positions(model: VisionTransformer, kind: str, where: str) -> None:
    """Give a ViT without position embeddings the wanted ones; its blocks are PositionBlocks."""
    grid = model.patch_embed.grid_size[0]
    if kind == "relative":
        for block in model.blocks:
            block.attn.set_patches(grid**2)  # type: ignore[operator, union-attr]
        return
    make = {"1d": Table1D, "2d": Table2D}[kind]
    new = lambda: make(grid, model.embed_dim, model.num_prefix_tokens)
    first = new()
    model.blocks[0].position = first
    if where != "stem":
        for block in model.blocks[1:]:
            block.position = first if where == "shared" else new()
