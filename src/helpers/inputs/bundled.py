"""Images that come with the book: subsets of CIFAR-10 and Fashion-MNIST, and scikit-learn's digits."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn
from torch.utils.data import Dataset

from .photos import Photos, free_photos, in_turn, photos

CIFAR_MEAN = (0.4914, 0.4822, 0.4465)
CIFAR_STD = (0.2470, 0.2435, 0.2616)
CIFAR_CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
FASHION_CLASSES = ("t-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "boot")
ASSETS = Path(str(files("helpers"))) / "assets"
FREE_PHOTOS = "photos224"
BUNDLED = {"cifar10": CIFAR_CLASSES, "fashion": FASHION_CLASSES}


@dataclass(frozen=True)
class Images(Dataset):
    """A small set of images held in memory; behaves as a dataset of (image [C,H,W] normalised, label) pairs."""

    raw: Tensor  # uint8 [N, C, H, W]
    labels: Tensor  # int64 [N]
    classes: tuple[str, ...]
    name: str
    mean: tuple[float, ...] = CIFAR_MEAN
    std: tuple[float, ...] = CIFAR_STD

    @property
    def tensor(self) -> Tensor:
        """All images, normalised as the lab models expect: float32 [N, C, H, W]."""
        return normalise(self.raw, self.mean, self.std)

    def __len__(self) -> int:
        return len(self.raw)

    def __getitem__(self, i: int) -> tuple[Tensor, int]:
        if not -len(self) <= i < len(self):
            raise IndexError(i)
        return normalise(self.raw[i][None], self.mean, self.std)[0], int(self.labels[i])

    def take(self, n: int) -> Images:
        """The first n images; classes stay balanced because bundled sets are stored class after class in turn."""
        if not 0 < n <= len(self):
            raise ValueError(f"{self.name} holds {len(self)} images; asked for {n}.")
        return self.at(torch.arange(n))

    def at(self, places: Tensor) -> Images:
        """The images at these places."""
        return replace(self, raw=self.raw[places], labels=self.labels[places])

    def __repr__(self) -> str:
        shape = " × ".join(map(str, self.raw.shape))
        return f"Images({self.name}: {shape}, {len(self.classes)} classes)"


def normalise(raw: Tensor, mean: tuple[float, ...] = CIFAR_MEAN, std: tuple[float, ...] = CIFAR_STD) -> Tensor:
    """uint8 [N,C,H,W] → float32 with the given channel means and deviations."""
    as_channels = lambda v: torch.tensor(v, device=raw.device).view(1, -1, 1, 1)
    return (raw.float() / 255 - as_channels(mean)) / as_channels(std)


def load_images(name: str = "cifar10", n: int | None = None, *, split: str = "test", scale: str = "lab",
                model: nn.Module | None = None, classes: int | None = None) -> Images | Photos:
    """Bundled images ("cifar10": test 2,560, train 2,000; "fashion": 1,000 each; "digits"), or photos at paper scale.

    "photos224" are seven free photos of the package at 224 px, prepared for `model`; SOURCES.md beside them says whose
    they are.

    At `scale="paper"` they come from the folder in the environment variable BOOK_PHOTOS (default: ./photos), prepared
    as `model` expects; the label is the sub-folder, or the number a file's name begins with. The first `n` images are
    returned, of the first `classes` only if that is given: n=1000 and classes=50 give 20 of each.
    """
    images: Images | Photos
    if name == FREE_PHOTOS:
        images = free_photos(ASSETS / FREE_PHOTOS, model)
    elif scale == "paper":
        images = photos(Path(os.environ.get("BOOK_PHOTOS", "photos")), model)
        images = images.at(in_turn(images.labels))
    elif name == "digits":
        images = _digits(split)
    elif name in BUNDLED:
        images = _bundled(name, split)
    else:
        there = ", ".join([*BUNDLED, "digits", FREE_PHOTOS])
        raise ValueError(f"No bundled images called {name!r}; there are {there}.")
    if classes is not None:
        first = [*dict.fromkeys(images.labels.tolist())][:classes]
        images = images.at(torch.isin(images.labels, torch.tensor(first)).nonzero()[:, 0])
    return images if n is None else images.take(n)


def _bundled(name: str, split: str) -> Images:
    path = ASSETS / f"{name}_{split}.webp"
    if not path.is_file():
        raise ValueError(f"{name} has no split {split!r}; use 'train' or 'test'.")
    labels = json.loads((ASSETS / "labels.json").read_text())[path.stem]
    return Images(tiles_to_images(np.asarray(Image.open(path).convert("RGB")), len(labels)),
                  torch.tensor(labels), BUNDLED[name], f"{name}/{split}")


def _digits(split: str) -> Images:
    """scikit-learn's 8×8 handwritten digits, enlarged to 32×32 RGB; a fixed random half is for training."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    train, test = torch.randperm(len(digits.target), generator=torch.Generator().manual_seed(0)).chunk(2)
    if split not in ("train", "test"):
        raise ValueError(f"digits has no split {split!r}; use 'train' or 'test'.")
    chosen = train if split == "train" else test
    grey = torch.tensor(digits.images[chosen] / 16 * 255)[:, None].float()
    raw = torch.nn.functional.interpolate(grey, 32, mode="bicubic", align_corners=False).clamp(0, 255).round().byte()
    return Images(raw.expand(-1, 3, -1, -1).contiguous(), torch.tensor(digits.target[chosen]),
                  tuple("0123456789"), f"digits/{split}")


def images_to_tiles(raw: Tensor, columns: int = 64) -> np.ndarray:
    """uint8 [N,3,32,32] → one sheet [rows·32, columns·32, 3]; unused places stay black."""
    n, side = len(raw), raw.shape[-1]
    rows = -(-n // columns)
    sheet = np.zeros((rows * columns, side, side, 3), np.uint8)
    sheet[:n] = raw.permute(0, 2, 3, 1).numpy()
    return sheet.reshape(rows, columns, side, side, 3).transpose(0, 2, 1, 3, 4).reshape(rows * side, columns * side, 3)


def tiles_to_images(sheet: np.ndarray, n: int, side: int = 32) -> Tensor:
    """The inverse of images_to_tiles: [rows·32, columns·32, 3] → uint8 [n,3,32,32]."""
    rows, columns = sheet.shape[0] // side, sheet.shape[1] // side
    tiles = sheet.reshape(rows, side, columns, side, 3).transpose(0, 2, 4, 1, 3).reshape(-1, 3, side, side)
    return torch.from_numpy(tiles[:n].copy())
