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

from . import plots
from .device import borrowed, pick_device
from .images import ImageSource, feed, normalisation
from .shards import together
from .similarity import SMALLEST_BATCH, HSICSums
from .taps import Tap, feature_map, find, tapped


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
    def hits(self) -> np.ndarray:
        """Whether a token's most similar patch is its own, [tokens] of booleans."""
        return np.nan_to_num(self._flat(), nan=-np.inf).argmax(1) == np.arange(len(self.maps))

    @property
    def hit_rate(self) -> float:
        """Share of interior tokens whose most similar patch is their own (of all tokens on a grid without interior)."""
        inner = ~self.border
        return float(self.hits[inner].mean() if inner.any() else self.hits.mean())

    @property
    def contrast(self) -> float:
        """CKA with the own patch minus the mean over all others, averaged over tokens."""
        others = self._flat().copy()
        np.fill_diagonal(others, np.nan)
        return float(np.nanmean(self.own - np.nanmean(others, axis=1)))

    @property
    def edge(self) -> float:
        """For tokens on the rim: mean CKA with other rim patches minus with interior patches (NaN without interior)."""
        others = self._flat().copy()
        np.fill_diagonal(others, np.nan)
        rim = self.border
        if rim.all():
            return float("nan")
        return float(np.nanmean(others[np.ix_(rim, rim)]) - np.nanmean(others[np.ix_(rim, ~rim)]))

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


@together
def localization(model: nn.Module, images: ImageSource, layer: str, grid: tuple[int, int] | None = None, *,
                 batch_size: int = 128, device: str | torch.device | None = None, progress: bool = True
                 ) -> Localization:
    """CKA of every token of `layer` with every patch of the input, cut into the token grid.

    With `grid` the layer is first average-pooled to that many rows and columns: for early layers of a ResNet.

    >>> localization(vit, images, "blocks.5").maps.shape
    (64, 8, 8)
    """
    place = pick_device(device)
    sums: HSICSums | None = None
    wanted: list[Tap] = []
    with borrowed(model, place), torch.no_grad():
        for x in feed(model, images, batch_size, place, progress, smallest=SMALLEST_BATCH):
            wanted = wanted or find(model, [layer], x)
            tokens = _tokens(model, x, wanted, grid)
            patches = _patches(_raw_pixels(x, model), tokens.shape[-2], tokens.shape[-1])
            if sums is None:
                names = [f"{kind} ({r}, {c})" for kind in (f"{layer}, token", "input, patch")
                         for r in range(tokens.shape[-2]) for c in range(tokens.shape[-1])]
                sums = HSICSums(names, place)
            with sums.minibatch(len(x)) as see:
                for i, features in enumerate([*tokens.flatten(2).unbind(-1), *patches.flatten(2).unbind(-1)]):
                    see(i, features)
    assert sums is not None  # an empty source has raised before
    sums.add_up()
    n = len(sums.names) // 2
    return Localization(sums.cka()[:n, n:].reshape(n, *tokens.shape[-2:]).numpy(), layer, sums.n_images)


def _tokens(model: nn.Module, x: Tensor, wanted: list[Tap], grid: tuple[int, int] | None) -> Tensor:
    """The layer's features as a map [n, C, rows, columns], pooled to `grid` if that is given."""
    kept: list[Tensor] = []
    copy = lambda _, features: kept.append(feature_map(features, model, x, wanted[0].name).clone())
    with tapped(model, wanted, copy):
        model(x)
    return kept[0] if grid is None else F.adaptive_avg_pool2d(kept[0], grid)


def _raw_pixels(x: Tensor, model: nn.Module) -> Tensor:
    """Normalised images with the channels' own scales given back (the means do not matter to CKA)."""
    declared = normalisation(model)
    return x if declared is None else x * torch.tensor(declared[1], device=x.device, dtype=x.dtype)[:, None, None]


def _patches(x: Tensor, rows: int, columns: int) -> Tensor:
    """[n, C, H, W] → pixels of each patch [n, C·h·w, rows, columns]"""
    height, width = x.shape[-2:]
    if height % rows or width % columns:
        raise ValueError(f"images of {height}×{width} px cannot be cut into {rows}×{columns} equal patches")
    size = (height // rows, width // columns)
    return F.unfold(x, size, stride=size).unflatten(2, (rows, columns))
