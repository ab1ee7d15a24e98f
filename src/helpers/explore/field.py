"""Explorer of effective receptive fields: two networks side by side at the same relative depth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..metrics.receptive import ReceptiveField
from . import stored
from .base import Explorer, LiveExplorer, show
from .packing import both_languages, pack
from .traits import Choice, Index, Number

FINEST = 64  # cells a side of a map; larger maps are averaged


class Field(Explorer):
    """Two of the networks, "after" or "before" the skip, at a relative depth from 0 (first layer) to 1 (last).

    `photo` lies under the fields of full-size networks.
    """

    name = "field"
    scripts = ("readings.js", "field.js")
    left = Choice(lambda self: list(self.about["models"]))
    right = Choice(lambda self: list(self.about["models"]))
    skip = Choice(lambda self: self.about["skips"])
    depth = Number(0, 0, 1, whole=False)
    photo = Index(lambda self: max(1, len(self.about["photos"])))


def field_explorer(fields: Mapping[str, ReceptiveField | Mapping[str, ReceptiveField]] | None = None, *,
                   names: Mapping[str, Any] | None = None, full_size: bool = False, left: str | None = None,
                   right: str | None = None, skip: str | None = None, depth: float = 0.0,
                   photo: int = 0) -> Explorer | LiveExplorer:
    """Effective receptive fields from `receptive_field`, with radius and centre share by depth.

    `fields` is {key: result} or {key: {"after": result, "before": result}}, the second one measured with
    `before_skip=True`; keys are networks, also untrained ones, and `names` gives them a text or {"en": …, "ko": …}.
    A layer takes 1 kB at 32 px and at most 4 kB at any size. With `full_size` the reader can also choose ViT-Ti,
    DeiT-Ti, ResNet-50 and their untrained twins, measured on seven photos, before and after the skip.
    """
    models, parts, photos = stored_fields() if full_size else ({}, {}, [])
    if fields:
        own, own_parts = _measured(fields, names)
        models, parts = own | models, own_parts | parts
    elif not full_size:
        raise ValueError("there is no network: pass {name: receptive_field(…)}, or full_size=True")
    sides = [model["layers"] for model in models.values()]
    skips = [where for where in ("after", "before") if all(where in side for side in sides)]
    about = {"models": models, "photos": photos, "skips": skips}
    keys = list(models)
    return show(Field, about=about, parts=parts, left=left or keys[0], right=right or keys[min(1, len(keys) - 1)],
                skip=skip, depth=depth, photo=photo)


def _measured(fields: Mapping[str, ReceptiveField | Mapping[str, ReceptiveField]],
              names: Mapping[str, Any] | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """The reader's own networks, and their parts."""
    given = {key: dict(value) if isinstance(value, Mapping) else {"after": value} for key, value in fields.items()}
    skips = _common_skips(given)
    called = both_languages(given, names)
    models = {key: {"name": called[key], "size": list(given[key][skips[0]].maps.shape[1:]),
                    "layers": {where: field_facts(field) for where, field in given[key].items()}} for key in given}
    parts = {key: {where: _layers(key, field) for where, field in entry.items()} for key, entry in given.items()}
    return models, parts


def stored_fields() -> tuple[dict[str, Any], dict[str, str], list[dict[str, Any]]]:
    """The full-size networks, the addresses of their parts, and the photos on which they were measured."""
    networks = stored.networks()
    photos = next(iter(networks.values()))["photos"]
    parts = {f"photo.{photo}": stored.address_of(f"photo.{photo}") for photo in photos}
    parts |= {key: stored.address_of(f"field.{key}") for key in networks}
    models = {key: entry["field"] | {"name": stored.network_name(key), "photographed": True}
              for key, entry in networks.items()}
    return models, parts, [{"name": stored.photo_name(photo), "part": f"photo.{photo}"} for photo in photos]


def _common_skips(given: Mapping[str, Mapping[str, ReceptiveField]]) -> list[str]:
    """Which of "after" and "before" every network has."""
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


def field_facts(field: ReceptiveField) -> list[dict[str, Any]]:
    """What the page knows about each layer before it has any map."""
    layers = zip(field.layers, field.grids, field.uniform_share, strict=True)
    return [{"name": name, "grid": list(grid), "uniform": float(uniform)} for name, grid, uniform in layers]


def field_codes(field: ReceptiveField) -> dict[str, np.ndarray]:
    """For each layer its map as bytes, square roots of the share of the largest cell, so that faint parts can be seen;
    how often that cell has its even share; and share of the centre and radii that hold 50 % and 90 %."""
    for name, share in zip(field.layers, field.shares, strict=True):
        if not np.isfinite(share).all():
            raise ValueError(f"no gradient reaches the input from layer {name!r}: leave it out, or measure with more "
                             "images or channels")
    cells = np.stack([_averaged(share) for share in field.shares])
    roots = np.sqrt(cells / cells.max((1, 2), keepdims=True))
    return {"map": np.rint(255 * roots).astype(np.uint8), "peak": cells.max((1, 2)) * field.shares[0].size,
            "centre": field.centre_share, "half": field.radius(0.5), "most": field.radius(0.9)}


def _layers(key: str, field: ReceptiveField) -> list[dict[str, Any]]:
    """The maps and numbers of one network's layers."""
    try:
        return packed_layers(field_codes(field))
    except ValueError as error:
        raise ValueError(f"{key!r}: {error}") from error


def packed_layers(codes: Mapping[str, np.ndarray]) -> list[dict[str, Any]]:
    """`field_codes` as a part for the page, layer by layer."""
    return [{"map": pack(picture)} | {name: float(codes[name][i]) for name in ("peak", "centre", "half", "most")}
            for i, picture in enumerate(codes["map"])]


def _averaged(image: np.ndarray) -> np.ndarray:
    """[H, W] → means of equal blocks, at most FINEST a side."""
    height, width = (next(n for n in range(min(side, FINEST), 0, -1) if side % n == 0) for side in image.shape)
    return image.reshape(height, image.shape[0] // height, width, image.shape[1] // width).mean((1, 3))
