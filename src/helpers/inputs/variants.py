"""Made variants of images: shifted, with shuffled patches, or set among clutter, and where the object is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.data import Dataset

from .bundled import Images

Kind = TypeVar("Kind", Tensor, Images)
BORDERS = ("wrap", "reflect", "black")


def shifted(images: Kind, right: int = 0, down: int = 0, border: str = "wrap") -> Kind:
    """Images moved by whole pixels (negative: left, up): tensor [N,C,H,W] or Images → the same kind.

    What enters at the edge is what left at the other one ("wrap"), a mirror of the inside ("reflect"), or "black".
    """
    if isinstance(images, Images):
        return replace(images, raw=shifted(images.raw, right, down, border))
    if border not in BORDERS:
        raise ValueError(f"Unknown border {border!r}; use one of {', '.join(BORDERS)}.")
    height, width = images.shape[-2:]
    if abs(right) >= width or abs(down) >= height:
        raise ValueError(f"A shift of ({right}, {down}) leaves nothing of images of {width}×{height} pixels.")
    if border == "wrap":
        return images.roll((down, right), dims=(-2, -1))
    room = (abs(right), abs(right), abs(down), abs(down))
    padded = F.pad(images.float(), room, mode="reflect") if border == "reflect" else F.pad(images.float(), room)
    top, left = abs(down) - down, abs(right) - right
    return padded[..., top : top + height, left : left + width].to(images.dtype)


@dataclass(frozen=True)
class Shuffled(Dataset):
    """Images of a dataset with their patches of side × side pixels in random order, for each image one of its own."""

    images: Dataset  # of pairs (image [C, H, W], label)
    side: int

    def __len__(self) -> int:
        return len(self.images)  # type: ignore[arg-type]

    def __getitem__(self, i: int) -> tuple[Tensor, int]:
        x, label = self.images[i]
        size = (self.side, self.side)
        if x.shape[-2] % self.side or x.shape[-1] % self.side:
            raise ValueError(f"images of {x.shape[-2]}×{x.shape[-1]} px cannot be cut into patches of {self.side}")
        patches = F.unfold(x[None], size, stride=size)  # [1, C · side², patches]
        order = torch.randperm(patches.shape[-1], generator=torch.Generator().manual_seed(i))
        return F.fold(patches[..., order], x.shape[-2:], size, stride=size)[0], label


@dataclass(frozen=True)
class Cluttered:
    """Small objects on a background of pieces of other images, and the boxes they fill."""

    images: Images
    boxes: Tensor  # int64 [N, 4]: left, top, right, bottom in pixels; right and bottom are outside

    def on_grid(self, cells: int) -> Tensor:
        """Share of every cell of a cells × cells grid that the object covers, [N, cells, cells]."""
        side = self.images.raw.shape[-1] / cells
        low = torch.arange(cells) * side
        left, top, right, bottom = self.boxes.double().T[..., None]
        covered = lambda start, end: ((torch.minimum(end, low + side) - torch.maximum(start, low)) / side).clamp(0)
        return covered(top, bottom)[:, :, None] * covered(left, right)[:, None, :]


def cluttered(images: Images, side: int = 16, *, align: int = 4, piece: int = 8, seed: int = 0) -> Cluttered:
    """Each image reduced to `side` pixels at a random place among squares of `piece` pixels cut from other images.

    Places are multiples of `align` pixels (the lab's patch size), so an object fills whole patches. The label is the
    object's; the background says nothing about it, since its pieces come from images chosen at random.
    """
    n, _, height, width = images.raw.shape
    if not 0 < side <= min(height, width) or side % align or height % piece or width % piece:
        raise ValueError(f"An object of {side} pixels, aligned to {align}, among pieces of {piece} does not fit images "
                         f"of {width}×{height}: side must be a multiple of align, the image one of piece.")
    if n < 2:
        raise ValueError("Clutter is cut from other images; pass at least two.")
    rng = torch.Generator().manual_seed(seed)
    canvas = _mosaic(images.raw, piece, rng)
    objects = F.interpolate(images.raw.float(), (side, side), mode="area").round().byte()
    place = lambda room: torch.randint(0, room // align + 1, (n,), generator=rng) * align
    left, top = place(width - side), place(height - side)
    for i in range(n):
        canvas[i, :, top[i] : top[i] + side, left[i] : left[i] + side] = objects[i]
    boxes = torch.stack([left, top, left + side, top + side], 1)
    return Cluttered(replace(images, raw=canvas, name=f"{images.name}, cluttered"), boxes)


def _mosaic(raw: Tensor, piece: int, rng: torch.Generator) -> Tensor:
    """For each image a patchwork [C,H,W] of pieces of the others, each from a random one and a random place of it."""
    n, channels, height, width = raw.shape
    rows, columns = height // piece, width // piece
    squares = raw.unfold(2, piece, piece).unfold(3, piece, piece)  # [N, C, rows, columns, piece, piece]
    step = torch.randint(1, n, (n, rows, columns), generator=rng)  # never 0: no piece of the image itself
    donor = (torch.arange(n)[:, None, None] + step) % n
    from_row = torch.randint(rows, donor.shape, generator=rng)
    from_column = torch.randint(columns, donor.shape, generator=rng)
    chosen = squares[donor, :, from_row, from_column]  # [N, rows, columns, C, piece, piece]
    return chosen.permute(0, 3, 1, 4, 2, 5).reshape(n, channels, height, width).contiguous()
