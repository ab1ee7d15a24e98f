"""Where a token comes from: CKA between one token and the pixels of every patch of the input.

X is one token (ResNet: all channels at one position) and Y the raw pixels of one patch, both over the same images.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .. import plots
from ..inputs.batches import ImageSource
from ..networks.anatomy import feature_map, normalisation
from ..networks.taps import Tap, find, tapped
from ..runtime.distributed import together
from .similarity import SMALLEST_BATCH, HSICSums
from .stream import stream


@dataclass(frozen=True, repr=False, eq=False)
class Localization:
    """CKA of every spatial token with every input patch, and how well a token points back at its own patch."""

    maps: np.ndarray  #: [tokens, rows, columns], tokens row by row
    layer: str  #: name of the tap
    n_images: int

    def __repr__(self) -> str:
        return (f"Localization({self.layer}, {len(self.maps)} tokens, {self.n_images} images, hit rate "
                f"{self.hit_rate:.2f} (chance {self.chance:.3f}), contrast {self.contrast:.3f}, edge {self.edge:.3f})")

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.maps.shape[1], self.maps.shape[2]

    @property
    def chance(self) -> float:
        """Hit rate of a token that knows nothing."""
        return 1 / len(self.maps)

    @property
    def border(self) -> np.ndarray:
        """Which tokens lie on the rim of the grid, [tokens] of booleans."""
        inner = np.zeros(self.grid, dtype=bool)
        inner[1:-1, 1:-1] = True
        return ~inner.ravel()

    @property
    def own(self) -> np.ndarray:
        """CKA of each token with its own patch [tokens]."""
        return np.diagonal(self._flat()).copy()

    @property
    def others(self) -> np.ndarray:
        """Mean CKA of each token with all other patches [tokens]."""
        return _mean_of_known(self._without_own(), axis=1)

    @property
    def steps(self) -> np.ndarray:
        """Rows down and columns right from each token's own patch to its most similar one [tokens, 2]."""
        best = np.nan_to_num(self._flat(), nan=-np.inf).argmax(1)
        places = np.divmod([best, np.arange(len(self.maps))], self.grid[1])
        return np.stack([found - own for found, own in places], axis=1)

    @property
    def hits(self) -> np.ndarray:
        """Whether a token's most similar patch is its own, [tokens] of booleans; not so without any CKA."""
        return (self.steps == 0).all(1) & ~np.isnan(self.own)

    @property
    def hit_rate(self) -> float:
        """Share of interior tokens whose most similar patch is their own (of all tokens on a grid without interior)."""
        inner = ~self.border
        return float(self.hits[inner].mean() if inner.any() else self.hits.mean())

    @property
    def contrast(self) -> float:
        """CKA with the own patch minus the mean over all others, averaged over tokens."""
        return float(_mean_of_known(self.own - self.others))

    @property
    def edge(self) -> float:
        """For tokens on the rim: mean CKA with other rim patches minus with interior patches (NaN without interior)."""
        return self._edge(self.border)

    @property
    def inner_edge(self) -> float:
        """For interior tokens: mean CKA with rim patches minus with other interior patches (NaN without interior)."""
        return self._edge(~self.border)

    def _edge(self, tokens: np.ndarray) -> float:
        others, rim = self._without_own()[tokens], self.border
        return float(_mean_of_known(others[:, rim]) - _mean_of_known(others[:, ~rim]))

    def _without_own(self) -> np.ndarray:
        """All maps as rows [tokens, patches], NaN at the own patch."""
        others = self._flat().copy()
        np.fill_diagonal(others, np.nan)
        return others

    def _flat(self) -> np.ndarray:
        return self.maps.reshape(len(self.maps), -1)

    def to_frame(self) -> pd.DataFrame:
        """One row per token."""
        rows, columns = np.divmod(np.arange(len(self.maps)), self.grid[1])
        return pd.DataFrame({"token": np.arange(len(self.maps)), "row": rows, "column": columns, "own": self.own,
                             "hit": self.hits, "border": self.border})

    def plot(self, tokens: Sequence[int] | None = None, axes: Any = None) -> Any:
        """Heat-maps of a few tokens, by default along the diagonal from the corner to the centre."""
        rows, columns = self.grid
        if tokens is None:
            tokens = [i * columns + min(i, columns - 1) for i in np.linspace(0, rows // 2, 4).round().astype(int)]
        titles = [f"({t // columns}, {t % columns})" for t in tokens]
        return plots.images([self.maps[t] for t in tokens], titles, axes=axes)


def _mean_of_known(values: np.ndarray, axis: int | None = None) -> Any:
    """np.nanmean, but the mean of nothing is NaN without a warning: a patch may have no others to compare it with."""
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.where(known, values, 0).sum(axis) / known.sum(axis)


@together
def localization(model: nn.Module, images: ImageSource, layer: str | Sequence[str],
                 grid: tuple[int, int] | None = None, *, batch_size: int = 128,
                 device: str | torch.device | None = None, progress: bool | None = None) -> Any:
    """CKA of every token of `layer` with every patch of the input, cut into the token grid.

    With `grid` the layer is first average-pooled to that many rows and columns: for early layers of a ResNet. Several
    layers, one pass: a dictionary name → Localization, in execution order.

    >>> localization(vit, images, "blocks.5").maps.shape
    (64, 8, 8)
    """
    names = [layer] if isinstance(layer, str) else list(layer)

    def begin(x: Tensor) -> tuple[list[Tap], list[_TokensAndPatches]]:
        wanted = find(model, names, x)
        return wanted, [_TokensAndPatches(tap.name, grid) for tap in wanted]

    def visit(state: tuple[list[Tap], list[_TokensAndPatches]], x: Tensor) -> None:
        wanted, sums = state  # every layer is compared with the input as soon as it is computed
        with tapped(model, wanted, lambda i, features: sums[i].add(features, x, model)):
            model(x.clone())  # which it may change in place, while x is compared with

    (_, sums), _ = stream([model], [images], begin, visit, batch_size=batch_size, smallest=SMALLEST_BATCH,
                          device=device, progress=progress)
    found = {one.layer: one.result() for one in sums}
    return found[layer] if isinstance(layer, str) else found


class _TokensAndPatches:
    """HSIC of the tokens of one layer and the patches of the input, summed over minibatches."""

    def __init__(self, layer: str, grid: tuple[int, int] | None) -> None:
        self.layer, self.grid = layer, grid
        self.sums: HSICSums | None = None

    def add(self, features: Tensor, x: Tensor, model: nn.Module) -> None:
        """One minibatch: what the layer gives for the images x [n, C, H, W]."""
        tokens = feature_map(features, model, x, self.layer)
        tokens = tokens if self.grid is None else F.adaptive_avg_pool2d(tokens, self.grid)
        self.grid = (tokens.shape[-2], tokens.shape[-1])
        patches = _patches(_raw_pixels(x, model), *self.grid)
        self.sums = self.sums or HSICSums(self._names(), x.device)
        with self.sums.minibatch(len(x)) as visit:
            for i, one in enumerate([*tokens.flatten(2).unbind(-1), *patches.flatten(2).unbind(-1)]):
                visit(i, one)

    def _names(self) -> list[str]:
        assert self.grid is not None
        return [f"{kind} ({row}, {column})" for kind in (f"{self.layer}, token", "input, patch")
                for row, column in np.ndindex(*self.grid)]

    def result(self) -> Localization:
        """The maps of all minibatches, those of other processes included."""
        assert self.sums is not None and self.grid is not None  # an empty source has raised before
        self.sums.add_up()
        n = len(self.sums.names) // 2
        maps = self.sums.cka()[:n, n:].reshape(n, *self.grid)
        return Localization(maps.numpy(), self.layer, self.sums.n_images)


def _raw_pixels(x: Tensor, model: nn.Module) -> Tensor:
    """Normalised images with the channels' own scales given back (the means do not matter to CKA)."""
    declared = normalisation(model)
    if declared is not None and len(declared[1]) not in (1, x.shape[1]):
        raise ValueError(f"images have {x.shape[1]} channels, but the model declares the scale of {len(declared[1])}: "
                         "give model.pretrained_cfg a 'mean' and a 'std' for every channel, or None")
    return x if declared is None else x * torch.tensor(declared[1], device=x.device, dtype=x.dtype)[:, None, None]


def _patches(x: Tensor, rows: int, columns: int) -> Tensor:
    """[n, C, H, W] → pixels of each patch [n, C·h·w, rows, columns]"""
    height, width = x.shape[-2:]
    if height % rows or width % columns:
        raise ValueError(f"images of {height}×{width} px cannot be cut into {rows}×{columns} equal patches")
    size = (height // rows, width // columns)
    return F.unfold(x, size, stride=size).unflatten(2, (rows, columns))
