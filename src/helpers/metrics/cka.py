"""Minibatch CKA of every pair of layers of one or two models, in one forward pass per model.

Each tapped layer is turned into its Gram matrix inside the hook, so its features are freed at once and an
in-place operation that follows cannot change them; `HSICSums` adds up HSIC₁ of all pairs over minibatches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn

from .. import plots
from ..inputs.batches import ImageSource
from ..networks.anatomy import channel_axis
from ..networks.taps import Tap, find, tapped
from ..runtime.distributed import together
from .channels import channel_moments
from .similarity import SMALLEST_BATCH, HSICSums, Visit
from .stream import check_sources, stream


@dataclass(frozen=True, repr=False, eq=False)
class CKA:
    """CKA matrices of one model (`within`) or two (`within`, `other`, `cross`), float64, never clipped."""

    within: np.ndarray  #: [L, L], every layer of the model with every other
    layers: list[str]  #: [L], names in execution order
    n_images: int
    batch_size: int
    other: np.ndarray | None = None  #: [M, M], the same for the second model
    cross: np.ndarray | None = None  #: [L, M], layers of the model in rows, of the second one in columns
    other_layers: list[str] | None = None  #: [M]

    def __repr__(self) -> str:
        size = f"{len(self.layers)}" + (f" × {len(self.other_layers)}" if self.other_layers else "")
        return f"CKA({size} layers, {self.n_images} images in batches of {self.batch_size})"

    def only(self, keep: Callable[[str], bool]) -> CKA:
        """The same matrices with only the layers whose names `keep` accepts, of both models."""
        mine = [i for i, name in enumerate(self.layers) if keep(name)]
        theirs = [i for i, name in enumerate(self.other_layers or []) if keep(name)]
        for names, kept in ((self.layers, mine), (self.other_layers, theirs)):
            if names and not kept:
                raise ValueError(f"no layer is left of {', '.join(names)}")
        result = replace(self, within=self.within[np.ix_(mine, mine)], layers=[self.layers[i] for i in mine])
        if self.other is None or self.cross is None or self.other_layers is None:
            return result
        return replace(result, other=self.other[np.ix_(theirs, theirs)], cross=self.cross[np.ix_(mine, theirs)],
                       other_layers=[self.other_layers[i] for i in theirs])

    @classmethod
    def mean(cls, parts: Sequence[CKA]) -> CKA:
        """The mean of matrices measured on disjoint parts of the images, as if one result."""
        first = parts[0]
        if any((part.layers, part.other_layers) != (first.layers, first.other_layers) for part in parts):
            raise ValueError("the mean needs results for the same layers")
        sides = {side: np.mean([getattr(part, side) for part in parts], axis=0)
                 for side in ("within", "other", "cross") if getattr(first, side) is not None}
        return replace(first, n_images=sum(part.n_images for part in parts), **sides)

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


@together
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
    standardise: bool = False,
    device: str | torch.device | None = None,
    progress: bool | None = None,
) -> CKA:
    """Unbiased minibatch CKA of all layer pairs within `model`, and within `other` and across when it is given.

    `images` are a tensor [n, C, H, W], a dataset or a loader. `layers` are tap names, "blocks" (default) or "all"; the
    result lists them in execution order. `other_images` are the same images in the same order, prepared for `other`.
    With `passes` > 1 every further pass cuts the images into minibatches anew, at random. With `standardise` every
    channel has variance 1 first, over images and positions (one more pass), so that none of them drowns the others.

    >>> cka(vit, images, resnet, batch_size=32).cross.shape
    (6, 9)
    """
    models = [model] if other is None else [model, other]
    sources = [images] if other_images is None else [images, other_images]
    names = [layers, other_layers]
    check_sources(models, sources, passes)
    scales = [_deviations(m, source, which, batch_size, device, progress) if standardise else {}
              for m, source, which in zip(models, (sources * 2)[: len(models)], names, strict=False)]

    def begin(*inputs: Tensor) -> tuple[list[list[Tap]], HSICSums]:  # the first batch tells in which order layers run
        wanted = [find(m, names[i], x) for i, (m, x) in enumerate(zip(models, inputs, strict=True))]
        return wanted, HSICSums([tap.name for taps in wanted for tap in taps], inputs[0].device)

    def visit(state: tuple[list[list[Tap]], HSICSums], *inputs: Tensor) -> None:
        wanted, sums = state
        with sums.minibatch(len(inputs[0])) as visit_layer:
            _forward(models, inputs, wanted, visit_layer, scales)

    (wanted, sums), _ = stream(models, sources, begin, visit, batch_size=batch_size, passes=passes,
                               smallest=SMALLEST_BATCH, device=device, progress=progress)
    sums.add_up()
    return _result(sums, wanted, passes)


def _deviations(model: nn.Module, images: ImageSource, layers: Any, batch_size: int, device: Any,
                progress: bool | None) -> dict[str, Tensor]:
    """Layer → standard deviation of each of its channels [channels]."""
    moments, wanted, _ = channel_moments(model, images, layers, batch_size, device, progress)
    return {tap.name: one.deviation() for tap, one in zip(wanted, moments, strict=True)}


def _forward(models: Sequence[nn.Module], inputs: Sequence[Tensor], wanted: list[list[Tap]], visit: Visit,
             scales: Sequence[dict[str, Tensor]]) -> None:
    """Run every model on its batch; layers are numbered on from one model to the next."""
    first = 0
    for model, x, taps, scale in zip(models, inputs, wanted, scales, strict=True):
        with tapped(model, taps, _standardised(visit, scale, taps, first, model, x) if scale else visit, first):
            model(x)
        first += len(taps)


def _standardised(visit: Visit, scale: dict[str, Tensor], taps: list[Tap], first: int, model: nn.Module,
                  x: Tensor) -> Visit:
    """visit(i, features) with every channel divided by its standard deviation."""

    def visit_divided(i: int, features: Tensor) -> None:
        name = taps[i - first].name
        axis = channel_axis(features, model, x, name)
        along = [-1 if i == axis else 1 for i in range(features.dim())]
        visit(i, features / scale[name].to(features).reshape(along))

    return visit_divided


def _result(sums: HSICSums, wanted: list[list[Tap]], passes: int) -> CKA:
    first, values = len(wanted[0]), sums.cka().numpy()
    mine = (values[:first, :first], sums.names[:first], sums.n_images // passes, sums.batch_size)
    if len(wanted) == 1:
        return CKA(*mine)
    return CKA(*mine, values[first:, first:], values[:first, first:], sums.names[first:])
