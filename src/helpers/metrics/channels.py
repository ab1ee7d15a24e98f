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
    """Variance and largest absolute value of every channel of some layers, over images and positions."""

    layers: list[str]
    variance: dict[str, np.ndarray]  #: of each layer, [channels]
    largest: dict[str, np.ndarray]  #: of |x|, [channels]
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
    """The variance of every channel of some layers, by default of the blocks.

    >>> found = channel_variance(vit, images)
    >>> found.shares("blocks.5").sum().round(6)
    np.float64(1.0)
    """
    moments, wanted, n = channel_moments(model, images, layers, batch_size, device, progress)
    names = [tap.name for tap in wanted]
    return ChannelVariance(names, {name: one.variance().numpy() for name, one in zip(names, moments, strict=True)},
                           {name: one.largest.numpy() for name, one in zip(names, moments, strict=True)}, n)


class Moments:
    """Count, mean, sum of squared deviations and largest absolute value of each channel, over everything seen."""

    def __init__(self) -> None:
        self.n = 0
        self.mean = self.squares = self.largest = torch.zeros(0, device="cpu")

    def add(self, x: Tensor, axis: int) -> None:
        """Features whose channels lie along an axis; each batch brings its own mean (Chan et al. 1979)."""
        others = [i for i in range(x.dim()) if i != axis]
        variance, mean = torch.var_mean(x.float(), dim=others, correction=0)
        self._join(x.numel() // x.shape[axis], mean.double().cpu(), variance.double().cpu(),
                   x.float().abs().amax(dim=others).double().cpu())

    def _join(self, n: int, mean: Tensor, variance: Tensor, largest: Tensor) -> None:
        if not self.n:
            self.n, self.mean, self.squares, self.largest = n, mean, n * variance, largest
            return
        total, step = self.n + n, mean - self.mean
        self.squares = self.squares + n * variance + step**2 * (self.n * n / total)
        self.mean, self.n = self.mean + step * (n / total), total
        self.largest = self.largest.maximum(largest)

    def add_up(self) -> None:
        """Of all processes."""
        n, parts = self.n, [gather([value[None]]) for value in (self.mean, self.squares, self.largest)]
        counts = gather([torch.tensor([n], dtype=torch.float64, device="cpu")])
        self.n = 0
        for count, mean, squares, largest in zip(counts.tolist(), *parts, strict=True):
            self._join(int(count), mean, squares / count, largest)

    def variance(self) -> Tensor:
        """Of each channel [channels], float64."""
        return self.squares / self.n

    def deviation(self) -> Tensor:
        """Standard deviation of each channel, infinite where only rounding varies: such a channel says nothing."""
        rounding = (4 * torch.finfo(torch.float32).eps) ** 2 * (self.mean**2 + self.variance())
        return torch.where(self.variance() > rounding, self.variance().sqrt(), torch.inf)


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

    (wanted, moments), n = stream([model], [images], begin, visit, batch_size=batch_size, device=device,
                                  progress=progress)
    for one, tap in zip(moments, wanted, strict=True):
        one.add_up()
        if not (one.largest.isfinite().all() and one.squares.isfinite().all()):
            raise ValueError(f"NaN or Inf in the activations of {tap.name!r}")
    return moments, wanted, n
