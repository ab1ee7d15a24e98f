"""Where a computation runs, and in which precision."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any

import torch
from torch import nn


_ACCELERATOR_CHUNK = 64 << 20


def pick_device(device: str | torch.device | None = None) -> torch.device:
    """The device asked for, or the first of cuda, mps, cpu that this machine has."""
    available = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if device is None:
        return torch.device(next((name for name, there in available.items() if there), "cpu"))
    device = torch.device(device)
    if not available.get(device.type, True):
        raise ValueError(f"device {str(device)!r} was asked for, but this machine has none; leave device=None")
    return device


def chunk_bytes(device: torch.device, cache: int) -> int:
    """How much to work on at once: what fits a CPU's cache; on an accelerator, few kernels that have much to do."""
    return cache if device.type == "cpu" else _ACCELERATOR_CHUNK


def float64_device(device: torch.device) -> torch.device:
    """The device itself, or the CPU where the device has no float64 (mps)."""
    return torch.device("cpu") if device.type == "mps" else device


def _float32_knobs() -> list[tuple[Any, str, Any]]:
    """(owner, attribute, full-precision value) of every switch that may round float32 products to TF32 or bfloat16."""
    backends: Any = torch.backends
    if hasattr(backends.cuda.matmul, "fp32_precision"):  # torch >= 2.9; mixing it with allow_tf32 raises
        return [(owner, "fp32_precision", "ieee") for owner in (backends.cuda.matmul, backends.mkldnn.matmul)]
    return [(backends.cuda.matmul, "allow_tf32", False)]


class Shared:
    """A setting of the whole process that several threads may want at once: the first sets it, the last restores it.

    If each restored what it had found, one that came later would bring back the other's setting, for good.
    """

    def __init__(self, setting: Callable[[], AbstractContextManager[Any]]) -> None:
        self.setting, self.users, self.undo, self.lock = setting, 0, ExitStack(), threading.RLock()

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Inside, the setting holds."""
        with self.lock:
            if self.users == 0:
                self.undo.enter_context(self.setting())
            self.users += 1
        try:
            yield
        finally:
            with self.lock:
                self.users -= 1
                if self.users == 0:
                    self.undo.close()


@contextmanager
def _exact_float32() -> Iterator[None]:
    """No TF32, no bfloat16, in any thread."""
    knobs = _float32_knobs()
    before = [getattr(owner, name) for owner, name, _ in knobs]
    try:
        for owner, name, exact in knobs:
            setattr(owner, name, exact)
        yield
    finally:
        for (owner, name, _), value in zip(knobs, before, strict=True):
            setattr(owner, name, value)


_no_rounding = Shared(_exact_float32)


@contextmanager
def full_precision(device: torch.device) -> Iterator[None]:
    """Inside, a float32 product is a float32 product: no TF32, no bfloat16, no autocast."""
    autocast = torch.amp.is_autocast_available(device.type) and torch.is_autocast_enabled(device.type)
    with _no_rounding(), torch.autocast(device.type, enabled=False) if autocast else nullcontext():
        yield


def device_of(model: nn.Module) -> torch.device:
    """Where a model's parameters live (the CPU when it has none)."""
    return next((t.device for t in model.parameters()), torch.device("cpu"))


def dtype_of(model: nn.Module) -> torch.dtype:
    """The floating dtype a model computes in (float32 when it has no parameters)."""
    return next((p.dtype for p in model.parameters() if p.is_floating_point()), torch.float32)
