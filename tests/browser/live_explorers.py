"""Every explorer with little data, for a notebook: `explorers[name]`, and what has changed since it was made."""

from __future__ import annotations

import numpy as np
from model_results import measure

from helpers import CKA, attention_distance, load_images, load_model, norm_ratio
from helpers import explore as ex

images, vit = load_images(n=8), load_model("vit_cls")
distance = attention_distance(vit, images, progress=False)
matrix = np.random.default_rng(0).random((6, 6))
maps = CKA(matrix, [f"blocks.{i}" for i in range(6)], 8, 8)
explorers = measure().explorers | {
    "cka": ex.cka_explorer({"A": maps, "B": CKA(matrix.T, maps.layers, 8, 8)}),
    "cka_bias": ex.cka_bias_explorer(),
    "qkv": ex.qkv_explorer(),
    "scale": ex.scale_explorer({"ViT": {0.1: (list(matrix[0]), distance, 0.5), 1.0: (None, distance, 0.75)}}),
    "shift": ex.shift_explorer({"ViT": vit}, images.take(1), layers={"ViT": ["blocks.0", "blocks.5"]}, shifts=[0, 1]),
    "skip": ex.skip_explorer({"ViT": norm_ratio(vit, images, progress=False)}, (maps, 0.75), {1: (maps, 0.5)}),
}
first = {name: explorer.state() for name, explorer in explorers.items()}


def changed(name: str) -> dict:
    """The traits that are no longer what they were."""
    return {key: value for key, value in explorers[name].state().items() if value != first[name][key]}


def restore(name: str) -> None:
    """Set them back, from Python."""
    for key in changed(name):
        setattr(explorers[name], key, first[name][key])
