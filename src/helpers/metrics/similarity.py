"""Similarity of two representations of the same n examples: Gram matrices, HSIC and linear CKA.

    K = X Xᵀ                                             gram
    HSIC₀(K, L) = tr(KHLH) / (n − 1)²                    hsic0, biased
    HSIC₁(K, L) = ⟨U(K), U(L)⟩ / (n(n − 3))              hsic1, unbiased (Song et al. 2012), U: u_centre
    CKA = HSIC(K, L) / √(HSIC(K, K) · HSIC(L, L))        linear_cka, minibatch_cka
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from ..runtime.advice import warn
from ..runtime.device import chunk_bytes, float64_device, full_precision
from ..runtime.distributed import all_max, all_sum

SMALLEST_BATCH = 4  # HSIC₁ divides by n − 3
_CHUNK_BYTES = 2 << 20  # on a CPU, features are centred and multiplied in slices that fit a cache; no second copy
_SLICE = 8192  # columns of a product on an accelerator: float32 adds up no more before float64 takes over


def gram(x: Tensor, centred: bool = False) -> Tensor:
    """X Xᵀ of features [n, ...] as float64 [n, n]; with `centred` the mean example is subtracted first.

    Centring changes no HSIC, and it saves the digits that a large common offset would cost in float32.
    """
    if x.is_complex():
        raise ValueError("features are complex numbers, and a Gram matrix would lose their imaginary part: pass "
                         "torch.view_as_real(x)")
    x = _rows(x)
    if x.device.type != "cpu":
        return _gram_in_batches(x, centred)
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


def _gram_in_batches(x: Tensor, centred: bool) -> Tensor:
    """The same on an accelerator, where a launch costs more than a small product: slices together, added up once."""
    n, limit, home = len(x), chunk_bytes(x.device, _CHUNK_BYTES), float64_device(x.device)
    width = _slice_width(x.shape[1])
    products: list[Tensor] = []  # of one chunk each, [slices, n, n]; their sum so far comes first
    with full_precision(x.device):
        for part in x.split(max(1, limit // (4 * n * width)) * width, dim=1):
            part = part if part.dtype == torch.float64 else part.float()
            part = part - part.mean(0) if centred else part
            part = nn.functional.pad(part, (0, -part.shape[1] % width)) if part.shape[1] % width else part
            products.append(_products(part.unflatten(1, (-1, width)).transpose(0, 1)))
            if sum(map(len, products)) * 4 * n * n > limit:
                products = [_added_up(products, home)[None]]
    return _added_up(products, home)


def _slice_width(columns: int) -> int:
    """Columns of a slice: float32 adds up no more of them before float64 takes over. A divisor needs no padding."""
    most = min(columns, _SLICE)
    return next((width for width in range(most, most // 8, -1) if columns % width == 0), most)


def _added_up(products: list[Tensor], home: torch.device) -> Tensor:
    """Products [slices, n, n] as one sum [n, n] in float64."""
    together = torch.cat([one.to(home) for one in products]) if len(products) > 1 else products[0].to(home)
    return together.sum(0, dtype=torch.float64)


def _products(x: Tensor) -> Tensor:
    """X Xᵀ of [..., n, p]; where the product costs more than a launch, a quarter that is known by symmetry is left."""
    n, half = x.shape[-2], x.shape[-2] // 2
    if n < 512:
        return torch.bmm(x, x.mT)
    total = x.new_empty(*x.shape[:-2], n, n)
    total[..., half:, :] = x[..., half:, :] @ x.mT
    total[..., :half, :half] = x[..., :half, :] @ x[..., :half, :].mT
    total[..., :half, half:] = total[..., half:, :half].mT
    return total


def _rows(x: Tensor) -> Tensor:
    """[n, ...] → [n, p]; features in memory order, so that channels-last maps need no copy (a Gram has no order)."""
    axes = sorted(range(1, x.dim()), key=x.stride, reverse=True)
    return x.permute(0, *axes).reshape(len(x), -1)


def u_centre(k: Tensor) -> Tensor:
    """U-centring of Gram matrices [..., n, n]: zero diagonal, rows and columns that sum to zero.

    The diagonal must not enter the means: it is what makes the biased estimate large for unrelated features.
    """
    n = k.shape[-1]
    k = k.double().clone()
    k.diagonal(dim1=-2, dim2=-1).zero_()
    rows = k.sum(-2) / (n - 2)
    rows -= rows.sum(-1, keepdim=True) / (2 * (n - 1))
    k -= rows[..., :, None] + rows[..., None, :]
    k.diagonal(dim1=-2, dim2=-1).zero_()
    return k


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
        self.names, self.device = names, device
        self.options: Any = {"dtype": torch.float64, "device": float64_device(device)}
        self.hsic = torch.zeros(len(names), len(names), **self.options)
        self.scale, self.rounding = torch.zeros(2, len(names), **self.options)  # of HSIC₁(K, K), and its noise
        self.n_images = self.batch_size = 0

    @contextmanager
    def minibatch(self, n: int) -> Iterator[Visit]:
        """Inside, call visit(i, features [n, ...]) once for every layer i."""
        upper = tuple(torch.triu_indices(n, n, 1, device=self.hsic.device))
        triangles = torch.full((len(self.names), n * (n - 1) // 2), torch.nan, **self.options)
        waiting: list[_Gram] = []
        together = chunk_bytes(self.device, 0) * 4 // (8 * n * n)  # on an accelerator many layers are centred at once

        def centre() -> None:
            if waiting:
                layers = torch.tensor([one.layer for one in waiting], device="cpu").to(self.hsic.device)
                triangles[layers] = self._centred(waiting)[:, upper[0], upper[1]]
                waiting.clear()

        def visit(i: int, features: Tensor) -> None:
            if len(features) != n:
                raise ValueError(f"layer {self.names[i]!r} gives {len(features)} rows for {n} images, not one each")
            waiting.append(_gram_and_norm(i, features))
            if len(waiting) >= together:
                centre()

        yield visit
        centre()
        if not triangles.isfinite().all():
            broken = [name for name, row in zip(self.names, triangles, strict=True) if not row.isfinite().all()]
            raise ValueError(f"NaN or Inf in the activations of {broken[0]!r} ({len(broken)} layers in all)")
        self.hsic += (triangles @ triangles.T) * (2 / (n * (n - 3)))
        self.n_images += n
        self.batch_size = max(self.batch_size, n)

    def _centred(self, grams: list[_Gram]) -> Tensor:
        """U-centred Grams of several layers [l, n, n]; zeros where the examples differ by no more than rounding."""
        layers = torch.tensor([one.layer for one in grams], device="cpu").to(self.hsic.device)
        k = torch.stack([one.gram for one in grams]) if len(grams) > 1 else grams[0].gram[None]
        power = torch.stack([one.norm for one in grams]).to(k) ** 2
        unit, size = torch.tensor([(one.unit, one.size) for one in grams], **{**self.options, "device": "cpu"}).to(k).T
        spread = k.diagonal(dim1=-2, dim2=-1).sum(-1) / k.shape[-1]
        noise = unit * power / size  # the variance that rounding may give one feature
        varies = spread > noise * size
        spread = spread * varies
        self.scale[layers] += spread**2
        self.rounding[layers] += 2 * noise * spread  # of ⟨noise, difference⟩ when one example differs from all others
        return u_centre(k) * varies[:, None, None]

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


@dataclass(frozen=True)
class _Gram:
    """One layer's centred Gram matrix, and what its rounding may amount to."""

    layer: int
    gram: Tensor  # [n, n]
    norm: Tensor  # of the first example
    size: int  # of one example
    unit: float  # relative variance of what is rounded


def _gram_and_norm(layer: int, features: Tensor) -> _Gram:
    features = features if features.is_floating_point() else features.float()
    # half types are rounded once, by half a unit; float32 carries the rounding of all layers below
    units = 4 if features.dtype in (torch.float32, torch.float64) else 0.5
    norm = torch.linalg.vector_norm(features[0], dtype=torch.promote_types(features.dtype, torch.float32))
    return _Gram(layer, gram(features, centred=True), norm, features[0].numel(),
                 (units * torch.finfo(features.dtype).eps) ** 2)
