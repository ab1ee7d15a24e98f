"""How a layer's variance is spread over its channels. One channel may carry most of it; then CKA sees little else."""

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
from ..networks.anatomy import channel_axis
from ..networks.taps import Tap, find, tapped
from ..runtime.distributed import gather, together
from .stream import stream


@dataclass(frozen=True, repr=False, eq=False)
class ChannelVariance:
    """Variance of every channel of some layers over images, as CKA sees it, and its largest absolute value."""

    layers: list[str]
    variance: dict[str, np.ndarray]  #: of each layer, over images, mean over positions [channels]
    largest: dict[str, np.ndarray]  #: absolute value, [channels]
    n_images: int

    def __repr__(self) -> str:
        return f"ChannelVariance({len(self.layers)} layers, {self.n_images} images)"

    def shares(self, layer: str) -> np.ndarray:
        """Share of each channel [channels] in the variance of a layer; NaN for a layer that never varies."""
        variance = self.variance[layer]
        total = variance.sum()
        return variance / total if total > 0 else np.full_like(variance, np.nan)

    @property
    def strongest(self) -> np.ndarray:
        """Share of the strongest channel of every layer [layers]."""
        return np.array([self.shares(layer).max() for layer in self.layers])

    def to_frame(self) -> pd.DataFrame:
        """A row per layer: its strongest channel with its share, and its largest value beside the median channel's."""
        rows = []
        for layer in self.layers:
            share, largest = self.shares(layer), self.largest[layer]
            top = int(np.nan_to_num(share).argmax())
            rows.append({"layer": layer, "channel": top, "share": share[top], "even share": 1 / len(share),
                         "largest": largest[top], "median of largest": float(np.median(largest))})
        return pd.DataFrame(rows).set_index("layer")

    def plot(self, ax: Any = None) -> Any:
        """The strongest channel's share by layer, beside the share that every channel would have if all were alike."""
        even = np.array([1 / len(self.variance[layer]) for layer in self.layers])
        series = {"strongest channel": self.strongest, "_even share": even}
        ax = plots.lines(series, x="layer", y="share of the variance", ax=ax)
        ax.set_ylim(0, None)
        return ax


@together
def channel_variance(model: nn.Module, images: ImageSource, layers: Sequence[str] | str | None = None, *,
                     batch_size: int = 128, device: str | torch.device | None = None,
                     progress: bool | None = None) -> ChannelVariance:
    """The variance of every channel of some layers, by default of the blocks, over the images of each minibatch.

    >>> found = channel_variance(vit, images)
    >>> found.shares("blocks.5").sum().round(6)
    np.float64(1.0)
    """
    moments, wanted, n = channel_moments(model, images, layers, batch_size, device, progress)
    names = [tap.name for tap in wanted]
    return ChannelVariance(names, {name: one.variance().numpy() for name, one in zip(names, moments, strict=True)},
                           {name: one.largest.numpy() for name, one in zip(names, moments, strict=True)}, n)


class Moments:
    """What is known of each channel after some minibatches: its moments over everything, its variance over images."""

    def __init__(self) -> None:
        self.n = self.degrees = 0
        self.mean = self.squares = self.largest = self.over_images = torch.zeros(0, device="cpu")

    def add(self, x: Tensor, axis: int) -> None:
        """A minibatch [n, …] whose channels lie along an axis; it brings its own means (Chan et al. 1979)."""
        x = x.float()
        others = [i for i in range(x.dim()) if i != axis]
        variance, mean = torch.var_mean(x, dim=others, correction=0)
        by_place = x.var(0, correction=0).movedim(axis - 1, 0).reshape(x.shape[axis], -1).mean(1)
        self._join(x.numel() // x.shape[axis], len(x) - 1, *(value.double().cpu() for value in (
            mean, variance, x.abs().amax(dim=others), by_place * len(x))))

    def _join(self, n: int, degrees: int, mean: Tensor, variance: Tensor, largest: Tensor, over_images: Tensor) -> None:
        if not self.n:
            self.n, self.degrees, self.mean, self.squares = n, degrees, mean, n * variance
            self.largest, self.over_images = largest, over_images
            return
        total, step = self.n + n, mean - self.mean
        self.squares = self.squares + n * variance + step**2 * (self.n * n / total)
        self.mean, self.n = self.mean + step * (n / total), total
        self.largest, self.over_images = self.largest.maximum(largest), self.over_images + over_images
        self.degrees += degrees

    def add_up(self) -> None:
        """Of all processes."""
        counts = gather([torch.tensor([[self.n, self.degrees]], dtype=torch.float64, device="cpu")]).long().tolist()
        parts = [gather([value[None]]) for value in (self.mean, self.squares, self.largest, self.over_images)]
        self.n = 0
        for (n, degrees), mean, squares, largest, over_images in zip(counts, *parts, strict=True):
            self._join(n, degrees, mean, squares / n, largest, over_images)

    def variance(self) -> Tensor:
        """Variance over images at one position, mean over positions [channels]: what centred Gram matrices see."""
        return self.over_images / max(self.degrees, 1)

    def deviation(self) -> Tensor:
        """Standard deviation over images and positions, infinite where only rounding varies: that says nothing."""
        variance = self.squares / self.n
        rounding = (4 * torch.finfo(torch.float32).eps) ** 2 * (self.mean**2 + variance)
        return torch.where(variance > rounding, variance.sqrt(), torch.inf)


def channel_moments(model: nn.Module, images: ImageSource, layers: Any, batch_size: int,
                    device: str | torch.device | None = None, progress: bool | None = None,
                    ) -> tuple[list[Moments], list[Tap], int]:
    """Moments of the channels of every tap, the taps in execution order, and how many images were seen."""

    def begin(x: Tensor) -> tuple[list[Tap], list[Moments]]:
        wanted = find(model, layers, x)
        return wanted, [Moments() for _ in wanted]

    def visit(state: tuple[list[Tap], list[Moments]], x: Tensor) -> None:
        wanted, moments = state
        visit_layer = lambda i, values: moments[i].add(values, channel_axis(values, model, x, wanted[i].name))
        with tapped(model, wanted, visit_layer):
            model(x)

    (wanted, moments), n = stream([model], [images], begin, visit, batch_size=batch_size, smallest=2, device=device,
                                  progress=progress)
    for one, tap in zip(moments, wanted, strict=True):
        one.add_up()
        if not (one.largest.isfinite().all() and one.squares.isfinite().all()):
            raise ValueError(f"NaN or Inf in the activations of {tap.name!r}")
    return moments, wanted, n
