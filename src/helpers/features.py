"""One layer's representation of many images, as a matrix: for probes, for formulas, for teaching."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .device import borrowed, pick_device
from .images import ImageSource, batches, to_model
from .taps import find, tapped


def features(model: nn.Module, images: ImageSource, layer: str, *, batch_size: int = 128,
             device: str | torch.device | None = None) -> Tensor:
    """The output of one tap for all images, float32 on the CPU: [n, …] as the layer gives it ([n, tokens, width])."""
    place = pick_device(device)
    collected: list[Tensor] = []
    with borrowed(model, place), torch.no_grad():
        wanted = None
        for batch in batches(images, batch_size):
            inputs = to_model(batch, model, place)
            wanted = wanted or find(model, [layer], inputs)
            with tapped(model, wanted, lambda _, x: collected.append(x.float().cpu().clone())):
                model(inputs)
    return torch.cat(collected)
