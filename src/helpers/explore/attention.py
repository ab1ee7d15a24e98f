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
from ..networks.anatomy import grid_of, normalisation
from . import stored
from .base import Explorer, LiveExplorer, show
from .packing import both_languages, in_korean, pack
from .traits import Choice, Index

MOST_BYTES = 16 << 20  # of attention weights in one explorer: 82 images of a lab model, 3 of a ViT-B/16


class Attention(Explorer):
    """A network, image, layer, head (or "mean") and query token; `view` is "query" or "rollout".

    `beside` the lit image stands the same for an "untrained" twin, if there is one, or the "map" of the weights.
    """

    name = "attention"
    scripts = ("readings.js", "attention_rows.js", "attention_heads.js", "attention.js")
    network = Choice(lambda self: list(self.about["models"]))
    image = Index(lambda self: len(self._model["images"]))
    layer = Index(lambda self: len(self._model["distance"]))
    head = Choice(lambda self: ["mean", *range(len(self._model["distance"][0]))])
    query = Index(lambda self: self._model["prefix"] + self._model["grid"][0] * self._model["grid"][1])
    view = Choice(lambda self: ("query", "rollout"))
    beside = Choice(lambda self: ("untrained", "map") if self._twins else ("map",))

    @property
    def _model(self) -> dict[str, Any]:
        return self.about["models"][self.network]

    @property
    def _twins(self) -> bool:
        return any(model["twin"] for model in self.about["models"].values())


def attention_explorer(model: nn.Module | None = None, images: ImageSource | None = None, *,
                       untrained: nn.Module | None = None, distance: AttentionDistance | None = None,
                       names: Sequence[Any] | None = None, full_size: bool = False, network: str | None = None,
                       image: int = 0, layer: int = 0, head: int | str = "mean", query: int | None = None,
                       view: str = "query", beside: str | None = None) -> Explorer | LiveExplorer:
    """What a timm ViT attends to on a few `images`: choose image, layer, head and query token, or the rollout.

    `query` counts tokens as the model does: the class token first, if there is one, then the patches row by row; by
    default it is the patch in the middle. `head` may also be "local" or "global": the head of all layers that looks
    nearest or farthest. `distance` is the result of `attention_distance`, if it was measured on more
    images than these. `untrained` is a twin to be seen beside the model. `names` of the images are texts or
    {"en": …, "ko": …}. With `full_size` the reader can also choose ViT-Ti or DeiT-Ti on seven photos, which need
    neither a model nor a download. An image takes 0.2 MB with a lab model (6 layers, 8 heads, 65 tokens), 0.8 MB with
    a stored network and 6 MB with a ViT-B/16; a page loads one when it is chosen.
    """
    models, parts = stored_attention() if full_size else ({}, {})
    if model is not None and images is not None:
        own, own_parts = _measured(model, images, untrained, distance, names)
        models, parts = own | models, own_parts | parts
    elif not full_size:
        raise ValueError("attention_explorer needs a model and images, or full_size=True for the stored networks")
    network = network if network is not None else next(iter(models))
    shown = models.get(network, next(iter(models.values())))  # an unknown name is refused by the explorer
    if query is None:
        rows, columns = shown["grid"]
        query = shown["prefix"] + rows // 2 * columns + columns // 2
    if head in ("local", "global"):
        reach = np.array(shown["distance"])
        place = reach.argmin() if head == "local" else reach.argmax()
        layer, head = (int(i) for i in np.unravel_index(place, reach.shape))
    about = {"models": models}
    return show(Attention, about=about, parts=parts, network=network, image=image, layer=layer, head=head, query=query,
                view=view, beside=beside)


def _measured(model: nn.Module, images: ImageSource, untrained: nn.Module | None, distance: AttentionDistance | None,
              names: Sequence[Any] | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """The reader's own network, "lab", and the parts of its images."""
    shown = torch.cat(list(batches(images, 64)))
    distance = distance or attention_distance(model, shown, progress=False)
    called = image_names(images, len(shown), names)
    parts = {f"photo lab {i}": {"pixels": pack(picture)} for i, picture in enumerate(pixels(shown, model))}
    network = "lab ViT" if shown.shape[-1] < 100 else "this ViT"
    facts: dict[str, Any] = attention_facts(distance, model, shown[:1]) | both_languages(["name"], {"name": network})
    facts["images"] = [{"name": name, "photo": f"photo lab {i}", "weights": f"lab {i}"}
                       for i, name in enumerate(called)]
    facts["twin"] = None
    parts |= _weights("lab", model, shown, distance)
    if untrained is not None:
        twin_distance = attention_distance(untrained, shown, progress=False)
        parts |= _weights("untrained", untrained, shown, twin_distance)
        facts["twin"] = _twin(twin_distance.pixels.tolist(), [f"untrained {i}" for i in range(len(shown))])
    return {"lab": facts}, parts


def _weights(key: str, model: nn.Module, shown: Tensor, distance: AttentionDistance) -> dict[str, Any]:
    """{"key 0": attention on the first image, …}."""
    parts = {}
    for i in range(len(shown)):
        maps = attention_maps(model, shown[i : i + 1], progress=False)
        if (size := len(shown) * maps.values.size) > MOST_BYTES:
            most = MOST_BYTES // maps.values.size
            raise ValueError(f"the attention of {len(shown)} images takes {size / 2**20:.0f} MB: pass at most {most}")
        _check_distance(distance, maps)
        parts[f"{key} {i}"] = packed_rows(row_codes(maps.values[0], maps.prefix))
    return parts


def stored_attention() -> tuple[dict[str, Any], dict[str, str]]:
    """The full-size ViTs on the free photos, and the addresses of their parts."""
    networks, models = stored.networks(), {}
    parts: dict[str, str] = {}
    said = stored.predictions_of(networks)
    for key, entry in networks.items():
        if "attention" not in entry or not entry["trained"]:
            continue
        photos, twin = entry["photos"], entry["twin"]
        images = [{"name": stored.photo_name(photo), "photo": f"photo.{photo}", "weights": f"attention.{key}.{photo}",
                   "said": said[photo]} for photo in photos]
        compared = _twin(networks[twin]["attention"]["distance"], [f"attention.{twin}.{photo}" for photo in photos])
        models[key] = entry["attention"] | {"name": stored.network_name(key), "twin": compared, "images": images}
        used = [*(image[what] for image in images for what in ("photo", "weights")), *compared["weights"]]
        parts |= {part: stored.address_of(part) for part in used}
    return models, parts


def _twin(distance: list[list[float]], weights: list[str]) -> dict[str, Any]:
    return {"distance": distance, "weights": weights}


def attention_facts(distance: AttentionDistance, model: nn.Module, image: Tensor) -> dict[str, Any]:
    """What the page knows of a network before it has any weights; `image` is [1, 3, H, W]."""
    grid = grid_of(model, image)
    return {"grid": [grid.rows, grid.columns], "prefix": grid.prefix, "size": list(image.shape[-2:]),
            "distance": distance.pixels.tolist(), "onPrefix": distance.prefix_mass.tolist(),
            "uniform": distance.uniform, "measured": distance.n_images}


def row_codes(weights: np.ndarray, prefix: int, levels: int = 255) -> dict[str, np.ndarray]:
    """Attention [layers, heads, tokens, tokens] → exact mass on each prefix token, and the patches of every row.

    A patch has one byte: the square root of its share of the row's largest, in so many `levels`. So a flat row is as
    precise as a sharp one, and the many small weights of a row together stay right.
    """
    patches = weights[..., prefix:]
    peaks = patches.max(-1, keepdims=True)
    shares = np.divide(patches, peaks, out=np.zeros_like(patches), where=peaks > 0)
    codes = {"shares": np.rint(levels * np.sqrt(shares)).astype(np.uint8), "peaks": peaks, "levels": np.array(levels)}
    return codes | ({"onPrefix": weights[..., :prefix]} if prefix else {})


def packed_rows(codes: dict[str, np.ndarray], *, deflate: bool = False) -> dict[str, Any]:
    """`row_codes` as a part for the page."""
    packed: dict[str, Any] = {key: pack(codes[key], digits=4) for key in ("peaks", "onPrefix") if key in codes}
    return packed | {"shares": pack(codes["shares"], deflate=deflate), "levels": int(codes["levels"])}


def pixels(images: Tensor, model: nn.Module) -> np.ndarray:
    """Normalised images [n, 3, H, W] → what the eye sees, uint8 [n, H, W, 3]."""
    mean, std = (torch.tensor(v)[:, None, None] for v in normalisation(model) or ((0.0,) * 3, (1.0,) * 3))
    return ((images.float().cpu() * std + mean).clamp(0, 1) * 255).round().byte().permute(0, 2, 3, 1).numpy()


def image_names(images: ImageSource, n: int, names: Sequence[Any] | None) -> list[dict[str, str]]:
    """What the page calls each image: `names`, or its class, or its number."""
    if names is None:
        classes, labels = getattr(images, "classes", None), getattr(images, "labels", None)
        names = [str(i) for i in range(n)]
        if classes is not None and labels is not None:
            called = [classes[int(labels[i])] for i in range(n)]
            names = [{"en": f"{i} · {name}", "ko": f"{i} · {in_korean(name)}"} for i, name in enumerate(called)]
    if len(names) != n:
        raise ValueError(f"{len(names)} names for {n} images: give every image one")
    return [both_languages(["it"], {"it": name})["it"] for name in names]


def _check_distance(distance: AttentionDistance, maps: AttentionMaps) -> None:
    layers, heads = maps.values.shape[1:3]
    if distance.pixels.shape != (layers, heads) or distance.grid != maps.grid:
        raise ValueError(f"distance has {distance.pixels.shape} layers and heads on a grid {distance.grid}, the model "
                         f"has {(layers, heads)} on {maps.grid}: measure this model")
