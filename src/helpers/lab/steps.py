"""The parts of a training step: precision, optimiser, schedule, augmentation."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import timm.optim.muon
import torch
import torch.nn.functional as F
from torch import Tensor, nn


def multiply_in(model: nn.Module, dtype: torch.dtype) -> None:
    """Linear layers and convolutions of the model multiply in `dtype` from now on; all else stays float32.

    In bfloat16 a step takes three quarters of the time on a CPU with bf16 units. Autocast of the whole network would
    not: attention's backward pass is five times slower in bfloat16.
    """
    def cast(forward: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
        def multiply(x: Tensor) -> Tensor:
            with torch.autocast(x.device.type, dtype):
                return forward(x).float()
        return multiply

    for module in model.modules():
        if dtype is not torch.float32 and isinstance(module, nn.Linear | nn.Conv2d):
            module.forward = cast(module.forward)  # type: ignore[method-assign, assignment]


def make_optimizer(model: nn.Module, run: dict[str, Any]) -> torch.optim.Optimizer:
    """Muon for the matrices and kernels inside the network, AdamW for embeddings, norms, biases and the classifier."""
    # Newton–Schulz in bfloat16, timm's default, is several times slower than float32 on a CPU without bf16 units.
    if not isinstance(timm.optim.muon.zeropower_via_newtonschulz, partial):
        timm.optim.muon.zeropower_via_newtonschulz = partial(
            timm.optim.muon.zeropower_via_newtonschulz, dtype=torch.float32)
    inside: list[nn.Parameter] = []
    rest: list[nn.Parameter] = []
    for name, parameter in model.named_parameters():
        (inside if parameter.ndim in (2, 4) and ("blocks." in name or "stages." in name) else rest).append(parameter)
    return timm.optim.muon.Muon(
        [dict(params=inside, lr=run["lr"], weight_decay=run["weight_decay"]),
         dict(params=rest, lr=run["other_lr"], weight_decay=0.0, use_fallback=True)], nesterov=True)


def cosine(progress: float) -> float:
    """Cosine from 1 to 0.01."""
    return 0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * progress))


def trapezoid(progress: float) -> float:
    """1, then a straight line to 0.02 over the last quarter."""
    return 1.0 if progress < 0.75 else 1 - 0.98 * (progress - 0.75) / 0.25


SCHEDULES = {"cosine": cosine, "trapezoid": trapezoid}


def augment(raw: Tensor) -> Tensor:
    """Random flip and a random crop after reflecting 4 pixels at each side: uint8 [N,3,32,32] → the same."""
    n, _, side, _ = raw.shape
    padded = F.pad(raw.float(), (4,) * 4, mode="reflect").byte()
    window = torch.arange(side)
    row = torch.randint(0, 9, (n, 1)) + window
    column = torch.randint(0, 9, (n, 1)) + torch.where(torch.rand(n, 1) < 0.5, window, window.flip(0))
    return padded[torch.arange(n)[:, None, None], :, row[:, :, None], column[:, None, :]].permute(0, 3, 1, 2)
