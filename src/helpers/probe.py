"""Linear probes in closed form: ridge regression to ±1 targets, one eigendecomposition for every λ.

Features are standardised. With r the smaller of examples and features, the fitted values for any λ are
B diag(g(λ)) Bᵀ T, where B is X V with g = 1/(s + λ) (V, s from XᵀX), or U with g = s/(s + λ) (U, s from X Xᵀ).
Leave-one-out predictions follow from the same numbers, so λ is chosen on examples a probe has not seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from . import plots
from .device import float64_device, pick_device

RIDGES = 2.0 ** torch.arange(-10, 21, 2, dtype=torch.float64)
_CHUNK_BYTES = 256 << 20  # of standardised training features held at one time


@dataclass(frozen=True, repr=False, eq=False)
class Probe:
    """Accuracy of one linear probe per token (and layer): the shape is that of the features between n and D."""

    accuracy: np.ndarray  # [...]
    ridge: np.ndarray  # [...], the λ that was used
    held_out: np.ndarray  # [λ, ...], leave-one-out accuracy on the training examples
    ridges: np.ndarray  # [λ], the candidates
    n_train: int
    n_test: int
    n_classes: int

    def __repr__(self) -> str:
        low, high = self.accuracy.min(), self.accuracy.max()
        what = f"{low:.3f}" if self.accuracy.ndim == 0 else f"{self.accuracy.size} probes, {low:.3f}–{high:.3f}"
        return (f"Probe(accuracy {what}, {self.n_classes} classes, {self.n_train} training and {self.n_test} test "
                "examples)")

    def to_frame(self) -> pd.DataFrame:
        """One row per probe; columns axis0, axis1, … say which."""
        places = np.indices(self.accuracy.shape).reshape(self.accuracy.ndim, self.accuracy.size)
        frame = pd.DataFrame({f"axis{i}": place for i, place in enumerate(places)}, index=range(self.accuracy.size))
        return frame.assign(accuracy=self.accuracy.ravel(), ridge=self.ridge.ravel())

    def plot(self, ax: Any = None) -> Any:
        """Accuracy along the last axis, one curve per entry of the others; chance is dashed."""
        rows = self.accuracy.reshape(-1, self.accuracy.shape[-1]) if self.accuracy.ndim else self.accuracy[None, None]
        curves = {str(i): row for i, row in enumerate(rows)} | {"_1/K": np.full(rows.shape[1], 1 / self.n_classes)}
        return plots.lines(curves, x="probe", y="accuracy", ax=ax)


def probe(train_x: Any, train_y: Any, test_x: Any, test_y: Any, *, ridge: float | str = "auto",
          shots: int | None = None, device: str | torch.device | None = None) -> Probe:
    """Probe features [n, D] or [n, ..., D] (one probe per token, layer, …) of labels [n].

    `ridge` is λ, or "auto": for each probe the one with the best leave-one-out accuracy. `shots` keeps the first so
    many examples of every class.
    """
    train_x, train_y, test_x, test_y = (torch.as_tensor(v) for v in (train_x, train_y, test_x, test_y))
    classes = _check(train_x, train_y, test_x, test_y)
    if shots is not None:
        keep = _first_of_each(train_y, classes, shots)
        train_x, train_y = train_x[keep], train_y[keep]
    candidates = RIDGES if ridge == "auto" else torch.tensor([_positive(ridge)], dtype=torch.float64)
    place = float64_device(pick_device(device))
    train_y, test_y = (torch.searchsorted(classes, y.contiguous()).to(place) for y in (train_y, test_y))
    shape, width = train_x.shape[1:-1], train_x.shape[-1]
    train_x, test_x = train_x.reshape(len(train_x), -1, width), test_x.reshape(len(test_x), -1, width)
    step = max(1, _CHUNK_BYTES // (8 * len(train_x) * max(width, len(candidates) * len(classes))))
    parts = [_fit_and_test(a.to(place).transpose(0, 1).double(), train_y, b.to(place).transpose(0, 1).double(), test_y,
                           candidates.to(place), len(classes))
             for a, b in zip(train_x.split(step, 1), test_x.split(step, 1), strict=True)]
    accuracy, chosen, held_out = (torch.cat(values, dim=-1).cpu() for values in zip(*parts, strict=True))
    return Probe(accuracy.reshape(shape).numpy(), chosen.reshape(shape).numpy(), held_out.reshape(-1, *shape).numpy(),
                 candidates.numpy(), len(train_y), len(test_y), len(classes))


def _fit_and_test(x: Tensor, y: Tensor, test_x: Tensor, test_y: Tensor, ridges: Tensor, n_classes: int,
                  ) -> tuple[Tensor, Tensor, Tensor]:
    """[t, n, D] and [t, m, D] → accuracy [t], chosen λ [t], leave-one-out accuracy [λ, t]."""
    mean, deviation = x.mean(1, keepdim=True), x.std(1, correction=0, keepdim=True)
    deviation = torch.where(deviation > 0, deviation, 1.0)
    targets = 2.0 * torch.nn.functional.one_hot(y, n_classes).double() - 1
    solver = Ridge((x - mean) / deviation, targets)
    held_out = torch.cat([(solver.leave_one_out(part).argmax(-1) == y).double().mean(-1) for part in ridges.split(4)])
    best = ridges[len(ridges) - 1 - held_out.flip(0).argmax(0)]  # the largest λ among equals
    scores = (test_x - mean) / deviation @ solver.weights(best) + targets.mean(0)
    return (scores.argmax(-1) == test_y).double().mean(-1), best, held_out


class Ridge:
    """Ridge regressions of targets [n, K] on t centred feature matrices [t, n, D], ready for any λ; free intercept."""

    def __init__(self, x: Tensor, targets: Tensor, dual: bool | None = None) -> None:
        self.targets, self.mean = targets, targets.mean(0)
        self.dual = x.shape[1] < x.shape[2] if dual is None else dual
        self.s, vectors = torch.linalg.eigh(x @ x.mT if self.dual else x.mT @ x)  # [t, r]
        self.s = self.s.clamp_min(0)
        self.basis = vectors if self.dual else x @ vectors  # B [t, n, r]
        self.to_features = x.mT @ vectors if self.dual else vectors  # [t, D, r]
        self.projected = self.basis.mT @ (targets - self.mean)  # [t, r, K]

    def weights(self, ridge: Tensor) -> Tensor:
        """[t, D, K] for one λ each, [t]."""
        return self.to_features @ (self.projected / (self.s + ridge[:, None])[..., None])

    def leave_one_out(self, ridges: Tensor) -> Tensor:
        """What a probe would say of each training example had it not seen it: [λ, t, n, K] for [λ]."""
        g = (self.s if self.dual else 1.0) / (self.s + ridges[:, None, None])  # [λ, t, r]
        fitted = self.basis @ (g[..., None] * self.projected) + self.mean
        leverage = (self.basis.square() @ g.permute(1, 2, 0)).permute(2, 0, 1) + 1 / len(self.targets)  # [λ, t, n]
        return self.targets - (self.targets - fitted) / (1 - leverage).clamp_min(1e-12)[..., None]


def _check(train_x: Tensor, train_y: Tensor, test_x: Tensor, test_y: Tensor) -> Tensor:
    """The classes, once features and labels are known to fit together."""
    for what, x, y in (("train", train_x, train_y), ("test", test_x, test_y)):
        if x.dim() < 2 or y.dim() != 1 or len(x) != len(y):
            raise ValueError(f"{what}: features {tuple(x.shape)} and labels {tuple(y.shape)} do not fit; expected "
                             "[n, D] or [n, ..., D] and [n]")
        if len(x) == 0:
            raise ValueError(f"{what}: there are no examples")
        if not x.isfinite().all():
            raise ValueError(f"{what}: features contain NaN or Inf")
    if train_x.shape[1:] != test_x.shape[1:]:
        raise ValueError(f"train features {tuple(train_x.shape)} and test features {tuple(test_x.shape)} do not fit")
    classes = train_y.unique()
    if len(classes) < 2:
        raise ValueError("the training labels hold one class only: there is nothing to tell apart")
    unknown = test_y[~torch.isin(test_y, classes.to(test_y.device))].unique().tolist()
    if unknown:
        raise ValueError(f"test labels {unknown[:5]} do not occur in training")
    return classes


def _first_of_each(labels: Tensor, classes: Tensor, shots: int) -> Tensor:
    """Indices, in order, of the first `shots` examples of every class."""
    places = [(labels == c).nonzero().flatten() for c in classes]
    short = [int(c) for c, place in zip(classes, places, strict=True) if len(place) < shots]
    if shots < 1 or short:
        raise ValueError(f"shots={shots}: " + (f"classes {short[:5]} have fewer examples" if shots > 0 else "too few"))
    return torch.cat([place[:shots] for place in places]).sort().values


def _positive(ridge: float | str) -> float:
    if isinstance(ridge, str) or ridge <= 0:
        raise ValueError(f"ridge must be 'auto' or a positive number, not {ridge!r}")
    return float(ridge)
