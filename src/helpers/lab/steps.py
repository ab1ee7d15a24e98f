"""The parts of a training step: precision, optimiser, schedule, augmentation."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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


class Muon32(timm.optim.muon.Muon):
    """Muon whose Newton–Schulz iterations are computed in float32.

    In bfloat16, which timm does not let one choose, they are several times slower on a CPU without bf16 units.
    """

    def step(self, closure: Any = None) -> Any:
        with _newton_schulz_in(torch.float32):
            return super().step(closure)


@contextmanager
def _newton_schulz_in(dtype: torch.dtype) -> Iterator[None]:
    """Inside, timm's function has another default; it is put back, since other users of timm rely on it."""
    module: Any = timm.optim.muon
    own = module.zeropower_via_newtonschulz
    module.zeropower_via_newtonschulz = partial(own, dtype=dtype)
    try:
        yield
    finally:
        module.zeropower_via_newtonschulz = own


def make_optimizer(model: nn.Module, run: dict[str, Any]) -> torch.optim.Optimizer:
    """Muon for the matrices and kernels inside the network, AdamW for embeddings, norms, biases and the classifier."""
    inside: list[nn.Parameter] = []
    rest: list[nn.Parameter] = []
    for name, parameter in model.named_parameters():
        (inside if parameter.ndim in (2, 4) and ("blocks." in name or "stages." in name) else rest).append(parameter)
    return Muon32(
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
