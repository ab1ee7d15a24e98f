"""Minibatch CKA of every pair of layers of one or two models, in one forward pass per model.

Each tapped layer is turned into its U-centred Gram matrix inside the hook, so its features are freed at once
and an in-place operation that follows cannot change them. With u_i the upper triangle of layer i's matrix,
⟨U(K_i), U(K_j)⟩ = 2 u_i · u_j, so one product of the stacked triangles gives HSIC₁ of all pairs.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn

from . import plots
from .device import borrowed, float64_device, pick_device
from .images import (
    ImageSource,
    batches,
    count,
    is_loader,
    require_fixed_order,
    require_same_preprocessing,
    to_model,
    with_progress,
)
from .similarity import SMALLEST_BATCH, gram, u_centre
from .taps import Tap, find, tapped


@dataclass(frozen=True, repr=False, eq=False)
class CKA:
    """CKA matrices of one model (`within`) or two (`within`, `other`, `cross`), float64, never clipped."""

    within: np.ndarray  # [L, L]
    layers: list[str]
    n_images: int
    batch_size: int
    other: np.ndarray | None = None  # [M, M]
    cross: np.ndarray | None = None  # [L, M]
    other_layers: list[str] | None = None

    def __repr__(self) -> str:
        size = f"{len(self.layers)}" + (f" × {len(self.other_layers)}" if self.other_layers else "")
        return f"CKA({size} layers, {self.n_images} images in batches of {self.batch_size})"

    def to_frame(self) -> pd.DataFrame:
        """`cross` when there are two models, else `within`, with layer names on both axes."""
        if self.cross is not None:
            return pd.DataFrame(self.cross, index=self.layers, columns=self.other_layers)
        return pd.DataFrame(self.within, index=self.layers, columns=self.layers)

    def plot(self, axes: Any = None) -> Any:
        """Heat-maps, first layer at the bottom left: within, and for two models cross and other beside it."""
        panels = [(self.within, self.layers, self.layers)]
        if self.cross is not None and self.other is not None and self.other_layers is not None:
            panels.append((self.cross.T, self.layers, self.other_layers))
            panels.append((self.other, self.other_layers, self.other_layers))
        return plots.heatmaps(panels, label="CKA", axes=axes)


def cka(
    model: nn.Module,
    images: ImageSource,
    other: nn.Module | None = None,
    *,
    layers: Sequence[str] | str | None = None,
    other_layers: Sequence[str] | str | None = None,
    other_images: ImageSource | None = None,
    batch_size: int = 128,
    passes: int = 1,
    device: str | torch.device | None = None,
    progress: bool = True,
) -> CKA:
    """Unbiased minibatch CKA of all layer pairs within `model`, and within `other` and across when it is given.

    `layers` are tap names, "blocks" (default) or "all"; the result lists them in execution order. `other_images`
    are the same images in the same order, prepared for `other`. With `passes` > 1 every further pass cuts the
    images into minibatches anew, at random.
    """
    place = pick_device(device)
    models = [model] if other is None else [model, other]
    sources = [images] if other_images is None else [images, other_images]
    _check_sources(models, sources, passes)
    names = [layers, other_layers]
    sums: _HSICSums | None = None
    with ExitStack() as stack, torch.no_grad():
        for m in models:
            stack.enter_context(borrowed(m, place))
        for batch in _minibatches(sources, batch_size, passes, progress):
            inputs = [to_model(batch[min(i, len(batch) - 1)], m, place) for i, m in enumerate(models)]
            if sums is None:
                sums = _HSICSums([find(m, names[i], inputs[i]) for i, m in enumerate(models)], place)
            sums.add(models, inputs)
    assert sums is not None  # an empty source has raised before
    return sums.result(passes)


def _check_sources(models: list[nn.Module], sources: list[ImageSource], passes: int) -> None:
    if passes < 1:
        raise ValueError(f"passes must be at least 1, not {passes}")
    if len(sources) > len(models):
        raise ValueError("other_images needs a second model: pass other=…")
    if len(models) > len(sources):
        require_same_preprocessing(*models)
    if passes > 1 or len(sources) > 1:
        for source in sources:
            require_fixed_order(source)
    if passes > 1 and any(is_loader(source) for source in sources):
        raise ValueError("a loader makes the same minibatches on every pass: for passes > 1 pass a dataset or tensor")


def _minibatches(
    sources: list[ImageSource], batch_size: int, passes: int, progress: bool
) -> Iterator[tuple[Tensor, ...]]:
    """One batch [n, ...] per source; the first pass in order, further ones in random order k, the same for all."""

    def stream(source: ImageSource) -> Iterator[Tensor]:
        for k in range(passes):
            yield from batches(source, batch_size, smallest=SMALLEST_BATCH, seed=k or None)

    streams = [stream(source) for source in sources]
    total = count(sources[0])
    streams[0] = with_progress(streams[0], total and total * passes, progress)
    for batch in zip_longest(*streams, fillvalue=torch.empty(0)):
        if len({len(part) for part in batch}) > 1:
            raise ValueError("images and other_images do not give the same number of images")
        yield batch


class _HSICSums:
    """HSIC₁ of all layer pairs of all models, summed over minibatches."""

    def __init__(self, wanted: list[list[Tap]], device: torch.device) -> None:
        self.wanted = wanted
        self.names = [tap.name for taps in wanted for tap in taps]
        self.options: Any = {"dtype": torch.float64, "device": float64_device(device)}
        self.hsic = torch.zeros(len(self.names), len(self.names), **self.options)
        self.scale = torch.zeros(len(self.names), **self.options)
        self.n_images = self.batch_size = 0

    def add(self, models: list[nn.Module], inputs: list[Tensor]) -> None:
        """One minibatch, [n, ...] for each model."""
        n = len(inputs[0])
        upper = tuple(torch.triu_indices(n, n, 1, device=self.hsic.device))
        triangles = torch.full((len(self.names), n * (n - 1) // 2), torch.nan, **self.options)

        def visit(first: int, i: int, features: Tensor) -> None:
            i += first
            if len(features) != n:
                raise ValueError(f"layer {self.names[i]!r} gives {len(features)} rows for {n} images, not one each")
            k = _gram_above_rounding(features)
            self.scale[i] += (k.trace() / n) ** 2
            triangles[i] = u_centre(k)[upper]

        first = 0
        for model, x, taps in zip(models, inputs, self.wanted, strict=True):
            with tapped(model, taps, partial(visit, first)):
                model(x)
            first += len(taps)
        self._require_finite(triangles)
        self.hsic += (triangles @ triangles.T) * (2 / (n * (n - 3)))
        self.n_images += n
        self.batch_size = max(self.batch_size, n)

    def _require_finite(self, triangles: Tensor) -> None:
        broken = ~triangles.isfinite().all(dim=1)
        if broken.any():
            names = [name for name, bad in zip(self.names, broken.tolist(), strict=True) if bad]
            raise ValueError(f"NaN or Inf in the activations of {names[0]!r} ({len(names)} layers in all)")

    def result(self, passes: int) -> CKA:
        """The ratio, at last; NaN where a layer is constant."""
        own = self.hsic.diagonal()
        defined = own > 1e-12 * self.scale  # below: U-centring left nothing but float32 rounding
        matrix = self.hsic / (own[:, None] * own[None, :]).sqrt()
        matrix[~defined, :] = matrix[:, ~defined] = torch.nan
        if not defined.all():
            names = [name for name, fine in zip(self.names, defined.tolist(), strict=True) if not fine]
            warnings.warn(f"CKA is undefined (NaN) for layers that are the same for all images: {', '.join(names)}",
                          stacklevel=3)
        first, values = len(self.wanted[0]), matrix.cpu().numpy()
        mine = (values[:first, :first], self.names[:first], self.n_images // passes, self.batch_size)
        if len(self.wanted) == 1:
            return CKA(*mine)
        return CKA(*mine, values[first:, first:], values[:first, first:], self.names[first:])


def _gram_above_rounding(features: Tensor) -> Tensor:
    """Centred Gram [n, n] of [n, ...]; all zeros when the examples differ by no more than rounding."""
    k = gram(features, centred=True)
    size = features[0].float().square().sum().to(k)
    return k * (k.trace() / len(k) > (4 * torch.finfo(features.dtype).eps) ** 2 * size)
