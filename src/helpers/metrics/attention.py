"""Attention read on the fly, with fused attention left on, and how far it reaches.

Every timm ViT hands its queries and keys to `scaled_dot_product_attention`. A listener recomputes the weights
softmax(q kᵀ/√d + mask) from them a few images at a time, takes what it needs and lets them go.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from .. import plots
from ..inputs.batches import ImageSource, feed, patch_embed
from ..runtime.device import borrowed, float64_device, full_precision, pick_device
from ..runtime.distributed import over_all, together

_CHUNK_BYTES = 4 << 20  # attention weights alive at one time
_REFUSED = {
    "Swin": "it attends inside windows, so no row of weights covers the whole image",
    "Cait": "it mixes its heads before and after the softmax (talking heads), so no map belongs to one head",
    "Xcit": "it attends between channels, not between patches",
}


@dataclass(frozen=True)
class Grid:
    """How tokens lie on the image: `prefix` tokens without a place, then rows × columns patches."""

    rows: int
    columns: int
    prefix: int
    height: int  # of the image, in pixels
    width: int

    @property
    def tokens(self) -> int:
        return self.prefix + self.rows * self.columns

    def distances(self) -> Tensor:
        """Pixels between patch centres [P, P], float64."""
        y = (torch.arange(self.rows, dtype=torch.float64) + 0.5) * (self.height / self.rows)
        x = (torch.arange(self.columns, dtype=torch.float64) + 0.5) * (self.width / self.columns)
        centres = torch.cartesian_prod(y, x)
        return torch.cdist(centres, centres, compute_mode="donot_use_mm_for_euclid_dist")


def require_attention_maps(model: nn.Module) -> None:
    """Refuse, with the reason, a model whose attention has no maps of the whole image."""
    kind = type(model).__name__
    for name, reason in _REFUSED.items():
        if kind.startswith(name):
            raise ValueError(f"{kind} has no attention map of the whole image: {reason}")
    parts = {"patch_embed.dynamic_feat_size": hasattr(patch_embed(model), "dynamic_feat_size"),
             "num_prefix_tokens": hasattr(model, "num_prefix_tokens"), "blocks": hasattr(model, "blocks")}
    missing = [name for name, there in parts.items() if not there]
    if missing and isinstance(getattr(model, "module", None), nn.Module):
        raise ValueError(f"{kind} wraps the model whose attention is wanted: pass model.module")
    if missing and not any(hasattr(m, "num_heads") or "Attention" in type(m).__name__ for m in model.modules()):
        raise ValueError(f"{kind} is not a vision transformer: it has no attention between patches")
    if missing:
        raise ValueError(f"{kind} is not built like timm's VisionTransformer (it has no {' and no '.join(missing)}): "
                         "its attention cannot be placed on the image")


def grid_of(model: nn.Module, x: Tensor) -> Grid:
    """The token grid of a timm ViT for images [n, 3, H, W]; other architectures are refused with the reason."""
    require_attention_maps(model)
    height, width = x.shape[-2:]
    rows, columns = patch_embed(model).dynamic_feat_size((height, width))  # type: ignore[operator, union-attr]
    return Grid(rows, columns, int(model.num_prefix_tokens), height, width)  # type: ignore[arg-type]


def has_class_token(model: nn.Module) -> bool:
    """Whether one of the prefix tokens is a class token; the others are registers."""
    return any(name.rpartition(".")[2] == "cls_token" for name, _ in model.named_parameters())


def block_index(model: nn.Module, block: Any) -> int:
    """The number of a block that is given as 2, as -1 (from the end) or as "blocks.2"."""
    depth = len(model.blocks)  # type: ignore[arg-type]
    names = {f"blocks.{i}": i for i in range(depth)}
    try:
        return range(depth)[operator.index(names.get(block, block))]
    except (IndexError, TypeError):
        raise ValueError(f"there is no block {block!r}: the model has blocks 0 to {depth - 1}, also called 'blocks.0' "
                         f"to 'blocks.{depth - 1}', or -1 for the last") from None


def block_indices(model: nn.Module, blocks: Any) -> list[int]:
    """The numbers of one block or of several."""
    several = isinstance(blocks, Iterable) and not isinstance(blocks, str)
    return [block_index(model, block) for block in (blocks if several else [blocks])]


@dataclass(frozen=True)
class Heads:
    """One attention layer at work: queries and keys [B, heads, tokens, d], what is added, and the output."""

    q: Tensor
    k: Tensor
    bias: Tensor | None  # broadcasts to [B, heads, tokens, tokens]; booleans say what may be seen
    scale: float
    output: Tensor  # [B, heads, tokens, d]

    def weights(self, first: int = 0) -> Iterator[tuple[slice, Tensor]]:
        """(images, attention weights [b, heads, tokens − first, tokens]) of queries from token `first` on."""
        batch, heads, tokens, _ = self.q.shape
        step = max(1, _CHUNK_BYTES // (4 * heads * tokens * tokens))
        for start in range(0, batch, step):
            images = slice(start, start + step)
            with full_precision(self.q.device):
                logits = (self.q[images, :, first:].float() * self.scale) @ self.k[images].float().transpose(-1, -2)
            if self.bias is not None:
                bias = self.bias[images] if len(self.bias) == batch > 1 else self.bias
                bias = bias[..., first:, :] if bias.shape[-2] > 1 else bias
                logits = logits.masked_fill(~bias, -torch.inf) if bias.dtype == torch.bool else logits.add_(bias)
            yield images, torch.softmax(logits, dim=-1)


class _Listener(TorchFunctionMode):
    """Calls visit(layer, Heads) for each attention over the whole grid, in order of execution."""

    def __init__(self, grid: Grid, visit: Callable[[int, Heads], None]) -> None:
        super().__init__()
        self.grid, self.visit, self.layers = grid, visit, 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        output = func(*args, **(kwargs or {}))
        if func is F.scaled_dot_product_attention:
            self._note(output, *args, **(kwargs or {}))
        return output

    def _note(self, output: Tensor, query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None,
              dropout_p: float = 0.0, is_causal: bool = False, scale: float | None = None, **_: Any) -> None:
        if not query.shape[-2] == key.shape[-2] == self.grid.tokens:
            return  # attention pooling and the like
        if is_causal:
            attn_mask = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool, device=query.device).tril()
        if attn_mask is not None:
            attn_mask = attn_mask.reshape((1,) * (4 - attn_mask.dim()) + attn_mask.shape)
        scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
        self.visit(self.layers, Heads(query, key, attn_mask, scale, output))
        self.layers += 1


def listen(model: nn.Module, x: Tensor, grid: Grid, visit: Callable[[int, Heads], None]) -> int:
    """One forward pass of [B, 3, H, W]; visit(layer, Heads) at every attention. Returns the number of layers."""
    with _Listener(grid, visit) as listener:
        model(x)
    if listener.layers:
        blocks = getattr(model, "blocks", None)
        if blocks is not None and len(blocks) != listener.layers:
            raise ValueError(f"{type(model).__name__} attends {listener.layers} times over the grid in {len(blocks)} "
                             "blocks: its layers cannot be told apart")
        return listener.layers
    if any(getattr(m, "fused_attn", True) is False for m in model.modules()):
        raise ValueError("the model was built with fused attention switched off: build it again after "
                         "timm.layers.set_fused_attn(True)")
    raise ValueError(f"{type(model).__name__} never attends over its whole {grid.rows}×{grid.columns} grid of patches")


def run(model: nn.Module, images: ImageSource, batch_size: int, device: Any, progress: bool,
        each: Callable[[Tensor, Grid], None]) -> int:
    """each(batch, grid) for every batch on the device, the model borrowed; returns how many images there were."""
    place, n = pick_device(device), 0
    with borrowed(model, place), torch.no_grad():
        for x in feed(model, images, batch_size, place, progress):
            each(x, grid_of(model, x))
            n += len(x)
    return over_all(n)


def require_finite(values: Tensor, layer: int) -> Tensor:
    """The same values, unless attention in this layer was NaN or Inf."""
    if not values.isfinite().all():
        raise ValueError(f"NaN or Inf in the attention of layer {layer}")
    return values


class DistanceSums:
    """Sums over images and query patches of distance, raw distance and prefix mass, per layer and head."""

    def __init__(self) -> None:
        self.sums: dict[int, Tensor] = {}  # layer → [3, heads]
        self.queries = 0
        self._table: tuple[Grid, Tensor] | None = None

    def add(self, layer: int, heads: Heads, grid: Grid) -> None:
        """One layer of one batch."""
        if self._table is None or self._table[0] != grid:
            table = F.pad(grid.distances(), (grid.prefix, 0))  # [P, tokens]; a prefix token is nowhere, distance 0
            self._table = (grid, table.float().to(heads.q.device))
        if layer == 0:
            self.queries += len(heads.q) * grid.rows * grid.columns
        for _, weights in heads.weights(grid.prefix):
            on_prefix = weights[..., : grid.prefix].sum(-1)
            on_patches = weights[..., grid.prefix :].sum(-1)
            raw = weights.mul_(self._table[1]).sum(-1)  # [b, heads, P]
            terms = torch.stack([raw / on_patches, raw, on_prefix]).sum((1, 3))
            terms = terms.to(float64_device(terms.device)).double()
            self.sums[layer] = self.sums.get(layer, torch.zeros_like(terms)) + terms

    def means(self) -> np.ndarray:
        """[3, depth, heads]: renormalised distance, raw distance (pixels) and mass on prefix tokens."""
        ordered = [require_finite(self.sums[layer], layer) for layer in sorted(self.sums)]
        return (over_all(torch.stack(ordered, dim=1)) / over_all(self.queries)).cpu().numpy()


@dataclass(frozen=True, repr=False, eq=False)
class AttentionDistance:
    """How far heads look, in pixels of the input: mean over images and query patches of Σ_j A_ij ‖c_i − c_j‖."""

    pixels: np.ndarray  #: [depth, heads], prefix tokens dropped and rows renormalised
    raw: np.ndarray  #: [depth, heads], prefix tokens dropped, rows not renormalised
    cls_mass: np.ndarray  #: [depth, heads], attention that patches pay to prefix tokens (class token and registers)
    uniform: float  #: the distance of a head that looks everywhere equally
    grid: tuple[int, int]  #: rows and columns of patches
    n_images: int

    def __repr__(self) -> str:
        depth, heads = self.pixels.shape
        return (f"AttentionDistance({depth} layers × {heads} heads, {self.n_images} images, "
                f"{self.pixels.min():.1f}–{self.pixels.max():.1f} px, uniform {self.uniform:.1f} px)")

    def to_frame(self) -> pd.DataFrame:
        """One row per layer and head."""
        layer, head = np.indices(self.pixels.shape)
        return pd.DataFrame({"layer": layer.ravel(), "head": head.ravel(), "pixels": self.pixels.ravel(),
                             "raw": self.raw.ravel(), "cls_mass": self.cls_mass.ravel()})

    def plot(self, layers: Sequence[int] | None = None, ax: Any = None) -> Any:
        """One dot per head over depth; with `layers`, the sorted heads of those layers as curves."""
        if layers is None:
            return plots.dots(self.pixels, x=r"$\ell$", y="px", level=self.uniform, ax=ax)
        curves = {rf"$\ell={i}$": np.sort(self.pixels[i]) for i in layers}
        curves["_1/N"] = np.full(self.pixels.shape[1], self.uniform)
        return plots.lines(curves, x=r"$h$", y="px", ax=ax)


@together
def attention_distance(model: nn.Module, images: ImageSource, *, batch_size: int = 64,
                       device: str | torch.device | None = None, progress: bool = True) -> AttentionDistance:
    """Mean attention distance of every head of a timm ViT, in pixels of the input; no attention map is kept.

    Class token and registers are dropped and rows renormalised; the result also has the distance without renormalising
    and the attention that goes to those tokens. Swin, CaiT, XCiT and convolutional networks are refused.

    >>> attention_distance(vit, images).pixels.shape
    (6, 8)
    """
    sums = DistanceSums()
    grids: list[Grid] = []

    def each(x: Tensor, grid: Grid) -> None:
        grids.append(grid)
        listen(model, x, grid, lambda layer, heads: sums.add(layer, heads, grid))

    n = run(model, images, batch_size, device, progress, each)
    pixels, raw, cls_mass = sums.means()
    first = grids[0]
    return AttentionDistance(pixels, raw, cls_mass, float(first.distances().mean()), (first.rows, first.columns), n)
