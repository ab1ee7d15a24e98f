"""Folders of photos, read one by one and prepared as a network expects."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import timm.data
import torch
from PIL import Image
from torch import Tensor, nn
from torch.utils.data import Dataset


@dataclass(frozen=True)
class Photos(Dataset):
    """A folder of photos, read one by one and prepared as a timm model expects; pairs (image [3,H,W], label)."""

    paths: tuple[Path, ...]
    labels: Tensor  # int64 [N]
    prepare: Callable[[Image.Image], Tensor]
    name: str

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, i: int) -> tuple[Tensor, int]:
        try:
            with Image.open(self.paths[i]) as photo:
                return self.prepare(photo.convert("RGB")), int(self.labels[i])
        except OSError as error:
            raise ValueError(f"{self.paths[i]} cannot be read as an image: {error}") from error

    def take(self, n: int) -> Photos:
        """The first n photos, one of each class in turn; all, where there are fewer."""
        return self.at(torch.arange(min(n, len(self))))

    def at(self, places: Tensor) -> Photos:
        """The photos at these places."""
        return replace(self, paths=tuple(self.paths[i] for i in places.tolist()), labels=self.labels[places])

    def __repr__(self) -> str:
        return f"Photos({self.name}: {len(self)})"


def photos(folder: Path, model: nn.Module | None) -> Photos:
    """All photos below a folder, by name, prepared as the model expects; an error says where to put some."""
    if model is None:
        raise ValueError('load_images(scale="paper") needs model=…, to prepare the photos as that model expects.')
    paths = tuple(sorted(p for p in folder.rglob("*") if p.suffix.lower() in (".jpg", ".jpeg", ".png", ".webp")))
    if not paths:
        raise FileNotFoundError(f"No photos below {folder.resolve()}: put images there (ImageNet's validation set, "
                                "say) or set BOOK_PHOTOS to a folder that has some.")
    folders = {name: i for i, name in enumerate(sorted({p.parent.name for p in paths}))}
    number = lambda p: int(digits[0]) if (digits := re.match(r"\d+", p.name)) else 0
    labels = [folders[p.parent.name] if len(folders) > 1 else number(p) for p in paths]
    config = timm.data.resolve_model_data_config(model)
    return Photos(paths, torch.tensor(labels), timm.data.create_transform(**config, is_training=False), str(folder))


def free_photos(folder: Path, model: nn.Module | None) -> Photos:
    """The photos of the package, which are already cropped: only normalised, and resized where a model wants that."""
    if model is None:
        raise ValueError('load_images("photos224") needs model=…, to normalise the photos as that model expects.')
    paths = tuple(sorted(folder.glob("*.webp")))
    config = timm.data.resolve_model_data_config(model) | {"crop_pct": 1.0}
    prepare = timm.data.create_transform(**config, is_training=False)
    return Photos(paths, torch.arange(len(paths)), prepare, folder.name)


def in_turn(labels: Tensor) -> Tensor:
    """Places of the first example of every class, then of the second of every class, and so on.

    The classes come in a random order, the same each time: in ImageNet's own order the first hundreds are animals.
    """
    classes, which = labels.unique(return_inverse=True)
    place = torch.randperm(len(classes), generator=torch.Generator().manual_seed(0))[which].tolist()
    seen: Counter[int] = Counter()
    turns = []
    for i, c in enumerate(place):
        turns.append((seen[c], c, i))
        seen[c] += 1
    return torch.tensor([i for *_, i in sorted(turns)])
