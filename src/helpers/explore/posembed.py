"""Explorer of a ViT's input: which positions have similar embeddings, and what its patch filters look for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from torch import nn

from ..metrics.embeddings import position_similarity, principal_components
from ..networks.anatomy import patch_embed
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
        similarity, filters = position_similarity(vit), filter_components(vit)
        low = min(low, float(similarity.cosines.min()))
        about[key] = {"name": called[key], "grid": list(similarity.grid)}
        parts[key] = {"cosines": pack(similarity.cosines, digits=3)}
        if filters is not None:
            parts[key] |= {"filters": pack(filters[0]), "shares": filters[1].tolist()}
    if position is None:
        rows, columns = about[model if model in about else next(iter(about))]["grid"]
        position = rows // 2 * columns + columns // 2
    whole = {"models": about, "low": math.floor(10 * low) / 10}  # where the colour scale of all models begins
    return show(Posembed, about=whole, parts=parts, model=model, position=position)


def filter_components(model: nn.Module) -> tuple[np.ndarray, np.ndarray] | None:
    """Leading principal components of the patch filters as uint8 pictures [k, h, w, 3], and their shares of variance.

    Each is stretched to the full range of brightness. None if the model does not read the pixels of a patch linearly.
    """
    projection = getattr(patch_embed(model), "proj", None)
    if not isinstance(projection, nn.Conv2d) or projection.in_channels != 3:
        return None
    directions, shares = principal_components(projection.weight)
    directions, shares = directions[:MOST_FILTERS], shares[:MOST_FILTERS]
    low, high = directions.amin((1, 2, 3), keepdim=True), directions.amax((1, 2, 3), keepdim=True)
    pictures = (255 * (directions - low) / (high - low)).round().byte()
    return pictures.permute(0, 2, 3, 1).numpy(), shares.numpy()

