"""Explorer of effective receptive fields: two networks side by side at the same relative depth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..metrics.receptive import ReceptiveField
from .base import Explorer, LiveExplorer, show
from .packing import both_languages, pack
from .traits import Choice, Number

FINEST = 64  # cells a side of a map; larger maps are averaged


class Field(Explorer):
    """Two of the networks, "after" or "before" the skip, at a relative depth from 0 (first layer) to 1 (last)."""

    name = "field"
    scripts = ("readings.js", "field.js")
    left = Choice(lambda self: list(self.about["models"]))
    right = Choice(lambda self: list(self.about["models"]))
    skip = Choice(lambda self: self.about["skips"])
    depth = Number(0, 0, 1, whole=False)


def field_explorer(fields: Mapping[str, ReceptiveField | Mapping[str, ReceptiveField]], *,
                   names: Mapping[str, Any] | None = None, left: str | None = None, right: str | None = None,
                   skip: str | None = None, depth: float = 0.0) -> Explorer | LiveExplorer:
    """Effective receptive fields from `receptive_field`, with radius and centre share by depth.

    `fields` is {key: result} or {key: {"after": result, "before": result}}, the second one measured with
    `before_skip=True`; keys are networks, also untrained ones, and `names` gives them a text or {"en": …, "ko": …}.
    A layer takes 1 kB at 32 px and at most 4 kB at any size.
    """
    given = {key: dict(value) if isinstance(value, Mapping) else {"after": value} for key, value in fields.items()}
    skips = _common_skips(given)
    called = both_languages(given, names)
    about = {key: {"name": called[key], "size": list(given[key][skips[0]].maps.shape[1:]),
                   "layers": {where: _numbers(key, field) for where, field in given[key].items()}} for key in given}
    parts = {key: {where: _pictures(field) for where, field in entry.items()} for key, entry in given.items()}
    keys = list(given)
    return show(Field, about={"models": about, "skips": skips}, parts=parts, left=left or keys[0],
                right=right or keys[min(1, len(keys) - 1)], skip=skip, depth=depth)


def _common_skips(given: Mapping[str, Mapping[str, ReceptiveField]]) -> list[str]:
    """Which of "after" and "before" every network has."""
    if not given:
        raise ValueError("there is no network: pass {name: receptive_field(…)}")
    for key, entry in given.items():
        wrong = [where for where in entry if where not in ("after", "before")]
        if wrong or not all(isinstance(field, ReceptiveField) for field in entry.values()):
            raise ValueError(f"{key!r} must be a result of receptive_field, or {{'after': result, 'before': result}}, "
                             f"but it is {dict(entry)!r}")
    first, sets = next(iter(given)), {key: set(entry) for key, entry in given.items()}
    for key, there in sets.items():
        if there != sets[first] or not there:
            raise ValueError(f"{key!r} has {sorted(there)}, but {first!r} has {sorted(sets[first])}: measure both")
    return [where for where in ("after", "before") if where in sets[first]]


def _numbers(key: str, field: ReceptiveField) -> list[dict[str, Any]]:
    """What the page says about each layer."""
    columns = field.centre_share, field.uniform_share, field.radius(0.5), field.radius(0.9)
    for name, *values in zip(field.layers, *columns, strict=True):
        if not np.isfinite(values).all():
            raise ValueError(f"{key!r}: no gradient reaches the input from layer {name!r}: leave it out, or measure "
                             "with more images or channels")
    return [{"name": name, "grid": list(grid), "centre": float(centre), "uniform": float(uniform), "half": float(half),
             "most": float(most)} for name, grid, centre, uniform, half, most in
            zip(field.layers, field.grids, *columns, strict=True)]


def _pictures(field: ReceptiveField) -> list[dict[str, Any]]:
    """Each layer's map as square roots of its share of the largest cell, so that faint parts can be seen."""
    pictures = []
    for share in field.shares:
        cells = _averaged(share)
        density = cells * share.size  # 1: as if every pixel counted equally
        pictures.append({"map": pack(np.rint(255 * np.sqrt(cells / cells.max())).astype(np.uint8)),
                         "peak": float(density.max())})
    return pictures


def _averaged(image: np.ndarray) -> np.ndarray:
    """[H, W] → means of equal blocks, at most FINEST a side."""
    height, width = (next(n for n in range(min(side, FINEST), 0, -1) if side % n == 0) for side in image.shape)
    return image.reshape(height, image.shape[0] // height, width, image.shape[1] // width).mean((1, 3))
