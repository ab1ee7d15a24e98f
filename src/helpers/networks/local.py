"""Weights of public networks that lie on this computer: found by name, and the settings that such a file needs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import nn

FOLDER = "BOOK_WEIGHTS"  # environment variable: a folder of safetensors

# The original ResNet strides in the first convolution of a block, torchvision's and timm's in the second; the weights
# of one load into the other without a word, and cost ten points of accuracy.
V1_STRIDES = {f"layer{stage}.0.{conv}.stride": stride for stage in (2, 3, 4)
              for conv, stride in (("conv1", (2, 2)), ("conv2", (1, 1)))}


def local_weights(timm_id: str, *other_names: str) -> Path | None:
    """The file in the folder BOOK_WEIGHTS with timm's name of a network (a dot or "_" before its tag), or another."""
    given = os.environ.get(FOLDER)
    if not given:
        return None
    folder = Path(given).expanduser()
    if not folder.is_dir():
        raise ValueError(f"{FOLDER}={given}: there is no such folder; it should hold files such as "
                         f"{timm_id}.safetensors")
    names = (timm_id, timm_id.replace(".", "_"), *other_names)
    return next((path for name in names if (path := folder / f"{name}.safetensors").is_file()), None)


def set_attributes(model: nn.Module, settings: Mapping[str, Any], name: str) -> None:
    """Set {"layer2.0.conv1.stride": (2, 2)}, say; lists become tuples, as torch has them."""
    for path, value in settings.items():
        owner, _, attribute = path.rpartition(".")
        try:
            module = model.get_submodule(owner)
            getattr(module, attribute)
        except AttributeError as error:
            raise ValueError(f"{name}: the network has no {path!r} that could be set") from error
        setattr(module, attribute, tuple(value) if isinstance(value, list) else value)
