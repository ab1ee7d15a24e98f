"""Explorer of scale: what a network trained on a part of the data shares with the one trained on all of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..metrics.attention import AttentionDistance
from ..metrics.cka import CKA
from .base import Explorer, LiveExplorer, show
from .packing import both_languages, pack, share
from .traits import Choice, Index

Measured = tuple[Any, AttentionDistance | None, float]  # CKA by depth, head distances, accuracy


class Scale(Explorer):
    """The network of this `model` trained on this `fraction` of the data, read at one `layer`."""

    name = "scale"
    scripts = ("scale.js",)
    model = Choice(lambda w: w.about["models"])
    fraction = Choice(lambda w: w.about["fractions"][w.model])
    layer = Index(lambda w: w.parts[w.model]["layers"])


def scale_explorer(
    models: Mapping[str, Mapping[float, Measured]],
    *,
    names: Mapping[str, Any] | None = None,
    model: str | None = None,
    fraction: float | None = None,
    layer: int | str | None = None,
) -> Explorer | LiveExplorer:
    """By model and fraction of the training data: (CKA with the full-data network, head distances or None, accuracy).

    The CKA is a result of cka(full, images, network), of which each layer with its own counterpart is shown, or these
    values by depth, or None where there is nothing to compare (the full-data network itself).
    """
    if not models or not all(models.values()):
        raise ValueError("scale_explorer needs fractions for each model: {'ViT': {0.1: (cka, distance, accuracy)}}")
    parts = {name: model_part(name, networks) for name, networks in models.items()}
    about = {
        "models": both_languages(models, names),
        "fractions": {name: part["fractions"] for name, part in parts.items()},
        "layers": {name: len(part["layers"]) for name, part in parts.items()},
    }
    return show(Scale, about=about, parts=parts, model=model, fraction=fraction, layer=layer)


def model_part(model: str, networks: Mapping[float, Measured]) -> dict[str, Any]:
    """All fractions of one model, smallest first; `cka` [fractions, layers] is NaN where it was not given."""
    fractions = sorted(networks)
    given = {f: by_depth(f"{model}, {f}", networks[f][0]) for f in fractions if networks[f][0] is not None}
    if not given:
        raise ValueError(f"{model}: none of its fractions has a CKA with the full-data network")
    layers = next(iter(given.values()))[0]
    lines = np.full((len(fractions), len(layers)), np.nan)
    for fraction, (found, values) in given.items():
        if len(found) != len(layers):
            raise ValueError(f"{model}: CKA has {len(found)} layers for {fraction}, but {len(layers)} for the first")
        lines[fractions.index(fraction)] = values
    return {
        "fractions": [share(f, f"a fraction of the data for {model}") for f in fractions],
        "layers": layers,
        "cka": pack(lines, digits=3, allow_nan=True),
        "accuracy": [share(networks[f][2], f"the accuracy of {model}, {f},") for f in fractions],
        "distances": [heads(f"{model}, {f}", networks[f][1], len(layers)) for f in fractions],
    }


def heads(what: str, distance: AttentionDistance | None, depth: int) -> dict[str, Any] | None:
    """How far every head looks [blocks, heads], in pixels; None for a network without attention."""
    if distance is None:
        return None
    if len(distance.pixels) != depth:
        raise ValueError(f"{what}: head distances of {len(distance.pixels)} blocks do not fit CKA of {depth} layers")
    return {"pixels": pack(distance.pixels, digits=2), "uniform": float(distance.uniform)}


def by_depth(what: str, measured: CKA | Sequence[float]) -> tuple[list[str], np.ndarray]:
    """Layer names and CKA of each layer with its counterpart [layers]."""
    if isinstance(measured, CKA):
        if measured.cross is None or measured.cross.shape[0] != measured.cross.shape[1]:
            raise ValueError(f"{what}: needs the CKA of two networks with the same layers: cka(full, images, network)")
        return measured.layers, measured.cross.diagonal()
    values = np.asarray(measured, dtype=np.float64)
    if values.ndim != 1 or values.size == 0:
        raise ValueError(f"{what}: CKA by depth must be one value for each layer, got shape {values.shape}")
    return [str(i) for i in range(values.size)], values
