"""Explorer of shifts: an image moves, and two networks show whether their maps move along and what they predict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ..inputs.batches import ImageSource, batches
from ..metrics.shifts import Shift, carried, relative, shifted_views
from ..networks.anatomy import require_same_preprocessing
from .attention import image_names, pixels
from .base import Explorer, LiveExplorer, show
from .packing import both_languages, pack
from .traits import Choice, Index, Number

MOST_BYTES = 16 << 20  # of maps in one explorer: 50 images and two lab models with nine shifts a side
FINEST = 32  # cells a side of a map on the page; larger maps are averaged
MOST_CLASSES = 40


class ShiftMaps(Explorer):
    """An image moved by so many pixels, and two of the networks at a relative depth from 0 (first layer) to 1."""

    name = "shift"
    scripts = ("readings.js", "shift.js")
    image = Index(lambda self: len(self.about["images"]))
    upper = Choice(lambda self: list(self.about["models"]))
    lower = Choice(lambda self: list(self.about["models"]))
    depth = Number(0, 0, 1, whole=False)
    right = Choice(lambda self: self.about["shifts"])
    down = Choice(lambda self: self.about["shifts"])


def shift_explorer(models: Mapping[str, nn.Module], images: ImageSource, *, layers: Mapping[str, Sequence[str]],
                   shifts: Sequence[int] = range(9), names: Mapping[str, Any] | None = None,
                   image_labels: Sequence[Any] | None = None, image: int = 0, upper: str | None = None,
                   lower: str | None = None, depth: float = 0.0, right: int | None = None,
                   down: int | None = None) -> Explorer | LiveExplorer:
    """Shift an image (it wraps round) and see, in two networks, the map of a layer, how well it moved along, and the
    prediction.

    `models` is {key: network with a classification head}, `layers` {key: names of layers with a map}, from the first to
    the last. `shifts` are the pixels that the image can be moved right and down, 0 first. `names` of the networks and
    `image_labels` are texts or {"en": …, "ko": …}. A lab ResNet takes 0.2 MB for an image, a lab ViT 0.03 MB; a page
    loads what it shows.
    """
    shown, shifts = torch.cat(list(batches(images, 64))), [int(shift) for shift in shifts]
    keys = list(models)
    _check(models, layers, shifts)
    called = both_languages(models, names)
    about: dict[str, Any] = {"images": image_names(images, len(shown), image_labels), "shifts": shifts,
                             "size": list(shown.shape[-2:]), "models": {},
                             "classes": list(getattr(images, "classes", ()))}
    parts: dict[str, Any] = {f"image {i}": {"pixels": pack(picture)}
                             for i, picture in enumerate(pixels(shown, models[keys[0]]))}
    for key, model in models.items():
        seen = _Seen(model, shown, shifts, layers[key])
        about["models"][key] = {"name": called[key], "layers": seen.layers, "cells": seen.cells}
        parts |= {f"{key} {i}": seen.part(i) for i in range(len(shown))}
        if seen.bytes * len(models) > MOST_BYTES:
            raise ValueError(f"the maps of {key!r} alone take {seen.bytes / 2**20:.1f} MB: pass fewer images, "
                             "shifts or layers")
    return show(ShiftMaps, about=about, parts=parts, image=image, upper=upper or keys[0],
                lower=lower or keys[min(1, len(keys) - 1)], depth=depth, right=right, down=down)


class _Seen:
    """What one network makes of all images under all shifts."""

    def __init__(self, model: nn.Module, images: Tensor, shifts: Sequence[int], layers: Sequence[str]) -> None:
        grid: list[Shift] = [(right, down) for down in shifts for right in shifts]
        views = shifted_views(model, images, grid, layers)
        size, start, first = next(views)
        self.layers, self.side = list(start), len(shifts)
        self.cells = [[side / count for side, count in zip(size, start[name].shape[-2:], strict=True)]
                      for name in start]
        # The channel that varies most over the positions is the one worth looking at; it stays the same for all shifts.
        self.channel = {name: int(maps.flatten(2).std(2).mean(0).argmax()) for name, maps in start.items()}
        self.maps: dict[str, list[np.ndarray]] = {name: [] for name in start}
        self.moved, self.still, self.probabilities = [], [], []
        for shift, (_, maps, probabilities) in zip(grid, chain([(size, start, first)], views), strict=True):
            self.moved.append(torch.stack([relative(maps[n], carried(start[n], shift, size), start[n]) for n in start]))
            self.still.append(torch.stack([relative(maps[n], start[n], start[n]) for n in start]))
            self.probabilities.append(probabilities)
            for name, values in maps.items():
                self.maps[name].append(self._picture(name, values))

    @property
    def bytes(self) -> int:
        """Of all maps on the page."""
        return sum(view.size for views in self.maps.values() for view in views)

    def _picture(self, name: str, maps: Tensor) -> np.ndarray:
        """The chosen channel [n, h, w], at most FINEST cells a side."""
        chosen = maps[:, self.channel[name]]
        height, width = (next(k for k in range(min(side, FINEST), 0, -1) if side % k == 0)
                         for side in chosen.shape[1:])
        return torch.nn.functional.adaptive_avg_pool2d(chosen, (height, width)).numpy()

    def part(self, image: int) -> dict[str, Any]:
        """What the page gets for one image; the axes are down, right, and those of the thing itself."""
        square = lambda values: np.asarray(values).reshape(self.side, self.side, *np.asarray(values).shape[1:])
        errors = lambda rows: pack(square([row[:, image].numpy() for row in rows]), digits=3)
        probabilities = torch.stack(self.probabilities)[:, image]
        kept = probabilities.amax(0).topk(min(MOST_CLASSES, probabilities.shape[1])).indices.sort().values
        return {
            "maps": [pack(square([view[image] for view in self.maps[name]])) for name in self.layers],
            "moved": errors(self.moved),
            "still": errors(self.still),
            "classes": kept.tolist(),
            "probabilities": pack(square(probabilities[:, kept].numpy()), digits=4),
        }


def _check(models: Mapping[str, nn.Module], layers: Mapping[str, Sequence[str]], shifts: Sequence[int]) -> None:
    if not models:
        raise ValueError("there is no network: pass {name: model, …}")
    if missing := [key for key in models if not layers.get(key)]:
        raise ValueError(f"layers has none for {missing[0]!r}: pass {{{missing[0]!r}: [names, …]}}")
    if not shifts or shifts[0] != 0 or len(shifts) != len(set(shifts)) or list(shifts) != sorted(shifts):
        raise ValueError(f"shifts must begin with 0 and rise, but they are {list(shifts)}")
    first, *others = models.values()
    for other in others:
        require_same_preprocessing(first, other)

