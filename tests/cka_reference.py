"""HSIC and CKA written as the papers write them, to measure the library against."""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np
import torch
from torch import nn


def hsic1_by_four_indices(k: torch.Tensor, l: torch.Tensor) -> float:
    """The U-statistic itself: the mean of its kernel over all ordered quadruples of different examples."""
    total, quadruples = 0.0, 0
    for i, j, q, r in itertools.permutations(range(len(k)), 4):
        total += float(k[i, j] * (l[i, j] + l[q, r] - 2 * l[i, q]))
        quadruples += 1
    return total / quadruples


def hsic1_by_formula(k: torch.Tensor, l: torch.Tensor) -> torch.Tensor:
    """Song et al. 2012, equation 5."""
    n, one = len(k), torch.ones(len(k), dtype=torch.float64)
    k, l = k - torch.diag(k.diag()), l - torch.diag(l.diag())
    trace, means, cross = torch.trace(k @ l), (one @ k @ one) * (one @ l @ one), one @ k @ l @ one
    return (trace + means / ((n - 1) * (n - 2)) - 2 / (n - 2) * cross) / (n * (n - 3))


def outputs_of(model: nn.Module, names: list[str], x: torch.Tensor) -> list[torch.Tensor]:
    """Clones of module outputs [n, p] in float64, taken by plain hooks."""
    kept: dict[str, torch.Tensor] = {}
    keep = lambda m, i, out, name: kept.__setitem__(name, out.detach().clone().double().flatten(1))
    hooks = [model.get_submodule(name).register_forward_hook(partial(keep, name=name)) for name in names]
    with torch.no_grad():
        model(x)
    for hook in hooks:
        hook.remove()
    return [kept[name] for name in names]


def brute_force(rows: list[torch.Tensor], columns: list[torch.Tensor], batch: int) -> np.ndarray:
    """Minibatch CKA by the written-out formula in float64, one pair at a time."""

    def total(a: torch.Tensor, b: torch.Tensor) -> float:
        pairs = zip(a.split(batch), b.split(batch), strict=True)
        return sum(float(hsic1_by_formula(x @ x.T, y @ y.T)) for x, y in pairs)

    return np.array([[total(a, b) / (total(a, a) * total(b, b)) ** 0.5 for b in columns] for a in rows])
