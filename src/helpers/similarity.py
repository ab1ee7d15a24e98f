"""Similarity of two representations of the same n examples: Gram matrices, HSIC and linear CKA.

    K = X Xᵀ                                             gram
    HSIC₀(K, L) = tr(KHLH) / (n − 1)²                    hsic0, biased
    HSIC₁(K, L) = ⟨U(K), U(L)⟩ / (n(n − 3))              hsic1, unbiased (Song et al. 2012), U: u_centre
    CKA = HSIC(K, L) / √(HSIC(K, K) · HSIC(L, L))        linear_cka, minibatch_cka
"""

from __future__ import annotations

import torch
from torch import Tensor

from .device import float64_device, full_precision

SMALLEST_BATCH = 4  # HSIC₁ divides by n − 3
_CHUNK_BYTES = 8 << 20  # features are multiplied in slices of this size, so that no second copy of a layer exists


def gram(x: Tensor, centred: bool = False) -> Tensor:
    """X Xᵀ of features [n, ...] as float64 [n, n]; with `centred` the mean example is subtracted first.

    Centring changes no HSIC, and it saves the digits that a large common offset would cost in float32.
    """
    x = _rows(x)
    n = len(x)
    total = torch.zeros(n, n, dtype=torch.float64, device=float64_device(x.device))
    product_type = torch.float64 if x.dtype == torch.float64 else torch.float32
    with full_precision(x.device):
        for part in x.split(max(1, _CHUNK_BYTES // (4 * n)), dim=1):
            part = part.to(product_type)
            if centred:
                part = part - part.mean(0)
            total += (part @ part.T).to(total.device)
    return total


def _rows(x: Tensor) -> Tensor:
    """[n, ...] → [n, p]; features in memory order, so that channels-last maps need no copy (a Gram has no order)."""
    axes = sorted(range(1, x.dim()), key=x.stride, reverse=True)
    return x.permute(0, *axes).reshape(len(x), -1)


def u_centre(k: Tensor) -> Tensor:
    """U-centring of a Gram matrix [n, n]: zero diagonal, rows and columns that sum to zero.

    The diagonal is dropped *before* the means are taken; centring first would keep the bias.
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
    kl = kk = ll = torch.zeros((), dtype=torch.float64)
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
