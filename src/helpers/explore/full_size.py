"""Measures full-size networks on the seven free photos, for the explorers: `python -m helpers.explore.full_size`.

The weights come from timm, or from the folder in BOOK_WEIGHTS. What is written to assets/full_size travels with the
package; `stored.py` reads it. A file that is there is not made again.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import timm.data
import torch
from torch import nn

from ..inputs.bundled import FREE_PHOTOS, load_images
from ..inputs.photos import Photos
from ..metrics.attention import attention_distance
from ..metrics.maps import attention_maps
from ..metrics.receptive import ReceptiveField, receptive_field
from ..networks.anatomy import patch_embed
from ..networks.zoo import load_model
from .attention import attention_facts, row_codes
from .field import field_codes, field_facts
from .stored import FOLDER

# key → network of the zoo, and whether it is trained; the untrained ViT is the twin of both trained ones
MEASURED = {"vit_ti16": ("vit_ti16", True), "deit_ti16": ("deit_ti16", True), "resnet50_v1": ("resnet50_v1", True),
            "vit_ti16_untrained": ("vit_ti16", False), "resnet50_v1_untrained": ("resnet50_v1", False)}
TWINS = {"deit_ti16": "vit_ti16_untrained"}  # of others: their own key
CHANNELS = 8  # random ones of each layer, for receptive fields
LEVELS = 63  # of the square root of an attention weight: means of a distance stay right to 0.2 px on average


def measure(folder: Path = FOLDER, measured: dict[str, tuple[str, bool]] | None = None,
            channels: int = CHANNELS) -> None:
    """Write what is missing: attention of all networks first, then receptive fields, which take most of the time."""
    folder.mkdir(parents=True, exist_ok=True)
    about: dict[str, dict[str, Any]] = {}
    for ask in (_facts, partial(_fields, channels=channels)):
        for key, (name, trained) in (measured or MEASURED).items():
            model = load_model(name, scale="paper", trained=trained)
            images = load_images(FREE_PHOTOS, model=model)
            assert isinstance(images, Photos)
            about[key] = about.get(key, {"trained": trained}) | ask(key, model, images, folder)
        (folder / "about.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


def _facts(key: str, model: nn.Module, images: Photos, folder: Path) -> dict[str, Any]:
    """What a network says, and how far its heads reach; its attention goes to a file for each photo."""
    photos = [path.stem for path in images.paths]
    facts: dict[str, Any] = {"photos": photos, "predictions": predictions(model, images),
                             "twin": TWINS.get(key, f"{key}_untrained")}
    if patch_embed(model) is not None:
        for i, photo in enumerate(photos):
            ask = partial(_attention, model, images.at(torch.tensor([i])))
            _once(folder / f"attention.{key}.{photo}.npz", ask)
        distance = attention_distance(model, images, progress=False)
        facts["attention"] = attention_facts(distance, model, images[0][0][None])
    return facts


def _attention(model: nn.Module, photo: Photos) -> dict[str, np.ndarray]:
    maps = attention_maps(model, photo, progress=False)
    return row_codes(maps.values[0], maps.prefix, LEVELS)


def _fields(key: str, model: nn.Module, images: Photos, folder: Path, channels: int) -> dict[str, Any]:
    """Receptive fields, as the mean of all photos: one photo has too few channels that are not switched off."""
    path = folder / f"field.{key}.npz"
    _once(path, partial(_field_arrays, model, images, channels))
    with np.load(path) as stored:
        return {"field": json.loads(str(stored["facts"]))}


def _field_arrays(model: nn.Module, images: Photos, channels: int) -> dict[str, np.ndarray]:
    """Fields after and before the skip: maps as bytes, the numbers of every layer, and what the page knows at once."""
    ask = partial(receptive_field, model, images, channels=channels, progress=False)
    fields: dict[str, ReceptiveField] = {"after": ask(), "before": ask(before_skip=True)}
    arrays = {f"{where}.{name}": values
              for where, field in fields.items() for name, values in field_codes(field).items()}
    facts = {"size": list(fields["after"].maps.shape[1:]), "layers": {w: field_facts(f) for w, f in fields.items()}}
    return arrays | {"facts": np.array(json.dumps(facts))}


def _once(path: Path, make: Callable[[], dict[str, np.ndarray]]) -> None:
    """Make a file unless it is there; a run that was stopped goes on."""
    if path.is_file():
        return
    unfinished = path.with_suffix(".part.npz")
    np.savez_compressed(unfinished, **make())  # type: ignore[arg-type]
    unfinished.replace(path)


@torch.inference_mode()
def predictions(model: nn.Module, images: Photos) -> list[dict[str, Any]]:
    """The class that a network of ImageNet-1k finds most likely for each photo, and its probability."""
    info = timm.data.ImageNetInfo()
    found = []
    for i in range(len(images)):
        image, _ = images[i]
        share, place = model(image[None]).softmax(1)[0].max(0)
        found.append({"class": info.index_to_description(int(place)).split(",")[0], "share": round(float(share), 4)})
    return found


if __name__ == "__main__":
    measure()
