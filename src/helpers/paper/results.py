"""What a measurement gives, and what a run writes: small JSON files with numbers and hashes, no names of places."""

from __future__ import annotations

import math
import os
import platform
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ..lab.runs import json_text
from ..runtime.device import pick_device
from ..runtime.distributed import current


@dataclass(frozen=True)
class Found:
    """What one measurement gives for one part of the images."""

    numbers: dict[str, float]  # each gets an interval over the parts
    arrays: dict[str, np.ndarray] = field(default_factory=dict)  # averaged over the parts
    names: dict[str, list] = field(default_factory=dict)  # of layers and heads, the same in every part
    kept: dict[str, Any] = field(default_factory=dict)  # results for `join`, until all parts are there; not written


def first(images: Any) -> torch.Tensor:
    """The first image [1, 3, H, W]."""
    return images[0][0][None]


def made_with() -> dict[str, Any]:
    """Versions and device of this process; no names of machines or places."""
    try:
        own = version("vit-cnn-book")
    except PackageNotFoundError:
        own = "unknown"
    device = pick_device()
    named = torch.cuda.get_device_name() if device.type == "cuda" else platform.machine()
    return {"python": platform.python_version(), "torch": torch.__version__, "timm": version("timm"), "book": own,
            "device": f"{device.type} ({named})", "processes": current().size, "threads": torch.get_num_threads()}


def plain(value: Any) -> Any:
    """As JSON holds it: four significant digits, None for what is no number."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float | np.floating):
        return float(f"{value:.4g}") if math.isfinite(value) else None
    return value


def as_json(content: dict[str, Any]) -> str:
    return json_text(plain(content))


def write(path: Path, content: dict[str, Any]) -> None:
    """All of the file or nothing of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".part")
    unfinished.write_text(as_json(content), encoding="utf-8")
    os.replace(unfinished, path)
