"""Two toy networks and drawn photos for `make paper`, and how its files are read."""

from __future__ import annotations

import json
from pathlib import Path

from helpers.paper.measures import MEASURES

VIT = {"architecture": "vit_tiny_patch16_224",
       "options": {"img_size": 56, "patch_size": 8, "embed_dim": 24, "depth": 4, "num_heads": 4, "num_classes": 0},
       "weights": "vit.safetensors", "note": {"en": "A toy.", "ko": "장난감이다."}}
CNN = {"architecture": "resnet18", "options": {"channels": [4, 8, 8, 16], "stem_width": 8},
       "prepare": {"input_size": [3, 56, 56], "crop_pct": 1.0},
       "set": {"layer4.0.conv1.stride": [1, 1], "layer4.0.downsample.0.stride": [1, 1]}}
SETTINGS = {"images": dict.fromkeys(MEASURES.keys() - {"probes"}, 40), "parts": 2, "batch_size": 8,
            "control": dict.fromkeys(MEASURES.keys() - {"probes"}, 20), "draws": 2,
            "field_channels": 1, "field_batch": 10}


def arguments(place: Path, results: Path, models: str = "toy_vit,toy_cnn", spec: str = "spec.yml") -> list[str]:
    return [models, str(place / "photos"), "--spec", str(place / spec), "--results", str(results), "--name", "toy"]


def read(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))
