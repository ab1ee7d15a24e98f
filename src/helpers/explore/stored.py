"""What full-size networks see on the free photos: measured once by `full_size.py`, read here part by part.

A part that is stored has an address and no data until someone asks: a book build writes it beside the pages, a live
kernel sends it to the reader who chose it.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from ..inputs.bundled import ASSETS, FREE_PHOTOS
from .packing import both_languages, pack

FOLDER = ASSETS / "full_size"
NETWORKS = {"vit_ti16": "ViT-Ti", "deit_ti16": "DeiT-Ti", "resnet50_v1": "ResNet-50",
            "vit_ti16_untrained": "untrained ViT-Ti", "resnet50_v1_untrained": "untrained ResNet-50"}
PHOTOS = {"astronaut": "astronaut", "camera": "photographer", "chelsea": "cat", "china": "pavilion",
          "coffee": "espresso", "flower": "dahlia", "rocket": "rocket"}


def network_name(key: str) -> dict[str, str]:
    """What the page calls a network."""
    return both_languages([key], {key: NETWORKS.get(key, key)})[key]


def photo_name(photo: str) -> dict[str, str]:
    """What the page calls a photo."""
    return both_languages([photo], {photo: PHOTOS.get(photo, photo)})[photo]


@cache
def networks(folder: Path = FOLDER) -> dict[str, dict[str, Any]]:
    """The small numbers of every network; an error says how they are made where they are not."""
    path = folder / "about.json"
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not there: `python -m helpers.explore.full_size` makes it from timm's "
                                "weights; without full_size=True the explorer shows the lab alone")
    return json.loads(path.read_text(encoding="utf-8"))


def predictions_of(networks: dict[str, dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """{photo: what each trained network takes it for}."""
    said: dict[str, list[dict[str, Any]]] = {}
    for key, entry in networks.items():
        if not entry["trained"]:
            continue
        for photo, found in zip(entry["photos"], entry["predictions"], strict=True):
            called = both_languages(["it"], {"it": found["class"]})["it"]
            said.setdefault(photo, []).append({"network": network_name(key), "class": called, "share": found["share"]})
    return said


def address_of(name: str) -> str:
    """The address of "attention.vit_ti16.chelsea", or of "photo.chelsea": its name and a hash of its file."""
    return f"{name}.{_hash(_file(name))}"


def part_at(address: str) -> dict[str, Any]:
    """The part at an address, as `pack` packs it; what is large is deflated."""
    name = address.rpartition(".")[0]
    kind, path = name.partition(".")[0], _file(name)
    if kind == "photo":
        with Image.open(path) as photo:
            return {"pixels": pack(np.asarray(photo.convert("RGB")), deflate=True)}
    with np.load(path) as stored:
        arrays = {key: stored[key] for key in stored.files if key != "facts"}
    return {"attention": _attention, "field": _field}[kind](arrays)


def _attention(arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    from .attention import packed_rows  # which reads this module

    return packed_rows(arrays, deflate=True)


def _field(arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    from .field import packed_layers

    sides = dict.fromkeys(key.partition(".")[0] for key in arrays)
    given = lambda where: {key.partition(".")[2]: arrays[key] for key in arrays if key.startswith(f"{where}.")}
    return {where: packed_layers(given(where)) for where in sides}


def _file(name: str) -> Path:
    kind, _, rest = name.partition(".")
    return ASSETS / FREE_PHOTOS / f"{rest}.webp" if kind == "photo" else FOLDER / f"{name}.npz"


@cache
def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:8]
