"""Attention read on the fly, with fused attention left on, and how far it reaches.

Every timm ViT hands its queries and keys to `scaled_dot_product_attention`. A listener recomputes the weights
softmax(q kᵀ/√d + mask) from them a few images at a time, takes what it needs and lets them go.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from .. import plots
from ..inputs.batches import ImageSource
from ..networks.anatomy import Grid, grid_of, has_class_token
from ..runtime.device import chunk_bytes, float64_device, full_precision
from ..runtime.distributed import all_sum, together
from .stream import stream

_CHUNK_BYTES = 4 << 20  # attention weights alive at one time on a CPU


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
        step = max(1, chunk_bytes(self.q.device, _CHUNK_BYTES) // (4 * heads * tokens * tokens))
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


def require_finite(values: Tensor, layer: int) -> Tensor:
    """The same values, unless attention in this layer was NaN or Inf."""
    if not values.isfinite().all():
        raise ValueError(f"NaN or Inf in the attention of layer {layer}")
    return values


class DistanceSums:
    """Sums over images and query patches, per layer and head: distance, raw distance, mass on [CLS], on registers."""

    def __init__(self, grid: Grid, class_token: bool) -> None:
        self.grid, self.class_token = grid, class_token
        self.sums: dict[int, Tensor] = {}  # layer → [4, heads]
        self.queries = 0
        self._distance: Tensor | None = None  # [P, tokens]; a prefix token is nowhere, distance 0

    def add(self, layer: int, heads: Heads) -> None:
        """One layer of one batch."""
        grid = self.grid
        if self._distance is None:
            self._distance = F.pad(grid.distances(), (grid.prefix, 0)).float().to(heads.q.device)
        if layer == 0:
            self.queries += len(heads.q) * grid.rows * grid.columns
        first_register = 1 if self.class_token else 0
        for _, weights in heads.weights(grid.prefix):
            on_class = weights[..., :first_register].sum(-1)
            on_registers = weights[..., first_register : grid.prefix].sum(-1)
            on_patches = weights[..., grid.prefix :].sum(-1)
            raw = weights.mul_(self._distance).sum(-1)  # [b, heads, P]
            terms = torch.stack([raw / on_patches, raw, on_class, on_registers]).sum((1, 3))
            terms = terms.to(float64_device(terms.device)).double()
            self.sums[layer] = self.sums.get(layer, torch.zeros_like(terms)) + terms

    def means(self) -> np.ndarray:
        """[4, depth, heads]: renormalised distance, raw distance (pixels), mass on the class token and on registers."""
        ordered = [require_finite(self.sums[layer], layer) for layer in sorted(self.sums)]
        return (all_sum(torch.stack(ordered, dim=1)) / all_sum(self.queries)).cpu().numpy()


@dataclass(frozen=True, repr=False, eq=False)
class AttentionDistance:
    """How far heads look, in pixels of the input: mean over images and query patches of Σ_j A_ij ‖c_i − c_j‖."""

    pixels: np.ndarray  #: [depth, heads], prefix tokens dropped and rows renormalised
    raw: np.ndarray  #: [depth, heads], prefix tokens dropped, rows not renormalised
    cls_mass: np.ndarray  #: [depth, heads], attention that patches pay to the class token
    uniform: float  #: the distance of a head that looks everywhere equally
    grid: tuple[int, int]  #: rows and columns of patches
    n_images: int
    register_mass: np.ndarray | None = None  #: [depth, heads], the same for registers, if there are any

    def __repr__(self) -> str:
        depth, heads = self.pixels.shape
        return (f"AttentionDistance({depth} layers × {heads} heads, {self.n_images} images, "
                f"{self.pixels.min():.1f}–{self.pixels.max():.1f} px, uniform {self.uniform:.1f} px)")

    @property
    def prefix_mass(self) -> np.ndarray:
        """[depth, heads], attention that patches pay to all tokens without a place."""
        return self.cls_mass if self.register_mass is None else self.cls_mass + self.register_mass

    def to_frame(self) -> pd.DataFrame:
        """One row per layer and head."""
        layer, head = np.indices(self.pixels.shape)
        frame = pd.DataFrame({"layer": layer.ravel(), "head": head.ravel(), "pixels": self.pixels.ravel(),
                              "raw": self.raw.ravel(), "cls_mass": self.cls_mass.ravel()})
        return frame if self.register_mass is None else frame.assign(register_mass=self.register_mass.ravel())

    def plot(self, layers: Sequence[int] | None = None, ax: Any = None) -> Any:
        """One dot per head over depth; with `layers`, the sorted heads of those layers as curves."""
        if layers is None:
            return plots.dots(self.pixels, x=r"$\ell$", y="px", level=self.uniform, ax=ax)
        curves = {rf"$\ell={i}$": np.sort(self.pixels[i]) for i in layers}
        curves["_1/N"] = np.full(self.pixels.shape[1], self.uniform)
        return plots.lines(curves, x=r"$h$", y="px", ax=ax)


@together
def attention_distance(model: nn.Module, images: ImageSource, *, batch_size: int = 64,
                       device: str | torch.device | None = None, progress: bool | None = None) -> AttentionDistance:
    """Mean attention distance of every head of a timm ViT, in pixels of the input; no attention map is kept.

    Class token and registers are dropped and rows renormalised; the result also has the distance without renormalising
    and the attention that goes to those tokens. Swin, CaiT, XCiT and convolutional networks are refused.

    >>> attention_distance(vit, images).pixels.shape
    (6, 8)
    """
    sums, n = stream([model], [images], lambda x: DistanceSums(grid_of(model, x), has_class_token(model)),
                     lambda sums, x: listen(model, x, sums.grid, sums.add), batch_size=batch_size, device=device,
                     progress=progress)
    pixels, raw, cls_mass, register_mass = sums.means()
    grid, registers = sums.grid, sums.grid.prefix > int(sums.class_token)
    return AttentionDistance(pixels, raw, cls_mass, float(grid.distances().mean()), (grid.rows, grid.columns), n,
                             register_mass if registers else None)
