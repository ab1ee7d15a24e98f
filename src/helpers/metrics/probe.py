"""Linear probes in closed form: ridge regression to ±1 targets, one eigendecomposition for every λ.

Features X [n, D] are standardised, the intercept is free. With B = XV and g = 1/(s + λ) from XᵀX = V diag(s) Vᵀ (or
B = U and g = s/(s + λ) from XXᵀ = U diag(s) Uᵀ when n < D), the fitted values for any λ are B diag(g) BᵀT, and
example i pulls its own prediction by its leverage h_i = Σ_k B²_ik g_k + 1/n. Left out, it would still be classified
rightly exactly if its margin f_y − max f_other exceeds 2h_i: so λ is chosen on examples the probe has not seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor
from torch.nn.functional import one_hot

from .. import plots
from ..runtime.device import float64_device, full_precision, pick_device
from ..runtime.distributed import all_max, all_sum, current, gather, of_each, together
from ..runtime.progress import with_progress

RIDGES = 2.0 ** torch.arange(-10, 21, 2, dtype=torch.float64, device="cpu")
_CHUNK_BYTES = 8 << 20  # of features, and of fitted values, held at one time


@dataclass(frozen=True, repr=False, eq=False)
class Probe:
    """Accuracy of one linear probe per token (and layer): the shape is that of the features between n and D."""

    accuracy: np.ndarray  #: [...]
    ridge: np.ndarray  #: [...], the λ that was used
    held_out: np.ndarray  #: [λ, ...], leave-one-out accuracy on the training examples
    correct: np.ndarray  #: [n_test, ...] of booleans: which test examples were classified rightly, for intervals
    ridges: np.ndarray  #: [λ], the candidates
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
        """Accuracy in per cent along the last axis, one curve per entry of the others; chance is dashed."""
        rows = self.accuracy.reshape(-1, self.accuracy.shape[-1]) if self.accuracy.ndim else self.accuracy[None, None]
        curves = {str(i): 100 * row for i, row in enumerate(rows)}
        curves["_1/K"] = np.full(rows.shape[1], 100 / self.n_classes)
        return plots.lines(curves, x=r"$t$", y="%", ax=ax)


@together
def probe(train_x: Any, train_y: Any, test_x: Any, test_y: Any, *, ridge: float | str = "auto",
          shots: int | None = None, device: str | torch.device | None = None, progress: bool | None = None) -> Probe:
    """Linear probes in closed form on features [n, D], or [n, ..., D] for one probe per token, layer, …; labels [n].

    `ridge` is λ, or "auto": for each probe the one with the best leave-one-out accuracy. `shots` keeps the first so
    many examples of every class. Inside `sharded()` every process passes its own examples, and the result is that of
    all of them together, those of process 0 first.

    >>> x = features(vit, images, "blocks.5")[:, 1:]
    >>> probe(x[:40], images.labels[:40], x[40:], images.labels[40:]).accuracy.shape
    (64,)
    """
    train_x, test_x = (_numbers(x, "features") for x in (train_x, test_x))
    train_y, test_y = (_numbers(y, "labels") for y in (train_y, test_y))
    _check_fit(train_x, train_y, test_x, test_y)
    all_y, all_test_y = gather([train_y.cpu()]), gather([test_y.cpu()])  # of all processes
    classes = _check_classes(all_y, all_test_y)
    _refuse_the_same_examples(train_x)
    if shots is not None:
        few = _first_of_each(all_y, classes, shots)
        all_y, few = all_y[few], _own(few, len(train_y))
        train_x, train_y = train_x[few.to(train_x.device)], train_y[few.to(train_y.device)]
    number = lambda y: torch.searchsorted(classes, y.cpu().contiguous())  # labels → 0, 1, …, K − 1
    candidates = RIDGES if ridge == "auto" else RIDGES.new_tensor([_positive(ridge)])
    step = max(1, _CHUNK_BYTES // (4 * len(all_y) * max(train_x.shape[-1], len(classes) * len(candidates))))
    correct, chosen, held_out = _in_chunks(train_x, number(train_y), test_x, number(test_y), candidates, step,
                                           float64_device(pick_device(device)), progress)
    correct, shape = gather([correct]), train_x.shape[1:-1]
    return Probe(correct.double().mean(0).reshape(shape).numpy(), chosen.reshape(shape).numpy(),
                 held_out.reshape(-1, *shape).numpy(), correct.reshape(-1, *shape).numpy(), candidates.numpy(),
                 len(all_y), len(all_test_y), len(classes))


def _in_chunks(x: Tensor, y: Tensor, test_x: Tensor, test_y: Tensor, ridges: Tensor, step: int, device: torch.device,
               progress: bool | None) -> list[Tensor]:
    """What `_fit_and_test` gives for all probes of [n, ..., D], `step` probes at a time."""
    y, order = y.sort(stable=True)  # class after class, as `Ridge` wants them
    probes, width = x.shape[1:-1].numel(), x.shape[-1]
    x, test_x = (values.reshape(len(values), probes, width) for values in (x, test_x))
    y, test_y, order, ridges = (values.to(device) for values in (y, test_y, order, ridges))
    found = []
    with full_precision(device):
        # a generator: one chunk is sorted and on the device at a time, and the bar counts probes
        chunks = (_probes_first(part, device).index_select(1, order) for part in x.split(step, dim=1))
        counted = with_progress(chunks, probes, progress, "probes")
        for part, test_part in zip(counted, test_x.split(step, dim=1), strict=True):
            found.append(_fit_and_test(part, y, _probes_first(test_part, device), test_y, ridges))
    return [torch.cat(parts, dim=-1).cpu() for parts in zip(*found, strict=True)]


def _probes_first(x: Tensor, device: torch.device) -> Tensor:
    """[n, t, D] → a view [t, n, D], float64 if it was, else float32."""
    return x.to(device, torch.float64 if x.dtype == torch.float64 else torch.float32).transpose(0, 1)


def _fit_and_test(x: Tensor, y: Tensor, test_x: Tensor, test_y: Tensor, ridges: Tensor) -> tuple[Tensor, ...]:
    """[t, n, D] and [t, m, D] → who of the tested is right [m, t], chosen λ [t], leave-one-out accuracy [λ, t].

    x is centred in place.
    """
    n = all_sum(x.shape[1])
    mean = (all_sum(x.double().sum(1, keepdim=True)) / n).to(x.dtype)
    solver = Ridge(x.sub_(mean), y)
    at_once = max(1, _CHUNK_BYTES // (4 * x.shape[0] * n * len(solver.mean)))
    held_out = torch.cat([solver.held_out_accuracy(part) for part in ridges.split(at_once)])
    best = ridges[len(ridges) - 1 - held_out.flip(0).argmax(0)]  # the largest λ among equals
    weights = solver.weights(best).to(x.dtype).mT  # [t, K, D]
    scores = weights @ test_x.mT + (solver.mean.to(x.dtype)[:, None] - weights @ mean.mT)  # [t, K, m]
    if not scores.isfinite().all():
        raise ValueError("test: features contain NaN or Inf")
    return (scores.max(1).indices == test_y).mT, best, held_out  # many times faster than argmax along this axis


class Ridge:
    """Ridge regressions on t matrices of centred features [t, n, D], standardised here; for any λ.

    Labels [n] are 0, …, K − 1 in ascending order, so that the examples of a class are a slice. Means, covariances and
    class sums are those of all processes; the dual form needs all examples in one place.
    """

    def __init__(self, x: Tensor, y: Tensor, dual: bool | None = None) -> None:
        classes = all_max(int(y.max()) + 1 if len(y) else 0)
        counts = y.bincount(minlength=classes)
        ends = counts.cumsum(0).cpu().tolist()
        self.members = [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]
        counts = all_sum(counts)
        self.n = int(counts.sum())
        self.mean = 2 * counts.double() / self.n - 1  # of the targets ±1, [K]
        self.dual = x.shape[1] < x.shape[2] and current().size == 1 if dual is None else dual
        product = None if self.dual else all_sum(_self_product(x))
        variance = x.double().square().mean(1) if product is None else product.diagonal(dim1=1, dim2=2) / self.n
        if not variance.isfinite().all():
            raise ValueError("train: features contain NaN or Inf")
        scale = torch.where(variance > 0, variance, 1.0).rsqrt()[..., None]  # [t, D, 1]; constant features stay zero
        if product is None:
            x = x * scale.mT.to(x.dtype)
            self.s, vectors = torch.linalg.eigh(_self_product(x.mT))
            self.to_weights = scale * (x.mT.double() @ vectors)  # [t, D, r]
            self.basis = vectors.to(x.dtype)  # B [t, n, r]
            self.projected = vectors.mT @ (2.0 * one_hot(y).double() - 1 - self.mean)  # BᵀT [t, r, K]
        else:
            self.s, vectors = torch.linalg.eigh(scale * product * scale.mT)
            self.to_weights = scale * vectors
            self.basis = x @ self.to_weights.to(x.dtype)
            class_sums = torch.stack([x[:, members].sum(1) for members in self.members], dim=-1)
            self.projected = self.to_weights.mT @ (2 * all_sum(class_sums.double()))  # XᵀT: the features sum to zero
        self.s = self.s.clamp_min(0)  # [t, r]

    def weights(self, ridge: Tensor) -> Tensor:
        """Weights for the features as they came, before standardising: [t, D, K] for one λ each, [t]; float64."""
        return self.to_weights @ (self.projected / (self.s + ridge[:, None])[..., None])

    def held_out_accuracy(self, ridges: Tensor) -> Tensor:
        """Share of training examples that the probe classifies rightly without having seen them: [λ, t] for [λ]."""
        g = (self.s[:, None] if self.dual else 1.0) / (self.s[:, None] + ridges[:, None])  # [t, λ, r]
        coefficients = (self.projected.mT[:, :, None] * g[:, None]).to(self.basis.dtype)  # [t, K, λ, r]
        fitted = (coefficients.flatten(1, 2) @ self.basis.mT).unflatten(1, coefficients.shape[1:3])  # [t, K, λ, n]
        fitted += self.mean.to(fitted.dtype)[:, None, None]
        own = torch.empty_like(fitted[:, 0])  # [t, λ, n]
        for c, members in enumerate(self.members):
            own[..., members] = fitted[:, c, :, members]
            fitted[:, c, :, members] = -torch.inf
        leverage = g.to(self.basis.dtype) @ self.basis.square().mT + 1 / self.n
        return all_sum((own - fitted.amax(1) > 2 * leverage).sum(-1, dtype=torch.float64)).T / self.n


def _self_product(x: Tensor, rows: int = 1024) -> Tensor:
    """XᵀX of [t, n, D] in float64, from products of a few rows at a time in x's own precision."""
    total = torch.zeros(len(x), x.shape[2], x.shape[2], dtype=torch.float64, device=x.device)
    for part in x.split(rows, dim=1):
        total += part.mT @ part
    return total


def _numbers(values: Any, what: str) -> Tensor:
    """A tensor without a graph, of anything that holds numbers."""
    try:
        return torch.as_tensor(values).detach()
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(f"{what} must be an array of numbers: names of classes become numbers with "
                        "np.unique(names, return_inverse=True)[1]") from error


def _check_fit(train_x: Tensor, train_y: Tensor, test_x: Tensor, test_y: Tensor) -> None:
    """Refuse features and labels that do not fit together."""
    for what, x, y in (("train", train_x, train_y), ("test", test_x, test_y)):
        if x.dim() < 2 or y.dim() != 1 or len(x) != len(y):
            raise ValueError(f"{what}: features {tuple(x.shape)} and labels {tuple(y.shape)} do not fit; expected "
                             "[n, D] or [n, ..., D] and [n]")
        if len(x) == 0:
            raise ValueError(f"{what}: there are no examples")
    if train_x.shape[1:] != test_x.shape[1:]:
        raise ValueError(f"train features {tuple(train_x.shape)} and test features {tuple(test_x.shape)} do not fit")


def _check_classes(train_y: Tensor, test_y: Tensor) -> Tensor:
    """The classes, once it is known that the labels of all processes can be told apart and tested."""
    classes = train_y.unique()
    if len(classes) < 2:
        raise ValueError("the training labels hold one class only: there is nothing to tell apart")
    unknown = test_y[~torch.isin(test_y, classes)].unique().tolist()
    if unknown:
        raise ValueError(f"test labels {unknown[:5]} do not occur in training")
    return classes


def _refuse_the_same_examples(x: Tensor) -> None:
    """Several processes that pass the same examples would count them several times."""
    marks = of_each(float(x[..., 0].sum(dtype=torch.float64)))
    if len(marks) > 1 and (marks == marks[0]).all():
        raise ValueError("every process passed the same examples: each must pass its own, those of "
                         "features(…, gather=False) and shard.own(labels)")


def _own(chosen: Tensor, n: int) -> Tensor:
    """Of indices into the examples of all processes, this process's, counted from its own first example (it has n)."""
    before = int(of_each(n)[: current().rank].sum())
    return chosen[(chosen >= before) & (chosen < before + n)] - before


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
