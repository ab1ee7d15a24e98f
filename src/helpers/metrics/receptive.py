"""Effective receptive fields: which input pixels move a feature at the centre of a layer.

For one channel c it is |∂ y_c(centre) / ∂x|; the absolute value is taken before channels, colours and images are
averaged, since signs of different channels would cancel. One vector–Jacobian product serves a channel of all images
of a batch; several channels at once would gain nothing, not on an accelerator either, and forbid fused attention.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn

from .. import plots
from ..inputs.batches import ImageSource, own_count
from ..networks.anatomy import feature_map
from ..networks.taps import Tap, find, tapped
from ..runtime.advice import warn
from ..runtime.device import float64_device, pick_device
from ..runtime.distributed import all_sum, together
from ..runtime.progress import progress_bar
from .skip import branches
from .stream import stream


@dataclass(frozen=True, repr=False, eq=False)
class ReceptiveField:
    """Mean absolute gradient of the centre position with respect to the input."""

    maps: np.ndarray  #: [L, H, W], in pixels of the input
    layers: list[str]  #: [L]
    grids: list[tuple[int, int]]  #: of positions in each layer
    channels: list[int]  #: how many were pulled back, for each layer
    exact: bool  #: whether those were all channels
    n_images: int

    def __repr__(self) -> str:
        how = "all channels" if self.exact else f"{max(self.channels)} sampled channels"
        return f"ReceptiveField({len(self.layers)} layers, {how}, {self.n_images} images, {self.maps.shape[1:]} px)"

    @property
    def shares(self) -> np.ndarray:
        """The maps as shares of their total [L, H, W]; NaN for a layer without any gradient."""
        total = self.maps.sum((1, 2), keepdims=True)
        return np.divide(self.maps, total, out=np.full_like(self.maps, np.nan), where=total > 0)

    @property
    def centre_share(self) -> np.ndarray:
        """Share of the pixels under the centre position itself, in the layer's own grid [L]."""
        return np.array([s[self._centre_box(grid)].sum() for s, grid in zip(self.shares, self.grids, strict=True)])

    @property
    def uniform_share(self) -> np.ndarray:
        """What `centre_share` would be if every pixel counted equally [L]."""
        flat = np.full(self.maps.shape[1:], 1 / self.maps[0].size)
        return np.array([flat[self._centre_box(grid)].sum() for grid in self.grids])

    @property
    def participation(self) -> np.ndarray:
        """Effective share of the pixels that take part, (Σm)² / (N Σm²) [L]."""
        return 1 / (self.maps[0].size * (self.shares**2).sum((1, 2)))

    def radius(self, q: float = 0.5) -> np.ndarray:
        """Radius in pixels of the circle round the centre position that holds a share q of the mass [L]."""
        if not 0 < q < 1:
            raise ValueError(f"q={q}: a share of the mass lies between 0 and 1")
        height, width = self.maps.shape[1:]
        found = []
        for share, grid in zip(self.shares, self.grids, strict=True):
            rows, columns = self._centre_box(grid)
            y, x = (rows.start + rows.stop - 1) / 2, (columns.start + columns.stop - 1) / 2
            distance = np.hypot(np.arange(height)[:, None] - y, np.arange(width)[None, :] - x).ravel()
            order = np.argsort(distance, kind="stable")
            inside = np.searchsorted(np.cumsum(share.ravel()[order]), q)
            found.append(distance[order][inside] if np.isfinite(share).all() else np.nan)
        return np.array(found)

    def _centre_box(self, grid: tuple[int, int]) -> tuple[slice, slice]:
        box = []
        for pixels, positions in zip(self.maps.shape[1:], grid, strict=True):
            start = positions // 2 * pixels // positions
            box.append(slice(start, max(start + 1, (positions // 2 + 1) * pixels // positions)))
        return box[0], box[1]

    def to_frame(self) -> pd.DataFrame:
        """One row per layer."""
        return pd.DataFrame({"layer": self.layers, "centre_share": self.centre_share,
                             "uniform_share": self.uniform_share, "radius50": self.radius(0.5),
                             "radius90": self.radius(0.9), "participation": self.participation,
                             "channels": self.channels})

    def plot(self, axes: Any = None) -> Any:
        """One picture per layer; square roots, so that faint parts can be seen."""
        return plots.images([np.sqrt(m) for m in self.maps], self.layers, axes=axes)


@together
def receptive_field(model: nn.Module, images: ImageSource, layers: Sequence[str] | str | None = None, *,
                    channels: int | None = None, before_skip: bool = False, batch_size: int = 8,
                    device: str | torch.device | None = None, progress: bool | None = None) -> ReceptiveField:
    """Effective receptive field of every layer (default: one per block), exact or on `channels` random channels.

    With `before_skip` the branch outputs before the residual sum are read instead: those of the blocks or sums named
    in `layers`, or all. On an even grid the centre is the position below and right of the middle.

    >>> receptive_field(vit, images.take(4), ["blocks.0", "blocks.5"], channels=8).maps.shape
    (2, 32, 32)
    """
    if channels is not None and channels < 1:
        raise ValueError(f"channels={channels}: at least one channel is needed, or None for all")
    place = pick_device(device)
    bar = progress_bar(own_count(images), progress)  # moves with every channel: one batch may take minutes

    def begin(x: Tensor) -> _Gradients:
        wanted = find(model, _before_skip(model, layers, x) if before_skip else layers, x)
        if layers in (None, "blocks", "all"):
            wanted = _with_positions(model, x[:1], wanted)
        return _Gradients(wanted, torch.zeros(len(wanted), *x.shape[-2:], dtype=torch.float64, device="cpu"))

    def visit(state: _Gradients, batch: Tensor) -> None:
        with torch.enable_grad():
            state.add(model, batch.requires_grad_(), channels, bar.update)

    with bar, torch.inference_mode(False):
        state, n = stream([model], [images], begin, visit, batch_size=batch_size, device=place, progress=False)
    return state.result(n)


@dataclass
class _Gradients:
    """Absolute gradients of every layer's centre, summed over channels, images and colours."""

    wanted: list[Tap]
    totals: Tensor  # [L, H, W]
    grids: list[tuple[int, int]] = field(default_factory=list)
    taken: list[int] = field(default_factory=list)  # channels of each layer that are pulled back
    exact: bool = True  # these are all channels
    colours: int = 3

    def add(self, model: nn.Module, x: Tensor, channels: int | None, advance: Callable[[float], Any]) -> None:
        """One minibatch x [n, C, H, W]."""
        centres = _centres(model, x, self.wanted)
        picks = [_sample(centre.shape[1], channels) for _, centre in centres]
        self.grids, self.taken = [grid for grid, _ in centres], [len(pick) for pick in picks]
        self.exact = all(n == centre.shape[1] for n, (_, centre) in zip(self.taken, centres, strict=True))
        self.colours = x.shape[1]
        worth = len(x) / sum(self.taken)  # of one channel, in images of the progress bar
        for total, (_, centre), pick in zip(self.totals, centres, picks, strict=True):
            total += _pull_back(centre, x, pick, advance, worth)

    def result(self, n: int) -> ReceptiveField:
        """Means over n images, those of other processes included."""
        totals = all_sum(self.totals)
        for tap, total in zip(self.wanted, totals, strict=True):
            if not total.isfinite().all():
                raise ValueError(f"NaN or Inf in the gradients of {tap.name!r}")
            if not total.any():
                warn(f"no gradient reaches the input from the centre of {tap.name!r}: its channels are off there; take "
                     "more images or channels")
        maps = totals / (n * self.colours * torch.tensor(self.taken, device="cpu")[:, None, None])
        names = [tap.name for tap in self.wanted]
        return ReceptiveField(maps.numpy(), names, self.grids, self.taken, self.exact, n)


def _before_skip(model: nn.Module, layers: Sequence[str] | str | None, x: Tensor) -> list[str]:
    """The branch outputs that go into the sums called `layers`; all of them by default."""
    entering = {b.after: b.name for b in branches(model, x)}
    if layers in (None, "blocks", "all"):
        return list(entering.values())
    names = [layers] if isinstance(layers, str) else list(layers or ())
    for name in names:
        if name not in entering:
            raise ValueError(f"{name!r} is not a residual sum; sums are {', '.join(list(entering)[:4])}, …")
    return [entering[name] for name in names]


def _with_positions(model: nn.Module, x: Tensor, wanted: list[Tap]) -> list[Tap]:
    """Of layers that nobody chose, those that have positions in the image: a classifier at the end has none."""
    found: dict[int, ValueError | None] = {}

    def visit(i: int, features: Tensor) -> None:
        try:
            feature_map(features, model, x, wanted[i].name)
            found[i] = None
        except ValueError as error:
            found[i] = error

    with tapped(model, wanted, visit):
        model(x.clone())
    errors = [error for error in found.values() if error is not None]
    if len(errors) == len(found):
        raise errors[0]
    if errors:
        names = [tap.name for i, tap in enumerate(wanted) if found[i] is not None]
        warn(f"left out, since they have no positions in the image: {', '.join(names)}")
    return [tap for i, tap in enumerate(wanted) if found[i] is None]


def _centres(model: nn.Module, x: Tensor, wanted: list[Tap]) -> list[tuple[tuple[int, int], Tensor]]:
    """One forward pass: for every tap its grid and its features [n, C] at the centre position, with their graph."""
    found: dict[int, tuple[tuple[int, int], Tensor]] = {}

    def visit(i: int, features: Tensor) -> None:
        layer = feature_map(features, model, x, wanted[i].name)
        rows, columns = layer.shape[-2:]
        found[i] = (rows, columns), layer[:, :, rows // 2, columns // 2].clone()  # an in-place operation may follow

    with tapped(model, wanted, visit):
        model(x.clone())  # a model may change its input in place; x, of which gradients are asked, must stay
    return [found[i] for i in range(len(wanted))]


def _sample(total: int, channels: int | None) -> Tensor:
    """Indices of all channels, or of `channels` random ones, the same in every batch."""
    everything = torch.randperm(total, generator=torch.Generator("cpu").manual_seed(0), device="cpu")
    return everything if channels is None else everything[:channels]


def _pull_back(centre: Tensor, x: Tensor, pick: Tensor, advance: Callable[[float], Any] = lambda images: None,
               worth: float = 0) -> Tensor:
    """Σ |∂ centre_c / ∂x| over channels c in `pick`, images and colours: [n, C], [n, 3, H, W] → [H, W].

    Images of a batch do not influence each other, so one vector pulls the same channel of all of them back.
    """
    total = torch.zeros(x.shape[-2:], dtype=torch.float64, device=float64_device(x.device))
    for channel in pick.tolist():
        vectors = torch.zeros_like(centre)
        vectors[:, channel] = 1
        (gradient,) = torch.autograd.grad(centre, x, vectors, retain_graph=True)
        total += gradient.abs().flatten(0, -3).sum(0).to(total.device)
        advance(worth)
    return total.cpu()  # only now is the device waited for
