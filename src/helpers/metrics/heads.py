"""Which heads of a ViT see what a convolutional network sees: CKA of head subsets with the other model's layers.

A linear kernel adds up over concatenated features: K of a set of heads is the sum of their K, and HSIC₁ is bilinear.
One pass that measures HSIC₁ between single heads therefore answers for every subset of them.
"""

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
from ..networks.anatomy import Grid, block_index, grid_of, has_class_token, require_attention_maps
from ..networks.taps import Tap, find, tapped
from ..runtime.distributed import together
from .attention import DistanceSums, Heads, listen
from .similarity import SMALLEST_BATCH, HSICSums
from .stream import stream


@dataclass(frozen=True, repr=False, eq=False)
class HeadSimilarity:
    """CKA between subsets of one block's heads and the layers of another model, beside how far the heads look."""

    cka: np.ndarray  #: [subsets, layers], heads sorted by distance, most local subset first
    distance: np.ndarray  #: [subsets], mean attention distance in pixels
    subsets: list[tuple[int, ...]]  #: which heads
    layers: list[str]  #: of the other model
    random: np.ndarray  #: [draws, layers], CKA of random subsets of the same size
    head_distance: np.ndarray  #: [heads], in pixels
    n_images: int

    def __repr__(self) -> str:
        return (f"HeadSimilarity({len(self.subsets)} subsets of {len(self.subsets[0])} of "
                f"{len(self.head_distance)} heads × {len(self.layers)} layers, {self.n_images} images)")

    @property
    def spearman(self) -> np.ndarray:
        """Rank correlation of distance and CKA, one value per layer."""
        return np.array([pd.Series(self.distance).corr(pd.Series(c), method="spearman") for c in self.cka.T])

    def to_frame(self) -> pd.DataFrame:
        """One row per subset: its heads, its distance, and CKA with each layer."""
        frame = pd.DataFrame(self.cka, columns=self.layers)
        frame.insert(0, "pixels", self.distance)
        frame.insert(0, "heads", self.subsets)
        return frame

    def plot(self, ax: Any = None) -> Any:
        """CKA over the mean distance of the subset, one curve per layer."""
        curves = {name: self.cka[:, i] for i, name in enumerate(self.layers)}
        return plots.lines(curves, x="px", y="CKA", at=self.distance, ax=ax)


@together
def head_similarity(model: nn.Module, images: ImageSource, other: nn.Module, *, block: int | str = 0,
                    size: int | None = None, other_layers: Sequence[str] | str | None = None,
                    other_images: ImageSource | None = None, draws: int = 200, batch_size: int = 128,
                    device: str | torch.device | None = None, progress: bool | None = None) -> HeadSimilarity:
    """CKA of sliding windows of `size` heads (default: a quarter), sorted by distance, with layers of `other`.

    Head outputs are taken before the output projection and without the class token. Random subsets of the same size
    (`draws` of them) stand beside the windows as a control.

    >>> head_similarity(vit, images, resnet, block=1, size=2).cka.shape
    (7, 9)
    """
    require_attention_maps(model)
    block = block_index(model, block)
    sources = [images] if other_images is None else [images, other_images]
    measured = _measure(model, other, sources, block, size, other_layers, batch_size, device, progress)
    sums, distance = measured.hsic, measured.distances.means()[0, 0]
    n_heads = len(distance)
    size = _window(size, n_heads, block)
    order = np.argsort(distance).tolist()
    windows = [tuple(order[i : i + size]) for i in range(n_heads - size + 1)]
    rng = np.random.default_rng(0)
    random = [tuple(rng.choice(n_heads, size, replace=False)) for _ in range(draws)]
    window_distance = np.array([distance[list(window)].mean() for window in windows])
    hsic, defined = sums.hsic.cpu().clone(), sums.defined().cpu()
    defined[:n_heads] = True  # a constant head adds nothing to the others of its subset
    hsic[:, ~defined] = torch.nan
    return HeadSimilarity(subset_cka(hsic, windows, n_heads), window_distance, windows, sums.names[n_heads:],
                          subset_cka(hsic, random, n_heads), distance, sums.n_images)


@dataclass(frozen=True)
class _Sums:
    """What is added up over minibatches: the block's heads come first, then the other model's taps."""

    hsic: HSICSums  # of all pairs of heads and layers
    distances: DistanceSums  # of the block alone
    taps: list[Tap]
    n_heads: int


def _measure(model: nn.Module, other: nn.Module, sources: list[ImageSource], block: int, size: int | None,
             other_layers: Sequence[str] | str | None, batch_size: int, device: str | torch.device | None,
             progress: bool | None) -> _Sums:
    """HSIC₁ of all pairs of (heads of the block, layers of `other`), and the heads' distances."""

    def begin(x: Tensor, y: Tensor) -> _Sums:
        grid = grid_of(model, x)
        n_heads = _head_count(model, x[:1].clone(), grid, block)
        _window(size, n_heads, block)  # refuse a wrong size before all images are read
        taps = find(other, other_layers, y)
        names = [f"head {h} of block {block}" for h in range(n_heads)] + [tap.name for tap in taps]
        return _Sums(HSICSums(names, x.device), DistanceSums(grid, has_class_token(model)), taps, n_heads)

    def visit(sums: _Sums, x: Tensor, y: Tensor) -> None:
        grid = sums.distances.grid
        with sums.hsic.minibatch(len(x)) as visit_layer:

            def visit_heads(layer: int, heads: Heads) -> None:
                if layer == block:
                    sums.distances.add(0, heads)
                    for h, output in enumerate(heads.output.unbind(1)):
                        visit_layer(h, output[:, grid.prefix :])

            listen(model, x, grid, visit_heads)
            with tapped(other, sums.taps, visit_layer, first=sums.n_heads):
                other(y)

    sums, _ = stream([model, other], sources, begin, visit, batch_size=batch_size, smallest=SMALLEST_BATCH,
                     device=device, progress=progress)
    sums.hsic.add_up()
    return sums


def _head_count(model: nn.Module, x: Tensor, grid: Grid, block: int) -> int:
    """How many heads a block has, seen on one image [1, 3, H, W]: not every block keeps them in a module `attn`."""
    counts: dict[int, int] = {}

    def visit(layer: int, heads: Heads) -> None:
        counts[layer] = heads.q.shape[1]

    listen(model, x, grid, visit)
    return counts[block]


def _window(size: int | None, n_heads: int, block: int) -> int:
    """How many heads go into a subset; a quarter of them by default."""
    size = max(1, n_heads // 4) if size is None else size
    if not 0 < size <= n_heads:
        raise ValueError(f"size={size}: block {block} has {n_heads} heads")
    return size


def subset_cka(hsic: Tensor, subsets: Sequence[tuple[int, ...]], n_heads: int) -> np.ndarray:
    """CKA [subsets, layers] from HSIC₁ sums [heads + layers, heads + layers] of single heads and layers."""
    member = torch.zeros(len(subsets), n_heads, dtype=torch.float64, device="cpu")
    for i, subset in enumerate(subsets):
        member[i, list(subset)] = 1
    own = ((member @ hsic[:n_heads, :n_heads]) * member).sum(1, keepdim=True)
    return (member @ hsic[:n_heads, n_heads:] / (own * hsic.diagonal()[n_heads:]).sqrt()).numpy()
