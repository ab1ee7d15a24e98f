"""Explorer of a ViT's input: which positions have similar embeddings, and what its patch filters look for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ..images import patch_embed
from .base import Explorer, LiveExplorer, show
from .packing import both_languages, pack
from .traits import Choice, Index

MOST_FILTERS = 28  # as many as in Figure 7 of the ViT paper


class Posembed(Explorer):
    """One of the models and one position of its grid, counted row by row."""

    name = "posembed"
    scripts = ("readings.js", "posembed.js")
    model = Choice(lambda self: list(self.about["models"]))
    position = Index(lambda self: int(np.prod(self.about["models"][self.model]["grid"])))


def posembed_explorer(models: nn.Module | Mapping[str, nn.Module], *, names: Mapping[str, Any] | None = None,
                      model: str | None = None, position: int | None = None) -> Explorer | LiveExplorer:
    """Cosine similarity of every two position embeddings, beside the principal components of the patch filters.

    `models` is a timm ViT or {key: ViT}, say one trained and one untrained; `names` gives keys a text or
    {"en": …, "ko": …}. A 14×14 grid takes 0.1 MB, a lab model 10 kB.
    """
    models = {"ViT": models} if isinstance(models, nn.Module) else dict(models)
    if not models:
        raise ValueError("there is no model: pass one, or {name: model, …}")
    called, low = both_languages(models, names), 0.0
    about: dict[str, Any] = {}
    parts: dict[str, Any] = {}
    for key, vit in models.items():
        table, grid = position_table(vit)
        filters = filter_components(vit)
        unit = torch.nn.functional.normalize(table.double(), dim=-1)
        cosines = (unit @ unit.T).clamp(-1, 1).numpy()
        low = min(low, float(cosines.min()))
        about[key] = {"name": called[key], "grid": list(grid)}
        parts[key] = {"cosines": pack(cosines, digits=3)}
        if filters is not None:
            parts[key] |= {"filters": pack(filters[0]), "shares": filters[1].tolist()}
    if position is None:
        rows, columns = about[model if model in about else next(iter(about))]["grid"]
        position = rows // 2 * columns + columns // 2
    whole = {"models": about, "low": math.floor(10 * low) / 10}  # where the colour scale of all models begins
    return show(Posembed, about=whole, parts=parts, model=model, position=position)


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


def filter_components(model: nn.Module) -> tuple[np.ndarray, np.ndarray] | None:
    """Leading principal components of the patch filters as uint8 pictures [k, h, w, 3], and their shares of variance.

    Each is stretched to the full range of brightness. None if the model does not read the pixels of a patch linearly.
    """
    projection = getattr(patch_embed(model), "proj", None)
    if not isinstance(projection, nn.Conv2d) or projection.in_channels != 3:
        return None
    weights = projection.weight.detach().double().cpu()
    _, sizes, directions = torch.linalg.svd(weights.flatten(1) - weights.flatten(1).mean(0), full_matrices=False)
    k = min(MOST_FILTERS, int((sizes > 1e-9 * sizes[0]).sum()))
    directions = directions[:k]
    largest = directions.gather(1, directions.abs().argmax(1, keepdim=True))
    directions = directions * largest.sign()  # a component has no sign of its own
    low, high = directions.amin(1, keepdim=True), directions.amax(1, keepdim=True)
    pictures = (255 * (directions - low) / (high - low)).round().byte().unflatten(1, weights.shape[1:])
    return pictures.permute(0, 2, 3, 1).numpy(), (sizes.square() / sizes.square().sum())[:k].numpy()
