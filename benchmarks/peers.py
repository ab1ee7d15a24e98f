"""The three CKA matrices of two models, as each package wants to be asked for them."""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

PEERS = {"torch-cka": "torch_cka", "pytorch-cka": "cka", "cka-pytorch": "cka_pytorch"}  # distribution → package
Models = tuple[tuple[nn.Module, list[str]], tuple[nn.Module, list[str]]]
Matrices = tuple[np.ndarray, np.ndarray, np.ndarray]  # within, other, cross


class Batches:
    """A loader without overhead: ready batches, and the `dataset` that torch-cka asks for its name."""

    dataset = "random images"

    def __init__(self, batches: list[tuple[Tensor, Tensor]]) -> None:
        self.batches = batches

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        return iter(self.batches)

    def __len__(self) -> int:
        return len(self.batches)


def installed() -> dict[str, str]:
    """Peers that can be imported, with their versions."""
    there = [name for name, package in PEERS.items() if importlib.util.find_spec(package)]
    return {name: importlib.metadata.version(name) for name in there}


def slow(names: Iterable[str]) -> frozenset[str]:
    """Those of `names` that need minutes."""
    return frozenset(name for name in names if name.startswith(("torch-cka", "cka-pytorch")))


def methods(models: Models, x: Tensor) -> dict[str, Callable[[], Matrices]]:
    """One callable per installed peer."""
    batches = Batches([(x, torch.zeros(len(x)))])
    ask = {"torch-cka": _torch_cka, "pytorch-cka": _pytorch_cka, "cka-pytorch": _cka_pytorch}
    return {f"{name} {version}": partial(_three, ask[name], models, batches) for name, version in installed().items()}


def _three(ask: Callable[..., Any], models: Models, batches: Batches) -> Matrices:
    (a, _), (b, _) = models
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        pairs = ((models[0], models[0]), (models[1], models[1]), (models[0], models[1]))
        within, other, cross = (np.asarray(ask(*one, *two, batches), dtype=np.float64) for one, two in pairs)
    assert not any(m._forward_hooks for model in (a, b) for m in model.modules())
    return within, other, cross


def _torch_cka(a: nn.Module, a_layers: list[str], b: nn.Module, b_layers: list[str], batches: Batches) -> Tensor:
    from torch_cka import CKA

    comparison = CKA(a, b, "a", "b", a_layers, b_layers, device="cpu")
    with contextlib.suppress(AssertionError):  # it raises when rounding gave it NaN; the matrix is there all the same
        comparison.compare(batches, batches)
    for module in (*a.modules(), *b.modules()):
        module._forward_hooks.clear()  # it never removes its hooks
    return comparison.hsic_matrix


def _pytorch_cka(a: nn.Module, a_layers: list[str], b: nn.Module, b_layers: list[str], batches: Batches) -> Tensor:
    from cka import compute_cka

    return compute_cka(a, b, batches, layers=a_layers, model2_layers=b_layers, device="cpu", progress=False)[0]


def _cka_pytorch(a: nn.Module, a_layers: list[str], b: nn.Module, b_layers: list[str], batches: Batches) -> Tensor:
    from cka_pytorch.cka import CKACalculator

    calculator = CKACalculator(a, b, a_layers, b_layers, verbose=False)
    matrix = calculator.calculate_cka_matrix(batches, num_epochs=1)
    calculator.reset()
    return matrix
