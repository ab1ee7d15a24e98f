"""A vision transformer as Hugging Face writes it: the sums stand in parts of a layer, and no name is timm's."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class ViTSelfAttention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.output = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (part(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for part in (self.query, self.key, self.value))
        return self.output(nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


class ViTOutput(nn.Module):
    """The second half of the MLP, and its residual sum."""

    def __init__(self, hidden: int, width: int) -> None:
        super().__init__()
        self.dense = nn.Linear(hidden, width)

    def forward(self, x: Tensor, before: Tensor) -> Tensor:
        return self.dense(x) + before


class ViTLayer(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.layernorm_before, self.layernorm_after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = ViTSelfAttention(width, heads)
        self.intermediate, self.output = nn.Linear(width, 4 * width), ViTOutput(4 * width, width)

    def forward(self, x: Tensor) -> tuple[Tensor]:
        x = self.attention(self.layernorm_before(x)) + x
        return (self.output(nn.functional.gelu(self.intermediate(self.layernorm_after(x))), x),)


class ViTEncoder(nn.Module):
    def __init__(self, width: int, heads: int, depth: int) -> None:
        super().__init__()
        self.layer = nn.ModuleList(ViTLayer(width, heads) for _ in range(depth))

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layer:
            (x,) = layer(x)
        return x


class HandWrittenViT(nn.Module):
    """Class token, patches of 8 px on images of 64 px."""

    def __init__(self, width: int = 48, heads: int = 3, depth: int = 6) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, 8, 8)
        self.token = nn.Parameter(torch.randn(1, 1, width))
        self.positions = nn.Parameter(torch.randn(1, 65, width))
        self.encoder = ViTEncoder(width, heads, depth)
        self.layernorm, self.classifier = nn.LayerNorm(width), nn.Linear(width, 5)

    def forward(self, x: Tensor) -> Tensor:
        """[n, 3, 64, 64] → [n, 5]"""
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(len(x), -1, -1), x], dim=1) + self.positions
        return self.classifier(self.layernorm(self.encoder(x))[:, 0])
