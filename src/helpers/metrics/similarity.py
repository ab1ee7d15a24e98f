"""Similarity of two representations of the same n examples: Gram matrices, HSIC and linear CKA.

    K = X Xᵀ                                             gram
    HSIC₀(K, L) = tr(KHLH) / (n − 1)²                    hsic0, biased
    HSIC₁(K, L) = ⟨U(K), U(L)⟩ / (n(n − 3))              hsic1, unbiased (Song et al. 2012), U: u_centre
    CKA = HSIC(K, L) / √(HSIC(K, K) · HSIC(L, L))        linear_cka, minibatch_cka
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from ..runtime.advice import warn
from ..runtime.device import float64_device, full_precision
from ..runtime.distributed import all_max, all_sum

SMALLEST_BATCH = 4  # HSIC₁ divides by n − 3
_CHUNK_BYTES = 2 << 20  # features are centred and multiplied in slices that fit a cache; no second copy of a layer


def gram(x: Tensor, centred: bool = False) -> Tensor:
    """X Xᵀ of features [n, ...] as float64 [n, n]; with `centred` the mean example is subtracted first.

    Centring changes no HSIC, and it saves the digits that a large common offset would cost in float32.
    """
    if x.is_complex():
        raise ValueError("features are complex numbers, and a Gram matrix would lose their imaginary part: pass "
                         "torch.view_as_real(x)")
    x = _rows(x)
    n, half = len(x), len(x) // 2
    total = torch.zeros(n, n, dtype=torch.float64, device=float64_device(x.device))
    product_type = torch.float64 if x.dtype == torch.float64 else torch.float32
    with full_precision(x.device):
        for part in x.split(max(1, _CHUNK_BYTES // (4 * n)), dim=1):
            part = part.to(product_type)
            if centred:
                part = part - part.mean(0)
            total[half:] += (part[half:] @ part.T).to(total.device)
            total[:half, :half] += (part[:half] @ part[:half].T).to(total.device)
    total[:half, half:] = total[half:, :half].T  # symmetric: a quarter need not be multiplied
    return total


def _rows(x: Tensor) -> Tensor:
    """[n, ...] → [n, p]; features in memory order, so that channels-last maps need no copy (a Gram has no order)."""
    axes = sorted(range(1, x.dim()), key=x.stride, reverse=True)
    return x.permute(0, *axes).reshape(len(x), -1)


def u_centre(k: Tensor) -> Tensor:
    """U-centring of a Gram matrix [n, n]: zero diagonal, rows and columns that sum to zero.

    The diagonal must not enter the means: it is what makes the biased estimate large for unrelated features.
    """
    n = len(k)
    k = k.double().clone()
    k.fill_diagonal_(0)
    rows = k.sum(0) / (n - 2)
    rows -= rows.sum() / (2 * (n - 1))
    k -= rows[:, None] + rows[None, :]
    return k.fill_diagonal_(0)


def hsic0(k: Tensor, l: Tensor) -> Tensor:
    """Biased HSIC of two Gram matrices [n, n]."""
    _check_grams(k, l, smallest=2)
    centre = lambda g: g - g.mean(0, keepdim=True) - g.mean(1, keepdim=True) + g.mean()
    return (centre(k.double()) * centre(l.double())).sum() / (len(k) - 1) ** 2


def hsic1(k: Tensor, l: Tensor) -> Tensor:
    """Unbiased HSIC of two Gram matrices [n, n], n ≥ 4."""
    n = _check_grams(k, l, smallest=SMALLEST_BATCH)
    return (u_centre(k) * u_centre(l)).sum() / (n * (n - 3))


def linear_cka(x: Tensor, y: Tensor, unbiased: bool = True) -> float:
    """Linear CKA of features [n, p] and [n, q] of the same n examples."""
    return minibatch_cka(x, y, batch_size=len(x), unbiased=unbiased)


def minibatch_cka(x: Tensor, y: Tensor, batch_size: int = 128, unbiased: bool = True) -> float:
    """CKA of [n, p] and [n, q] from minibatches: HSIC summed for KL, KK and LL separately, then the ratio."""
    if len(x) != len(y):
        raise ValueError(f"x has {len(x)} examples and y has {len(y)}: both must describe the same ones")
    hsic = hsic1 if unbiased else hsic0
    kl = kk = ll = torch.zeros((), dtype=torch.float64, device="cpu")
    for a, b in zip(x.split(batch_size), y.split(batch_size), strict=True):
        k, l = gram(a, centred=True), gram(b, centred=True)
        kl, kk, ll = kl + hsic(k, l).cpu(), kk + hsic(k, k).cpu(), ll + hsic(l, l).cpu()
    return float(kl / (kk * ll).sqrt())


def mean_cca(x: Tensor, y: Tensor) -> float:
    """Mean squared canonical correlation of [n, p] and [n, q]: CKA's older relative, blind once p reaches n."""
    bases = []
    for z in (x, y):
        u, s, _ = torch.linalg.svd((z - z.mean(0)).double(), full_matrices=False)
        bases.append(u[:, s > 1e-10 * s[0]])
    return float((bases[0].T @ bases[1]).square().sum() / min(b.shape[1] for b in bases))


def _check_grams(k: Tensor, l: Tensor, smallest: int) -> int:
    if k.dim() != 2 or k.shape[0] != k.shape[1] or k.shape != l.shape:
        raise ValueError(f"expected two square Gram matrices of one size, got {tuple(k.shape)} and {tuple(l.shape)}")
    if len(k) < smallest:
        raise ValueError(f"{len(k)} examples are too few: this estimate needs at least {smallest}")
    return len(k)


Visit = Callable[[int, Tensor], None]


class HSICSums:
    """HSIC₁ of all pairs of `names`, summed over minibatches.

    With u_i the upper triangle of layer i's U-centred Gram matrix, ⟨U(K_i), U(K_j)⟩ = 2 u_i · u_j: one product of
    the stacked triangles gives every pair. Memory is one triangle per layer, whatever the number of images.
    """

    def __init__(self, names: list[str], device: torch.device) -> None:
        self.names = names
        self.options: Any = {"dtype": torch.float64, "device": float64_device(device)}
        self.hsic = torch.zeros(len(names), len(names), **self.options)
        self.scale, self.rounding = torch.zeros(2, len(names), **self.options)  # of HSIC₁(K, K), and its noise
        self.n_images = self.batch_size = 0

    @contextmanager
    def minibatch(self, n: int) -> Iterator[Visit]:
        """Inside, call visit(i, features [n, ...]) once for every layer i."""
        upper = tuple(torch.triu_indices(n, n, 1, device=self.hsic.device))
        triangles = torch.full((len(self.names), n * (n - 1) // 2), torch.nan, **self.options)

        def visit(i: int, features: Tensor) -> None:
            if len(features) != n:
                raise ValueError(f"layer {self.names[i]!r} gives {len(features)} rows for {n} images, not one each")
            k, noise = _gram_above_rounding(features)
            spread = k.trace() / n
            self.scale[i] += spread**2
            self.rounding[i] += 2 * noise * spread  # of ⟨noise, difference⟩ when one example differs from all others
            triangles[i] = u_centre(k)[upper]

        yield visit
        if not triangles.isfinite().all():
            broken = [name for name, row in zip(self.names, triangles, strict=True) if not row.isfinite().all()]
            raise ValueError(f"NaN or Inf in the activations of {broken[0]!r} ({len(broken)} layers in all)")
        self.hsic += (triangles @ triangles.T) * (2 / (n * (n - 3)))
        self.n_images += n
        self.batch_size = max(self.batch_size, n)

    def add_up(self) -> None:
        """The sums of all processes, when there are several."""
        self.hsic, self.n_images = all_sum(self.hsic), all_sum(self.n_images)
        self.scale, self.rounding = all_sum(self.scale), all_sum(self.rounding)
        self.batch_size = all_max(self.batch_size)

    def defined(self) -> Tensor:
        """Which layers have a CKA [L]; a warning names the others.

        A layer that is the same for all images has none, and one that is the same for all but one has none either:
        HSIC₁ of it with itself is zero.
        """
        defined = self.hsic.diagonal() > 1e-12 * self.scale + self.rounding  # below this only rounding is left
        if not defined.all():
            names = [name for name, fine in zip(self.names, defined.tolist(), strict=True) if not fine]
            warn(f"CKA is undefined (NaN) for layers that are the same for all images, or for all but one: "
                 f"{', '.join(names)}")
        return defined

    def cka(self) -> Tensor:
        """CKA of all pairs [L, L] on the CPU; NaN where it is undefined."""
        own, defined = self.hsic.diagonal(), self.defined()
        matrix = self.hsic / (own[:, None] * own[None, :]).sqrt()
        matrix[~defined, :] = matrix[:, ~defined] = torch.nan
        return matrix.cpu()


def _gram_above_rounding(features: Tensor) -> tuple[Tensor, Tensor]:
    """Centred Gram [n, n] of [n, ...], all zeros when the examples differ by no more than rounding; and the variance
    that rounding may give one feature."""
    features = features if features.is_floating_point() else features.float()
    k = gram(features, centred=True)
    # half types are rounded once, by half a unit; float32 carries the rounding of all layers below
    units = 4 if features.dtype in (torch.float32, torch.float64) else 0.5
    noise = (units * torch.finfo(features.dtype).eps) ** 2 * features[0].float().square().mean().to(k)
    return k * (k.trace() / len(k) > noise * features[0].numel()), noise
