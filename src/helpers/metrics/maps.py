"""Attention that is kept: the maps themselves, and rollout, their product over the layers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn

from .. import plots
from ..inputs.batches import ImageSource
from ..networks.anatomy import Grid, block_indices, grid_of, has_class_token
from ..runtime.device import full_precision
from ..runtime.distributed import gather, together
from .attention import Heads, listen, require_finite
from .stream import stream


@dataclass(frozen=True, repr=False, eq=False)
class AttentionMaps:
    """Attention weights; the row of a query sums to one over all tokens."""

    values: np.ndarray  #: [n, layers, heads, tokens, tokens]
    layers: list[int]  #: which blocks, counted from 0
    grid: tuple[int, int]  #: rows and columns of patches
    prefix: int  #: tokens without a place (class token, registers) that come before the patches

    def __repr__(self) -> str:
        n, layers, heads, tokens, _ = self.values.shape
        return f"AttentionMaps({n} images, {layers} layers × {heads} heads, {tokens} tokens, grid {self.grid})"

    @property
    def entropy(self) -> np.ndarray:
        """Mean entropy of a row [layers, heads], in nats."""
        logs = np.log(self.values, out=np.zeros_like(self.values), where=self.values > 0)
        return -(self.values * logs).sum(-1).mean((0, 3))

    def to_frame(self) -> pd.DataFrame:
        """One row per layer and head."""
        layer, head = np.indices(self.entropy.shape)
        return pd.DataFrame({"layer": np.array(self.layers)[layer.ravel()], "head": head.ravel(),
                             "entropy": self.entropy.ravel()})

    def plot(self, image: int = 0, layer: int = -1, query: int = 0, axes: Any = None) -> Any:
        """What token `query` looks at, one picture per head; `layer` counts within `layers`."""
        heads = self.values[image, layer, :, query, self.prefix :].reshape(-1, *self.grid)
        return plots.images(list(heads), [str(h) for h in range(len(heads))], axes=axes)


@together
def attention_maps(model: nn.Module, images: ImageSource, *, layers: int | str | Sequence[int | str] | None = None,
                   batch_size: int = 16, device: str | torch.device | None = None,
                   progress: bool | None = None) -> AttentionMaps:
    """The attention weights of all images and heads in all layers, or in the chosen ones (2, "blocks.2", -1: the last).

    The maps of one image take 4 · layers · heads · tokens² bytes; `attention_distance` and `attention_rollout` do
    without keeping them.

    >>> attention_maps(vit, images.take(4), layers=[-1]).values.shape
    (4, 1, 8, 65, 65)
    """
    found: list[Tensor] = []

    def begin(x: Tensor) -> tuple[Grid, list[int]]:
        return grid_of(model, x), _chosen(model, layers)

    def visit(state: tuple[Grid, list[int]], x: Tensor) -> None:
        grid, wanted = state
        maps: dict[int, Tensor] = {}

        def visit_layer(layer: int, heads: Heads) -> None:
            if layer in wanted:
                maps[layer] = require_finite(torch.cat([weights.cpu() for _, weights in heads.weights()]), layer)

        listen(model, x, grid, visit_layer)
        found.append(torch.stack([maps[i] for i in wanted], dim=1))

    (grid, wanted), _ = stream([model], [images], begin, visit, batch_size=batch_size, device=device, progress=progress)
    return AttentionMaps(gather(found).numpy(), wanted, (grid.rows, grid.columns), grid.prefix)


def _chosen(model: nn.Module, layers: int | str | Sequence[int | str] | None) -> list[int]:
    """The numbers of the chosen blocks; all of them by default."""
    chosen = block_indices(model, range(len(model.blocks)) if layers is None else layers)  # type: ignore[arg-type]
    if not chosen:
        raise ValueError("layers is empty: name at least one block, or leave layers=None for all")
    return chosen


@dataclass(frozen=True, repr=False, eq=False)
class AttentionRollout:
    """Where the output comes from if attention were all there is: one map per image, summing to one."""

    maps: np.ndarray  #: [n, rows, columns]
    identity: bool  #: whether the skip connection was mixed in

    def __repr__(self) -> str:
        n, rows, columns = self.maps.shape
        return f"AttentionRollout({n} images, grid {rows}×{columns}, {'0.5 A + 0.5 I' if self.identity else 'A'})"

    def to_frame(self) -> pd.DataFrame:
        """One row per image and patch."""
        image, row, column = np.indices(self.maps.shape)
        return pd.DataFrame({"image": image.ravel(), "row": row.ravel(), "column": column.ravel(),
                             "share": self.maps.ravel()})

    def plot(self, axes: Any = None) -> Any:
        """The maps side by side."""
        return plots.images(list(self.maps), [str(i) for i in range(len(self.maps))], axes=axes)


@together
def attention_rollout(model: nn.Module, images: ImageSource, *, identity: bool = True, batch_size: int = 16,
                      device: str | torch.device | None = None, progress: bool | None = None) -> AttentionRollout:
    """Attention averaged over heads and multiplied over layers, from the class token (else all patches) to the patches.

    With `identity` every layer is 0.5 A + 0.5 I (Abnar & Zuidema), which stands for the skip connection; without,
    it is A alone, as ViT's appendix D.8 words it.

    >>> attention_rollout(vit, images.take(4)).maps.shape
    (4, 8, 8)
    """
    found: list[Tensor] = []

    def visit(grid: Grid, x: Tensor) -> None:
        product = torch.eye(grid.tokens, device=x.device).expand(len(x), -1, -1).contiguous()

        def visit_layer(layer: int, heads: Heads) -> None:
            for chosen, weights in heads.weights():
                mean = require_finite(weights.mean(1), layer)
                if identity:
                    mean = (mean + torch.eye(grid.tokens, device=x.device)) / 2
                with full_precision(x.device):  # autocast would round every layer's product
                    product[chosen] = mean @ product[chosen]

        listen(model, x, grid, visit_layer)
        readers = product[:, :1] if has_class_token(model) else product[:, grid.prefix :]  # registers are not read
        shares = readers[:, :, grid.prefix :].mean(1)
        found.append((shares / shares.sum(-1, keepdim=True)).reshape(len(x), grid.rows, grid.columns).cpu())

    stream([model], [images], lambda x: grid_of(model, x), visit, batch_size=batch_size, device=device,
           progress=progress)
    return AttentionRollout(gather(found).numpy(), identity)
