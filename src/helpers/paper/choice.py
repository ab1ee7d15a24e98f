"""Which photos a measurement sees: the first of one random order, or tens of every class for probes."""

from __future__ import annotations

import hashlib
from typing import Any

import torch
from torch import Tensor

from ..inputs.kinds import kinds_of
from ..inputs.photos import Photos
from .measures import PROBE_IMAGES

FEWEST = 20  # two parts of ten: below that there is no interval


class Choice:
    """All photos of the folder, and which of them each measurement takes."""

    def __init__(self, photos: Photos, settings: dict[str, Any]) -> None:
        self.photos, self.settings = photos, settings
        self.order = torch.randperm(len(photos), generator=torch.Generator().manual_seed(0))

    @property
    def probe_labels(self) -> Tensor:
        """What probes are to tell apart [N]: classes, or kinds of them; −1 for a photo of neither."""
        return kinds_of(self.photos.labels) if self.settings["probe_kinds"] else self.photos.labels

    def indices(self, measure: str, trained: bool) -> Tensor:
        """Of the photos of one measurement; untrained twins may see fewer."""
        if measure == "probes":
            return torch.cat([*self.classes().values(), torch.arange(0)])
        n = self.settings["images"][measure]
        return self.order[: n if trained else min(n, self.settings["control"].get(measure, n))]

    def parts(self, measure: str, trained: bool) -> int:
        """How many disjoint parts they make."""
        if measure == "probes":
            return min(len(members) for members in self.classes().values()) // PROBE_IMAGES
        return min(self.settings["parts"], len(self.indices(measure, trained)) // 10)

    def few(self, measure: str, n: int) -> Tensor:
        """n photos or more for a trial; for probes ten of each of two classes or more."""
        if measure == "probes":
            return torch.cat([members[:PROBE_IMAGES] for members in list(self.classes().values())[: max(2, n // 4)]])
        return self.order[:n]

    def classes(self) -> dict[int, Tensor]:
        """Label → its photos in tens, the same number of tens for all classes that have two or more."""
        labels = self.probe_labels[self.order]
        members = {int(c): self.order[labels == c] for c in labels.unique() if c >= 0}
        members = {c: m for c, m in members.items() if len(m) >= 2 * PROBE_IMAGES}
        tens = min([self.settings["parts"], *(len(m) // PROBE_IMAGES for m in members.values())])
        return {c: m[: tens * PROBE_IMAGES] for c, m in list(members.items())[: self.settings["probe_classes"]]}

    def facts(self, used: Tensor) -> dict[str, Any]:
        """How many photos and classes, and a hash of the names and bytes of those that are used."""
        digest = hashlib.sha256()
        for i in used.tolist():
            path = self.photos.paths[i]
            digest.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
        return {"photos": len(used), "classes": len(self.photos.labels[used].unique()), "sha256": digest.hexdigest()}
