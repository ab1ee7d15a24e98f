"""Explorer of CKA: the heat-map of any two models, and the line of one layer against all layers of the other model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..metrics.cka import CKA
from .base import Explorer, LiveExplorer, show
from .packing import both_languages, pack
from .traits import Choice, Index

CROSS = " × "


class CkaMaps(Explorer):
    """A cell of a map, as in the figures: `column` is a layer of the pair's first model, `row` one of its second."""

    name = "cka"
    scripts = ("readings.js", "cka_map.js", "cka.js")
    taps = Choice(lambda w: w.about["taps"])
    pair = Choice(lambda w: w.about["taps"][w.taps])
    row = Index(lambda w: w.shown["rows"])
    column = Index(lambda w: w.shown["columns"])

    @property
    def shown(self) -> dict[str, Any]:
        """The part in sight."""
        return self.parts[f"{self.taps} {self.pair}"]


def cka_explorer(
    results: Mapping[str, CKA],
    all_taps: Mapping[str, CKA] | None = None,
    *,
    names: Mapping[str, Any] | None = None,
    pair: str | None = None,
    taps: str | None = None,
    row: int | str | None = None,
    column: int | str | None = None,
) -> Explorer | LiveExplorer:
    """CKA results by name, "ViT" for one model or "ViT × ResNet" for two, which also gives the maps of either alone.

    `all_taps` are results of the same kind with layers="all". `names` says what the page calls a model:
    {"untrained": {"en": "untrained ViT", "ko": "학습하지 않은 ViT"}}.
    """
    kinds = {"blocks": maps_of(results)} | ({"all": maps_of(all_taps)} if all_taps else {})
    models = dict.fromkeys(model for maps in kinds.values() for pair_name in maps for model in pair_name.split(CROSS))
    parts = {f"{kind} {name}": part for kind, maps in kinds.items() for name, part in maps.items()}
    about = {
        "taps": {kind: list(maps) for kind, maps in kinds.items()},
        "models": both_languages(models, names),
        "sizes": {name: part["values"]["shape"] for name, part in parts.items()},
    }
    return show(CkaMaps, about=about, parts=parts, pair=pair, taps=taps, row=row, column=column)


def maps_of(results: Mapping[str, CKA]) -> dict[str, dict[str, Any]]:
    """One part for each pair of models, those of a model with itself included."""
    if not results:
        raise ValueError("cka_explorer needs results of cka, such as {'ViT × ResNet': cka(vit, images, resnet)}")
    maps: dict[str, dict[str, Any]] = {}
    for name, result in results.items():
        if not isinstance(result, CKA):
            raise TypeError(f"{name!r} is a {type(result).__name__}, not a result of cka(model, images, …)")
        models = name.split(CROSS)
        if len(models) != (1 if result.cross is None else 2):
            wanted = "one model: its name has no ×" if result.cross is None else "two models: name it 'first × second'"
            raise ValueError(f"{name!r} is a result for {wanted}")
        maps[name] = cka_part(result)
    for name, result in results.items():  # the models alone come after the pairs that the author asked for
        if result.other is not None and result.other_layers is not None:
            alone = [(result.within, result.layers), (result.other, result.other_layers)]
            for model, (matrix, layers) in zip(name.split(CROSS), alone, strict=True):
                maps.setdefault(model, map_part(matrix, layers, layers, result.n_images))
    return maps


def cka_part(result: CKA) -> dict[str, Any]:
    """The map that `result.plot()` draws: rows are layers of the second (or only) model, columns of the first."""
    matrix = result.within if result.cross is None else result.cross.T
    return map_part(matrix, result.other_layers or result.layers, result.layers, result.n_images)


def map_part(matrix: np.ndarray, rows: Sequence[str], columns: Sequence[str], n: int) -> dict[str, Any]:
    """CKA [rows, columns] with the names of its layers; NaN where a layer is the same for all images."""
    if np.shape(matrix) != (len(rows), len(columns)):
        raise ValueError(f"CKA of shape {np.shape(matrix)} does not fit {len(rows)} × {len(columns)} layer names")
    values = pack(matrix, digits=3, allow_nan=True)
    return {"values": values, "rows": list(rows), "columns": list(columns), "n": n}
