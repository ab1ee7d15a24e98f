"""How a layer answers when the image moves: does its map move along (equivariance), or stay as it is (invariance)?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .. import plots
from ..inputs.batches import ImageSource, batches, to_model
from ..inputs.variants import shifted
from ..networks.anatomy import feature_map, require_network
from ..networks.taps import find, tapped
from ..runtime.borrow import borrowed
from ..runtime.device import pick_device

Layer = Callable[[Tensor], Tensor]
Shift = tuple[int, int]  # pixels to the right, pixels down


@torch.no_grad()
def equivariance_error(layer: Layer, images: Tensor, right: int = 0, down: int = 0) -> Tensor:
    """‖f(Tx) − T f(x)‖ / ‖f(x)‖ for every image of [n,C,H,W] → [n]; f gives maps, T moves them by whole cells.

    The image wraps round. If a cell of the map is larger than a pixel, the nearest whole number of cells is taken.
    """
    still = layer(images)
    return relative(layer(shifted(images, right, down)), carried(still, (right, down), images.shape[-2:]), still)


@torch.no_grad()
def invariance_error(layer: Layer, images: Tensor, right: int = 0, down: int = 0) -> Tensor:
    """‖f(Tx) − f(x)‖ / ‖f(x)‖ for every image of [n,C,H,W] → [n]; f gives anything. The image wraps round."""
    still = layer(images)
    return relative(layer(shifted(images, right, down)), still, still)


def relative(found: Tensor, expected: Tensor, unit: Tensor) -> Tensor:
    """‖found − expected‖ / ‖unit‖ for every image, [n, …] → [n]."""
    length = lambda x: x.flatten(1).norm(dim=1)
    return length(found - expected) / length(unit)


def carried(maps: Tensor, shift: Shift, size: Sequence[int]) -> Tensor:
    """T f(x): maps [n,C,h,w] of images of `size` pixels, moved by the whole number of cells nearest to the shift."""
    if maps.dim() != 4:
        raise ValueError(f"a layer with shape {tuple(maps.shape)} has no positions that could move along; "
                         "only its invariance can be measured")
    cells = [int(np.floor(pixels * count / side + 0.5))
             for pixels, count, side in zip(reversed(shift), maps.shape[-2:], size, strict=True)]
    return maps.roll(cells, dims=(-2, -1))


@dataclass(frozen=True, repr=False, eq=False)
class ShiftErrors:
    """Errors of several layers under several shifts of the same images."""

    moved: np.ndarray  #: [layers, shifts, n] ‖f(Tx) − T f(x)‖ / ‖f(x)‖: 0 where the layer is equivariant
    still: np.ndarray  #: [layers, shifts, n] ‖f(Tx) − f(x)‖ / ‖f(x)‖: 0 where it is invariant
    moved_probability: np.ndarray  #: [shifts, n] how much of the predicted probability changes class, 0 to 1
    same_class: np.ndarray  #: [shifts, n] of booleans: the predicted class is that of the unmoved image
    layers: list[str]
    shifts: list[Shift]

    def __repr__(self) -> str:
        return f"ShiftErrors({len(self.layers)} layers, {len(self.shifts)} shifts, {self.moved.shape[-1]} images)"

    def to_frame(self) -> pd.DataFrame:
        """Means over images: one row per layer and shift."""
        return pd.DataFrame([
            {"layer": layer, "right": right, "down": down, "moved": self.moved[i, j].mean(),
             "still": self.still[i, j].mean()}
            for i, layer in enumerate(self.layers) for j, (right, down) in enumerate(self.shifts)])

    def plot(self, ax: Any = None) -> Any:
        """Mean equivariance error: shifts across, layers upwards."""
        names = [str(right) if not down else f"{right}, {down}" for right, down in self.shifts]
        return plots.heatmaps([(self.moved.mean(-1), names, self.layers)], label=r"$\|f(Tx) - Tf(x)\| / \|f(x)\|$",
                              axes=ax)


def shift_errors(model: nn.Module, images: ImageSource, shifts: Sequence[Shift],
                 layers: str | Sequence[str] = "blocks") -> ShiftErrors:
    """Equivariance and invariance errors of a network's layers, and how far its prediction moves, image by image."""
    views = shifted_views(model, images, [(0, 0), *shifts], layers)
    size, start, before = next(views)
    moved, still, change, same = [], [], [], []
    for shift, (_, maps, probabilities) in zip(shifts, views, strict=True):
        moved.append([relative(maps[name], carried(start[name], shift, size), start[name]) for name in start])
        still.append([relative(maps[name], start[name], start[name]) for name in start])
        change.append((probabilities - before).abs().sum(1) / 2)
        same.append(probabilities.argmax(1) == before.argmax(1))
    by_layer = lambda rows: torch.stack([torch.stack(row) for row in rows], 1).numpy()
    return ShiftErrors(by_layer(moved), by_layer(still), torch.stack(change).numpy(), torch.stack(same).numpy(),
                       list(start), list(shifts))


def shifted_views(model: nn.Module, images: ImageSource, shifts: Sequence[Shift],
                  layers: str | Sequence[str]) -> Iterator[tuple[Sequence[int], dict[str, Tensor], Tensor]]:
    """For every shift: the size of an image, the map [n,C,h,w] of each layer, and class probabilities [n, K]."""
    require_network(model)
    place, x = pick_device(None), torch.cat(list(batches(images, 64)))
    with borrowed(model, place), torch.no_grad():
        x = to_model(x, model, place)
        wanted = find(model, [layers] if isinstance(layers, str) and layers not in ("blocks", "all") else layers, x)
        for shift in shifts:
            view = shifted(x, *shift)
            seen: dict[int, Tensor] = {}

            def visit(i: int, values: Tensor, seen: dict[int, Tensor] = seen) -> None:
                seen[i] = values.clone()

            with tapped(model, wanted, visit):
                logits = model(view)
            if logits.dim() != 2 or logits.shape[1] < 2:
                raise ValueError(f"{type(model).__name__} gives {tuple(logits.shape)}, not scores of classes for every "
                                 "image: build it with its classification head")
            maps = {tap.name: feature_map(seen[i], model, view, tap.name).float().cpu()
                    for i, tap in enumerate(wanted)}
            yield x.shape[-2:], maps, logits.float().softmax(1).cpu()


def with_circular_padding(model: nn.Module) -> nn.Module:
    """A copy whose convolutions and max-poolings see the opposite edge where they saw zeros; the weights stay."""
    model = deepcopy(model)
    for module in list(model.modules()):
        for name, child in module.named_children():
            if isinstance(child, nn.ConstantPad2d):
                setattr(module, name, nn.CircularPad2d(child.padding))
        if isinstance(module, (nn.Conv2d, nn.MaxPool2d)) and module.padding not in (0, (0, 0)):
            _wrap_round(module)
    return model


def _wrap_round(module: nn.Conv2d | nn.MaxPool2d) -> None:
    """Replace the module's own padding by the opposite edge."""
    if isinstance(module.padding, str):
        raise ValueError(f"padding={module.padding!r} is not a number of pixels; give the convolution one")
    rows, columns = module.padding if isinstance(module.padding, tuple) else (module.padding, module.padding)
    module.padding = (0, 0) if isinstance(module, nn.Conv2d) else 0
    edges = (columns, columns, rows, rows)
    module.register_forward_pre_hook(lambda _, args: (F.pad(args[0], edges, mode="circular"), *args[1:]))
