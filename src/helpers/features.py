"""One layer's representation of many images, as a matrix: for probes, for formulas, for teaching."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from .device import borrowed, pick_device
from .images import ImageSource, batches, to_model
from .taps import Tap, find, tapped


def features(model: nn.Module, images: ImageSource, layers: str | Sequence[str], *, batch_size: int = 128,
             device: str | torch.device | None = None) -> Any:
    """What one tap gives for all images, float32 on the CPU: [n, …] (a ViT block: [n, tokens, width]).

    Several names, one pass: a dictionary name → tensor, in execution order.
    """
    place, names = pick_device(device), [layers] if isinstance(layers, str) else list(layers)
    wanted: list[Tap] = []
    collected: dict[int, list[Tensor]] = defaultdict(list)
    with borrowed(model, place), torch.no_grad():
        for batch in batches(images, batch_size):
            inputs = to_model(batch, model, place)
            wanted = wanted or find(model, names, inputs)
            with tapped(model, wanted, lambda i, x: collected[i].append(x.float().cpu().clone())):
                model(inputs)
    found = {tap.name: torch.cat(collected[i]) for i, tap in enumerate(wanted)}
    return found[layers] if isinstance(layers, str) else found
