"""Where and in which precision a measurement runs."""

from __future__ import annotations

import warnings

import pytest
import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from helpers import cka, taps
from helpers.metrics.similarity import gram
from helpers.runtime.device import float64_device, full_precision, pick_device


def test_reduced_precision_never_touches_a_gram():
    torch.manual_seed(0)
    x = torch.randn(16, 4096)
    exact = x.double() @ x.double().T
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    try:
        assert (gram(x) - exact).abs().max() < 1e-2
        assert torch.get_float32_matmul_precision() == "medium"
        with torch.autocast("cpu", dtype=torch.bfloat16):
            assert (gram(x) - exact).abs().max() < 1e-2 and gram(x).dtype == torch.float64
    finally:
        torch.set_float32_matmul_precision(before)


def test_the_simulated_device_refuses_to_mix(simulated):
    with pytest.raises(RuntimeError, match="same device"):
        torch.ones(2, 2).to(simulated) @ torch.ones(2, 2)


def test_a_device_that_is_not_there():
    if not torch.cuda.is_available():
        with pytest.raises(ValueError, match="this machine has none"):
            cka(nn.Linear(2, 2), torch.randn(8, 2), device="cuda")


def test_torchscript_is_refused_before_anything_is_touched(resnet, images):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch.jit is deprecated
        traced = torch.jit.trace(resnet.eval(), images[:2]).train()
    for call in (lambda: cka(traced, images), lambda: taps(traced, images=images)):
        with pytest.raises(TypeError, match=r"TorchScript.*pass the model"):
            call()
    assert all(m.training for m in traced.modules())


@pytest.mark.parametrize(("cuda", "mps", "picked"), [(True, True, "cuda"), (False, True, "mps"), (False, False, "cpu")])
def test_the_best_device_is_picked(monkeypatch, cuda, mps, picked):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)
    assert pick_device().type == picked and pick_device("cpu").type == "cpu"
    assert float64_device(pick_device()).type == ("cpu" if picked == "mps" else picked)  # mps has no float64


class Precisions(TorchFunctionMode):
    """Notes for every matrix product whether float32 may be rounded and whether autocast is on."""

    def __init__(self) -> None:
        super().__init__()
        self.grams, self.others = [], []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        if func in (torch.Tensor.matmul, torch.Tensor.__matmul__, nn.functional.linear):
            owner = torch.backends.cuda.matmul
            tf32 = owner.fp32_precision != "ieee" if hasattr(owner, "fp32_precision") else owner.allow_tf32
            knobs = (tf32, torch.is_autocast_enabled("cpu"))
            same = args[0].untyped_storage().data_ptr() == args[1].untyped_storage().data_ptr()  # X and Xᵀ
            if args[0].dtype != torch.float64 and not args[0].is_meta:
                (self.grams if same else self.others).append(knobs)
        return out


def test_tf32_and_autocast_never_touch_a_gram(vit, images):
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")  # TF32 on CUDA
    try:
        with torch.autocast("cpu", dtype=torch.bfloat16), Precisions() as seen:
            cka(vit, images)
        assert torch.get_float32_matmul_precision() == "high"
        with pytest.raises(RuntimeError), full_precision(torch.device("cpu")):
            raise RuntimeError
        assert torch.get_float32_matmul_precision() == "high"
    finally:
        torch.set_float32_matmul_precision(before)
    assert len(seen.grams) >= len(taps(vit)) and set(seen.grams) == {(False, False)}
    assert (True, True) in seen.others  # the model itself runs as its owner asked


def test_precision_comes_back_when_two_threads_overlap():
    """The second enters before the first leaves, and leaves last: it must not bring back what it found."""
    before, cpu = torch.get_float32_matmul_precision(), torch.device("cpu")
    torch.set_float32_matmul_precision("high")
    try:
        first, second = full_precision(cpu), full_precision(cpu)
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        with Precisions() as seen:
            torch.ones(2, 2) @ torch.ones(2, 2)
        second.__exit__(None, None, None)
        assert seen.others == [(False, False)]  # the second still measures
        assert torch.get_float32_matmul_precision() == "high"
    finally:
        torch.set_float32_matmul_precision(before)
