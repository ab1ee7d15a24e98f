"""Where the object is: boxes drawn by hand on test images of CIFAR-10, and images placed in a corner."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

# Image of the bundled test set: first and last row, first and last column of the 8×8 patches, counted from 0. Drawn on
# the first 80 images without having seen any attention; left out are objects that cannot be made out or whose box
# covers more than 48 of the 64 patches.
_DRAWN = """2:4625 4:2637 8:2407 10:1607 11:1607 12:1615 14:2624 18:2507 20:2314 21:2607 22:2604 28:3707 30:3616 31:2707
32:0715 34:1436 36:1616 37:2616 38:1526 42:2516 47:1737 48:2416 49:0716 50:2516 51:2507 52:1525 55:0516 56:1616 60:2527
61:1617 63:0727 64:1615 66:1726 68:1607 69:0705 70:1507 72:1424 74:0615 75:1705 76:1516 78:2407"""


def object_boxes() -> tuple[list[int], np.ndarray]:
    """Indices of bundled CIFAR-10 test images, and the patches of their object's box as masks [n, 8, 8] of 0 and 1."""
    entries = [entry.split(":") for entry in _DRAWN.split()]
    masks = [_mask((8, 8), *map(int, box)) for _, box in entries]
    return [int(index) for index, _ in entries], np.stack(masks)


def _mask(grid: tuple[int, int], top: int, bottom: int, left: int, right: int) -> np.ndarray:
    """Patches [rows, columns] of a box, its last row and column included."""
    inside = np.zeros(grid)
    inside[top : bottom + 1, left : right + 1] = 1
    return inside


def in_corners(images: Tensor, grid: tuple[int, int]) -> tuple[Tensor, np.ndarray]:
    """Each image [n, 3, H, W] at half size in a corner of a canvas of its mean colour, and masks of these corners.

    The corners take turns: over four images, a map that is always the same has exactly a quarter inside.
    """
    if any(side % 2 for side in grid):
        raise ValueError(f"a grid of {grid[0]}×{grid[1]} patches cannot be quartered: its sides must be even")
    canvas = images.mean((2, 3), keepdim=True).expand_as(images).clone()
    masks = np.zeros((len(images), *grid))
    for i, small in enumerate(F.avg_pool2d(images, 2)):
        _quarter(canvas[i], i)[...] = small
        _quarter(masks[i], i)[...] = 1
    return canvas, masks


def _quarter(whole: Any, number: int) -> Any:
    """A view of one quarter of [..., H, W]; the four take turns."""
    h, w = whole.shape[-2] // 2, whole.shape[-1] // 2
    down, right = divmod(number % 4, 2)
    return whole[..., down * h : (down + 1) * h, right * w : (right + 1) * w]


def mass_inside(maps: np.ndarray, masks: np.ndarray) -> np.ndarray:
    """Mass of maps [n, rows, columns] that sum to one inside the masks ÷ the masks' share of the area: [n]."""
    return (maps * masks).sum((1, 2)) / masks.mean((1, 2))


def without_heaviest(images: Tensor, maps: np.ndarray, share: float = 0.25) -> Tensor:
    """Images [n, 3, H, W] whose patches of most mass in maps [n, rows, columns] are set to 0, the mean colour."""
    weights = torch.tensor(maps)
    hidden = weights.flatten(1).argsort(1, descending=True)[:, : round(share * weights[0].numel())]
    seen = torch.ones(weights.shape).flatten(1).scatter(1, hidden, 0).view(weights.shape)[:, None]
    return images * F.interpolate(seen, images.shape[-2:])
