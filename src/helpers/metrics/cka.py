"""Minibatch CKA of every pair of layers of one or two models, in one forward pass per model.

Each tapped layer is turned into its Gram matrix inside the hook, so its features are freed at once and an
in-place operation that follows cannot change them; `HSICSums` adds up HSIC₁ of all pairs over minibatches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn

from .. import plots
from ..inputs.batches import (
    ImageSource,
    batches,
    count,
    is_loader,
    require_fixed_order,
    require_same_preprocessing,
    to_model,
    with_progress,
)
from ..networks.taps import Tap, find, tapped
from ..runtime.device import borrowed, pick_device
from ..runtime.distributed import share, together
from .similarity import SMALLEST_BATCH, HSICSums, See


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
    device: str | torch.device | None = None,
    progress: bool = True,
) -> CKA:
    """Unbiased minibatch CKA of all layer pairs within `model`, and within `other` and across when it is given.

    `images` are a tensor [n, C, H, W], a dataset or a loader. `layers` are tap names, "blocks" (default) or "all"; the
    result lists them in execution order. `other_images` are the same images in the same order, prepared for `other`.
    With `passes` > 1 every further pass cuts the images into minibatches anew, at random.

    >>> cka(vit, images, resnet, batch_size=32).cross.shape
    (6, 9)
    """
    place = pick_device(device)
    models = [model] if other is None else [model, other]
    sources = [images] if other_images is None else [images, other_images]
    check_sources(models, sources, passes)
    names = [layers, other_layers]
    sums: HSICSums | None = None
    with ExitStack() as stack, torch.no_grad():
        for m in models:
            stack.enter_context(borrowed(m, place))
        for batch in minibatches(sources, batch_size, passes, progress, models):
            inputs = [to_model(batch[min(i, len(batch) - 1)], m, place) for i, m in enumerate(models)]
            if sums is None:  # the first batch tells in which order the layers run
                wanted = [find(m, names[i], inputs[i]) for i, m in enumerate(models)]
                sums = HSICSums([tap.name for taps in wanted for tap in taps], place)
            with sums.minibatch(len(inputs[0])) as see:
                _forward(models, inputs, wanted, see)
    assert sums is not None  # an empty source has raised before
    sums.add_up()
    return _result(sums, wanted, passes)


def _forward(models: list[nn.Module], inputs: list[Tensor], wanted: list[list[Tap]], see: See) -> None:
    """Run every model on its batch; layers are numbered on from one model to the next."""
    first = 0
    for model, x, taps in zip(models, inputs, wanted, strict=True):
        with tapped(model, taps, see, first):
            model(x)
        first += len(taps)


def _result(sums: HSICSums, wanted: list[list[Tap]], passes: int) -> CKA:
    first, values = len(wanted[0]), sums.cka().numpy()
    mine = (values[:first, :first], sums.names[:first], sums.n_images // passes, sums.batch_size)
    if len(wanted) == 1:
        return CKA(*mine)
    return CKA(*mine, values[first:, first:], values[:first, first:], sums.names[first:])


def check_sources(models: list[nn.Module], sources: list[ImageSource], passes: int) -> None:
    """Refuse images that cannot be shown to these models, or not that many times."""
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


def minibatches(
    sources: list[ImageSource], batch_size: int, passes: int, progress: bool, models: Sequence[nn.Module] = ()
) -> Iterator[tuple[Tensor, ...]]:
    """One batch [n, ...] per source; the first pass in order, further ones in random order k, the same for all.

    Source i is for model i; a single source is for all `models`.
    """
    readers = [models] if len(sources) == 1 else [models[i : i + 1] for i in range(len(sources))]
    streams = [batches(source, batch_size, smallest=SMALLEST_BATCH, passes=passes, models=theirs)
               for source, theirs in zip(sources, readers, strict=True)]
    n = count(sources[0])
    streams[0] = with_progress(streams[0], share(n and n * passes), progress)
    for batch in zip_longest(*streams, fillvalue=torch.empty(0)):
        if len({len(part) for part in batch}) > 1:
            raise ValueError("images and other_images do not give the same number of images")
        yield batch
