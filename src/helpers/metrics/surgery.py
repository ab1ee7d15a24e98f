"""Networks with a part cut out: blocks without their skip connections."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from timm.models.mlp_mixer import MixerBlock
from timm.models.vision_transformer import Block
from timm.models.vision_transformer_relpos import RelPosBlock
from torch import Tensor, nn

from ..networks.anatomy import block_indices


class NoSkipBlock(Block):
    """A ViT block that keeps only its branches: x ← Attn(LN x), x ← MLP(LN x)."""

    def forward(self, x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """[B, tokens, D] → [B, tokens, D]"""
        x = self.drop_path1(self.ls1(self.attn(self.norm1(x), *args, **kwargs)))
        return self.drop_path2(self.ls2(self.mlp(self.norm2(x))))


class NoSkipRelPosBlock(RelPosBlock):
    """The same for ViTs with relative positions."""

    forward = NoSkipBlock.forward


class NoSkipMixerBlock(MixerBlock):
    """A Mixer block that keeps only its branches."""

    def forward(self, x: Tensor) -> Tensor:
        """[B, tokens, D] → [B, tokens, D]"""
        x = self.drop_path(self.mlp_tokens(self.norm1(x).transpose(1, 2)).transpose(1, 2))
        return self.drop_path(self.mlp_channels(self.norm2(x)))


_WITHOUT: dict[type, type] = {Block: NoSkipBlock, RelPosBlock: NoSkipRelPosBlock, MixerBlock: NoSkipMixerBlock}


def without_skip(model: nn.Module, block: int | str | Iterable[int | str]) -> nn.Module:
    """A copy of a ViT or Mixer in which the given blocks have no skip connections; same weights, same names.

    >>> bare = without_skip(vit, [2])
    """
    twin = copy.deepcopy(model)
    stack: Any = getattr(twin, "blocks", ())
    removable = ", ".join(kind.__name__ for kind in _WITHOUT)
    if not len(stack):
        raise ValueError(f"{type(model).__name__} has no `blocks` with two skips to remove: a skip can be removed from "
                         f"{removable} (timm's ViTs and Mixers)")
    for i in block_indices(twin, block):
        if type(stack[i]) not in _WITHOUT:
            raise ValueError(f"a skip can be removed from {removable}, not from {type(stack[i]).__name__}")
        stack[i].__class__ = _WITHOUT[type(stack[i])]
    return twin
