"""What the input layer of a ViT has learned: components of its patch filters, and its table of positions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy.fft import dctn
from scipy.stats import spearmanr
from torch import Tensor, nn

from ..networks.anatomy import Grid, patch_embed


def principal_components(filters: Tensor) -> tuple[Tensor, Tensor]:
    """Orthonormal directions [k, ...] in which filters [n, ...] differ most, and their shares of the variance [k]."""
    flat = filters.detach().double().cpu().flatten(1)
    _, sizes, directions = torch.linalg.svd(flat - flat.mean(0), full_matrices=False)
    k = int((sizes > 1e-9 * sizes[0]).sum())
    directions = directions[:k]
    largest = directions.gather(1, directions.abs().argmax(1, keepdim=True))
    directions = directions * largest.sign()  # a component has no sign of its own
    return directions.unflatten(1, filters.shape[1:]), (sizes.square() / sizes.square().sum())[:k]


def low_frequency_share(patterns: Tensor) -> np.ndarray:
    """Share of each pattern's energy [k] in the lower half of the frequencies of both directions; white noise has ¼.

    Patterns are [k, channels, h, w]; the energy is that of their cosine transform, added over the channels.
    """
    energy = dctn(patterns.double().cpu().numpy(), axes=(-2, -1), norm="ortho") ** 2
    h, w = energy.shape[-2:]
    return energy[..., : h // 2, : w // 2].sum((1, 2, 3)) / energy.sum((1, 2, 3))


def position_table(model: nn.Module) -> tuple[Tensor, tuple[int, int]]:
    """Position embeddings of the patches [rows · columns, width], without those of prefix tokens, and the grid."""
    embed: Any = patch_embed(model)
    table = getattr(model, "pos_embed", None)
    if table is None:  # the ablation's models keep their table in the first block
        own = getattr(next(iter(getattr(model, "blocks", ())), None), "position", None)
        table = None if own is None else own()
    if embed is None or not isinstance(table, Tensor):
        raise ValueError(f"{type(model).__name__} has no table of position embeddings: it has no positions, or "
                         "relative ones; pass a ViT with absolute position embeddings")
    rows, columns = embed.grid_size
    table = table.detach().float().cpu().reshape(-1, table.shape[-1])
    if len(table) < rows * columns:
        raise ValueError(f"{len(table)} position embeddings for a grid of {rows}×{columns} patches: they do not fit")
    return table[len(table) - rows * columns :], (rows, columns)


@dataclass(frozen=True, repr=False, eq=False)
class PositionSimilarity:
    """Cosines of every two position embeddings; its numbers can be taken from some places only, for resampling."""

    cosines: np.ndarray  #: [N, N], places counted row by row
    grid: tuple[int, int]  #: rows and columns

    def __repr__(self) -> str:
        return f"PositionSimilarity({self.grid[0]}×{self.grid[1]} places)"

    def spearman(self, places: Any = slice(None)) -> float:
        """Rank correlation of the cosine and the distance to all other places."""
        distance = self._distances()[places]
        other = distance > 0
        return float(spearmanr(self.cosines[places][other], distance[other])[0])

    def contrast(self, places: Any = slice(None), *, exact: bool = False) -> float:
        """Mean cosine within rows and columns minus that of other places at equal distance.

        Equal distances are rare on a small grid, so the mean cosine of the other places is interpolated between the
        distances they have; `exact` keeps only distances that both kinds of pairs have.
        """
        place = np.indices(self.grid).reshape(2, -1)
        in_line = (place[:, :, None] == place[:, None]).any(0)[places]
        distance, cosine = self._distances()[places], self.cosines[places]
        at, which = np.unique(distance[~in_line], return_inverse=True)
        elsewhere = np.bincount(which, cosine[~in_line]) / np.bincount(which)
        chosen = in_line & (np.isin(distance, at) if exact else distance >= at[0])
        return float((cosine[chosen] - np.interp(distance[chosen], at, elsewhere)).mean())

    def _distances(self) -> np.ndarray:
        """Steps between places [N, N], rounded so that equal ones are equal."""
        return Grid(*self.grid, 0, *self.grid).distances().numpy().round(6)


def position_similarity(model: nn.Module) -> PositionSimilarity:
    """Cosine similarity of every two position embeddings of a ViT's patches.

    >>> position_similarity(vit).cosines.shape
    (64, 64)
    """
    table, grid = position_table(model)
    unit = torch.nn.functional.normalize(table.double(), dim=-1)
    return PositionSimilarity((unit @ unit.T).clamp(-1, 1).numpy(), grid)
