"""Coarse kinds of ImageNet's 1,000 classes: where a folder has a photo or two of each class, a probe needs fewer."""

from __future__ import annotations

import torch
from torch import Tensor

# The classes are ordered by WordNet, so that kinds are runs of them; landscapes and people (970–983, 999) have none.
RANGES = {
    "fish": [(0, 6), (389, 397)],
    "bird": [(7, 24), (80, 100), (127, 146)],
    "amphibian or reptile": [(25, 68)],
    "invertebrate": [(69, 79), (107, 126), (300, 329)],
    "dog": [(151, 268)],
    "other mammal": [(101, 106), (147, 150), (269, 299), (330, 388)],
    "thing": [(398, 923)],
    "food or plant": [(924, 969), (984, 998)],
}
KINDS = list(RANGES)


def kinds_of(labels: Tensor) -> Tensor:
    """The number of each ImageNet class's kind in KINDS, −1 for classes of none: [N] → [N]."""
    table = torch.full((1000,), -1)
    for number, runs in enumerate(RANGES.values()):
        for first, last in runs:
            table[first : last + 1] = number
    if len(labels) and not 0 <= int(labels.min()) <= int(labels.max()) < len(table):
        raise ValueError(f"labels run from {int(labels.min())} to {int(labels.max())}; ImageNet's are 0 to 999: kinds "
                         "need files or folders that carry its class numbers")
    return table[labels]
