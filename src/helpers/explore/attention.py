"""Explorer of attention: what one token of one image looks at, in every layer and head, and how far the heads reach."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ..inputs.batches import ImageSource, batches
from ..metrics.attention import AttentionDistance, attention_distance
from ..metrics.maps import AttentionMaps, attention_maps
from ..networks.anatomy import normalisation
from .base import Explorer, LiveExplorer, show
from .packing import both_languages, pack
from .traits import Choice, Index

MOST_BYTES = 16 << 20  # of attention weights in one explorer: 82 images of a lab model, 3 of a ViT-B/16


class Attention(Explorer):
    """One image, layer, head (or "mean") and query token; `view` is "query" or "rollout"."""

    name = "attention"
    scripts = ("readings.js", "attention_rows.js", "attention.js")
    image = Index(lambda self: len(self.about["images"]))
    layer = Index(lambda self: len(self.about["distance"]))
    head = Choice(lambda self: ["mean", *range(len(self.about["distance"][0]))])
    query = Index(lambda self: self.about["prefix"] + self.about["grid"][0] * self.about["grid"][1])
    view = Choice(lambda self: ("query", "rollout"))


def attention_explorer(model: nn.Module, images: ImageSource, *, distance: AttentionDistance | None = None,
                       names: Sequence[Any] | None = None, image: int = 0, layer: int = 0, head: int | str = "mean",
                       query: int | None = None, view: str = "query") -> Explorer | LiveExplorer:
    """What a timm ViT attends to on a few `images`: choose image, layer, head and query token, or the rollout.

    `query` counts tokens as the model does: the class token first, if there is one, then the patches row by row; by
    default it is the patch in the middle. `distance` is the result of `attention_distance`, if it was measured on more
    images than these. `names` of the images are texts or {"en": …, "ko": …}. An image takes 0.2 MB with a lab model
    (6 layers, 8 heads, 65 tokens) and 6 MB with a ViT-B/16; a page loads one when it is chosen.
    """
    shown = torch.cat(list(batches(images, 64)))
    distance = distance or attention_distance(model, shown, progress=False)
    parts, maps = {}, None
    for i, picture in enumerate(pixels(shown, model)):
        maps = attention_maps(model, shown[i : i + 1], progress=False)
        if (size := len(shown) * maps.values.size) > MOST_BYTES:
            most = MOST_BYTES // maps.values.size
            raise ValueError(f"the attention of {len(shown)} images takes {size / 2**20:.0f} MB: pass at most {most}")
        parts[str(i)] = packed_rows(maps.values[0], maps.prefix) | {"pixels": pack(picture)}
    assert maps is not None  # an empty source has raised before
    _check_distance(distance, maps)
    if query is None:
        query = maps.prefix + maps.grid[0] // 2 * maps.grid[1] + maps.grid[1] // 2
    about = {"images": image_names(images, len(shown), names), "grid": list(maps.grid), "prefix": maps.prefix,
             "size": list(shown.shape[-2:]), "distance": distance.pixels.tolist(),
             "onPrefix": distance.prefix_mass.tolist(), "uniform": distance.uniform, "measured": distance.n_images}
    return show(Attention, about=about, parts=parts, image=image, layer=layer, head=head, query=query, view=view)


def packed_rows(weights: np.ndarray, prefix: int) -> dict[str, Any]:
    """Attention [layers, heads, tokens, tokens] → exact mass on each prefix token, and the patches of every row.

    A patch has one byte, its share of the row's largest: so a flat row is as precise as a sharp one.
    """
    patches = weights[..., prefix:]
    peaks = patches.max(-1, keepdims=True)
    shares = np.divide(patches, peaks, out=np.zeros_like(patches), where=peaks > 0)
    packed = {"shares": pack(np.rint(255 * shares).astype(np.uint8)), "peaks": pack(peaks, digits=4)}
    return packed | ({"onPrefix": pack(weights[..., :prefix], digits=4)} if prefix else {})


def pixels(images: Tensor, model: nn.Module) -> np.ndarray:
    """Normalised images [n, 3, H, W] → what the eye sees, uint8 [n, H, W, 3]."""
    mean, std = (torch.tensor(v)[:, None, None] for v in normalisation(model) or ((0.0,) * 3, (1.0,) * 3))
    return ((images.float().cpu() * std + mean).clamp(0, 1) * 255).round().byte().permute(0, 2, 3, 1).numpy()


def image_names(images: ImageSource, n: int, names: Sequence[Any] | None) -> list[dict[str, str]]:
    """What the page calls each image: `names`, or its class, or its number."""
    if names is None:
        classes, labels = getattr(images, "classes", None), getattr(images, "labels", None)
        known = classes is not None and labels is not None
        names = [f"{i} · {classes[int(labels[i])]}" if known else str(i) for i in range(n)]  # type: ignore[index]
    if len(names) != n:
        raise ValueError(f"{len(names)} names for {n} images: give every image one")
    return [both_languages(["it"], {"it": name})["it"] for name in names]


def _check_distance(distance: AttentionDistance, maps: AttentionMaps) -> None:
    layers, heads = maps.values.shape[1:3]
    if distance.pixels.shape != (layers, heads) or distance.grid != maps.grid:
        raise ValueError(f"distance has {distance.pixels.shape} layers and heads on a grid {distance.grid}, the model "
                         f"has {(layers, heads)} on {maps.grid}: measure this model")
