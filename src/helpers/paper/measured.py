"""What full-size networks gave in a run, as a chapter draws it beside the lab.

    full = full_size("similarity", "vit_ti16", "resnet50_v1")   # a CKA, as cka(vit, photos, resnet) would give it
    full_size("attention", "deit_ti16", draw=0)["pixels"]       # [12, 3], of its first untrained twin

The numbers travel with the package, in results/<run>/; `make paper` measures them anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from .stored import CALLED, RESULTS

__all__ = ["CALLED", "RUN", "Curves", "full_size", "untrained"]

RUN = "trio"  # two supervised ViTs and a ResNet on 800 photos


@dataclass(frozen=True)
class Curves:
    """Arrays, numbers and names of layers of one measurement; full_size("norms", …)["ratio attn CLS"] is an array."""

    arrays: dict[str, np.ndarray]
    numbers: dict[str, Any]  # intervals as {"value", "low", "high"}
    names: dict[str, list]
    n_images: int

    def __getitem__(self, name: str) -> np.ndarray:
        return self.arrays[name]


def full_size(measure: str, *networks: str, draw: int | None = None, run: str = RUN) -> Any:
    """A stored measurement as its metric's result: of trained networks, or of an untrained draw 0, 1, …

    similarity, standardised → CKA · localization → {"vit", "first", "last": Localization; "contrast", "hit_rate":
    by block of the ViT, mean over the parts of the photos} · others → Curves: attention (pixels, shuffled, entropy,
    cls_mass [depth, heads], uniform), norms, fields, heads, channels, probes, cuts, accuracy.
    """
    stored = _read(measure, networks, draw, run)
    return _BUILD[measure](stored) if measure in _BUILD else stored


def untrained(measure: str, *networks: str, run: str = RUN) -> list[Any]:
    """The same of the untrained twins, draw by draw, as far as they were measured."""
    stored = sorted((RESULTS / run).glob(".".join([measure, *networks, "untrained-*", "json"])))
    return [full_size(measure, *networks, draw=int(path.stem.rpartition("-")[2]), run=run) for path in stored]


@cache
def _read(measure: str, networks: tuple[str, ...], draw: int | None, run: str) -> Curves:
    """One file of a run; what is not there is named beside what is."""
    drawn = [] if draw is None else [f"untrained-{draw}"]
    path = RESULTS / run / (".".join([measure, *networks, *drawn]) + ".json")
    if not path.is_file():
        there = sorted(p.stem for p in path.parent.glob(f"{measure}.*.json")) or sorted(
            {p.stem.partition(".")[0] for p in path.parent.glob("*.json")} - {"run"})
        raise ValueError(f"results/{run} has no {path.stem}; it has {', '.join(there) or 'nothing'}")
    content = json.loads(path.read_text(encoding="utf-8"))
    if "skipped" in content:
        raise ValueError(f"{path.stem} was left out: {content['skipped']['en']}")
    arrays = {name: np.array(values, dtype=float) for name, values in content["arrays"].items()}
    return Curves(arrays, content["numbers"], content["names"], content["images"])


def _cka(stored: Curves) -> Any:
    from ..metrics.cka import CKA

    arrays, names = stored.arrays, stored.names
    sides = (arrays["within 1"], arrays["cross"], names["layers 1"]) if "cross" in arrays else (None, None, None)
    return CKA(arrays["within 0"], names["layers 0"], stored.n_images, 0, *sides)


def _places(stored: Curves) -> Any:
    from ..metrics.localize import Localization

    layers = {"vit": stored.names["vit"][-1], "first": stored.names["cnn"][0], "last": stored.names["cnn"][-1]}
    last = {where: Localization(stored[f"{where} maps"], layer, stored.n_images) for where, layer in layers.items()}
    return last | {score: stored[f"vit {score}"] for score in ("contrast", "hit_rate")}


_BUILD: dict[str, Callable[[Curves], Any]] = {
    "similarity": _cka, "standardised": _cka, "localization": _places}
