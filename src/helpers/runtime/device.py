"""Where a computation runs, in which precision, and how a model is borrowed without a trace."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn


def pick_device(device: str | torch.device | None = None) -> torch.device:
    """The device asked for, or the first of cuda, mps, cpu that this machine has."""
    available = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if device is None:
        return torch.device(next((name for name, there in available.items() if there), "cpu"))
    device = torch.device(device)
    if not available.get(device.type, True):
        raise ValueError(f"device {str(device)!r} was asked for, but this machine has none; leave device=None")
    return device


def float64_device(device: torch.device) -> torch.device:
    """The device itself, or the CPU where the device has no float64 (mps)."""
    return torch.device("cpu") if device.type == "mps" else device


def _float32_knobs() -> list[tuple[Any, str, Any]]:
    """(owner, attribute, full-precision value) of every switch that may round float32 products to TF32 or bfloat16."""
    backends: Any = torch.backends
    if hasattr(backends.cuda.matmul, "fp32_precision"):  # torch >= 2.9; mixing it with allow_tf32 raises
        return [(owner, "fp32_precision", "ieee") for owner in (backends.cuda.matmul, backends.mkldnn.matmul)]
    return [(backends.cuda.matmul, "allow_tf32", False)]


@contextmanager
def full_precision(device: torch.device) -> Iterator[None]:
    """Inside, a float32 product is a float32 product: no TF32, no bfloat16, no autocast."""
    knobs = _float32_knobs()
    before = [getattr(owner, name) for owner, name, _ in knobs]
    autocast = torch.amp.is_autocast_available(device.type) and torch.is_autocast_enabled(device.type)
    try:
        for owner, name, exact in knobs:
            setattr(owner, name, exact)
        if autocast:
            with torch.autocast(device.type, enabled=False):
                yield
        else:
            yield
    finally:
        for (owner, name, _), value in zip(knobs, before, strict=True):
            setattr(owner, name, value)


@contextmanager
def borrowed(model: nn.Module, device: torch.device) -> Iterator[nn.Module]:
    """The model in eval mode on `device`, without gradients of its own; given back exactly as it was.

    The model's own parameters are set aside and stand-ins take their place, so nothing that happens inside
    (an exception, Ctrl-C, a backward pass) can move them, change `requires_grad` or touch `.grad`.
    """
    modules = list(model.modules())
    if any(isinstance(m, torch.jit.ScriptModule) for m in modules):
        raise TypeError(f"{type(model).__name__} is compiled by TorchScript, which lets nobody read its layers: pass "
                        "the model that was traced or scripted")
    before = [(m, m.training, dict(m._parameters), dict(m._buffers)) for m in modules]
    stand_in: dict[int, Tensor] = {}  # tied weights stay tied
    inference = torch.is_inference_mode_enabled()

    def copy(tensor: Tensor | None, wrap: Any) -> Any:
        if tensor is None:
            return None
        if id(tensor) not in stand_in:
            there = tensor.detach().to(device)
            # a tensor made in inference mode takes no part in a backward pass; its clone does
            stand_in[id(tensor)] = wrap(there.clone() if there.is_inference() and not inference else there)
        return stand_in[id(tensor)]

    try:
        for m in modules:
            m.training = False
            for name, p in m._parameters.items():
                m._parameters[name] = copy(p, lambda t: nn.Parameter(t, requires_grad=False))
            for name, b in m._buffers.items():
                m._buffers[name] = copy(b, lambda t: t)
        yield model
    finally:
        for m, training, parameters, buffers in before:
            m.training = training
            m._parameters.update(parameters)
            m._buffers.update(buffers)


def device_of(model: nn.Module) -> torch.device:
    """Where a model's parameters live (the CPU when it has none)."""
    return next((t.device for t in model.parameters()), torch.device("cpu"))


def dtype_of(model: nn.Module) -> torch.dtype:
    """The floating dtype a model computes in (float32 when it has no parameters)."""
    return next((p.dtype for p in model.parameters() if p.is_floating_point()), torch.float32)
