"""Skip connections: how much of a block's output is the skip.

A residual branch computes z + f(z). The norm ratio is ‖z‖ / ‖f(z)‖ with f(z) taken before the sum, its normalisation
and LayerScale included, and z what is really added: in a ResNet's first block of a stage, the projected shortcut.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn

from .. import plots
from ..inputs.batches import ImageSource
from ..networks.anatomy import has_class_token
from ..networks.blocks import BlockCall, outer_blocks
from ..networks.taps import Tap, block_taps, children_called, is_transformer, tapped
from ..networks.trace import Order, Place, trace
from ..runtime.advice import warn
from ..runtime.device import float64_device
from ..runtime.distributed import all_sum, together
from .stream import stream


@dataclass(frozen=True)
class Branch:
    """One residual sum: where its two terms and their sum can be read."""

    name: str  # of the branch output, a tap
    after: str  # of the sum, a tap
    kind: str  # "attn" (in a Mixer the token mixing), "mlp" or "conv"
    skip: Place
    branch: Place
    total: Place


def branches(model: nn.Module, x: Tensor) -> list[Branch]:
    """Every residual sum of a timm ViT, ResNet or Mixer in execution order, checked on the first of x [n, C, H, W]."""
    order = trace(model, x)
    found: list[Branch] = []
    for one in outer_blocks(model, order):
        found += _of_transformer(one, order) if is_transformer(one.block) else _of_resnet(one, order)
    if not found:
        raise ValueError(f"{type(model).__name__} has no residual blocks that could be told apart")
    _check_sums(model, found, x[:1])
    return found


def _of_transformer(one: BlockCall, order: Order) -> list[Branch]:
    places = block_taps(one, order)
    tap = lambda part: f"{one.path}.{part}{one.mark}"
    if tap("norm1") not in places:
        raise ValueError(f"block {one.name!r} normalises its branches last (residual post-norm): the norm alone "
                         "decides how long they are")
    mix = "attn" if tap("attn_out") in places else "mix"
    first, middle, second = tap(f"{mix}_out"), tap(f"after_{mix}"), tap("mlp_out")
    start, end = ((one.path, side, one.call) for side in ("in", "out"))
    return [Branch(first, middle, "attn", start, places[first], places[middle]),
            Branch(second, one.name, "mlp", places[middle], places[second], end)]


def _of_resnet(one: BlockCall, order: Order) -> list[Branch]:
    called = children_called(one, order)
    convolutions = sorted(name for name in called if name.startswith("conv"))
    if not convolutions or not hasattr(one.block, "downsample"):
        raise ValueError(f"block {one.name!r} is a {type(one.block).__name__}: where its skip and its branch meet is "
                         "not known")

    def place(part: str, side: str) -> Place:
        found = order.inside(one.path, one.call, f"{one.path}.{part}", side)
        assert found is not None  # it is one of those called
        return found

    last = convolutions[-1].removeprefix("conv")
    exits = [name for name in (f"conv{last}", f"bn{last}", f"norm{last}", "se") if name in called]
    leave = max(exits, key=lambda name: order[place(name, "out")])
    shortcut = place("downsample", "out") if "downsample" in called else (one.path, "in", one.call)
    total = _last_activation(one, order, after=max(order[place(leave, "out")], order[shortcut]))
    return [Branch(f"{one.path}.{leave}{one.mark}", one.name, "conv", shortcut, place(leave, "out"), total)]


def _last_activation(one: BlockCall, order: Order, after: int) -> Place:
    """Where the sum can be read: what the activation that follows on it reads, else the block's output."""
    for name in children_called(one, order):
        if not re.match("act|relu", name):
            continue
        nth = 0
        while (found := order.inside(one.path, one.call, f"{one.path}.{name}", "in", nth)) is not None:
            if order[found] > after:
                return found
            nth += 1
    return one.path, "out", one.call


def _check_sums(model: nn.Module, found: list[Branch], x: Tensor) -> None:
    """Refuse a block that does not add its skip and its branch, rather than measure something else."""
    wanted = [Tap(b.name, *place) for b in found for place in (b.skip, b.branch, b.total)]
    seen: dict[int, Tensor] = {}

    def visit(i: int, tensor: Tensor) -> None:
        seen[i] = tensor.clone()  # an in-place operation may follow

    with torch.no_grad(), tapped(model, wanted, visit):
        model(x.clone())  # it may change its input in place
    for i, b in enumerate(found):
        skip, branch, total = (seen[3 * i + k] for k in range(3))
        alike = skip.shape == branch.shape and skip.numel() == total.numel()  # Swin flattens its grid after the sum
        if not alike or not torch.allclose(skip + branch, total.reshape(skip.shape), rtol=1e-2, atol=1e-2,
                                           equal_nan=True):
            raise ValueError(f"{b.name!r} is not added to a skip: the block has none, or does more than adding")


@dataclass(frozen=True, repr=False, eq=False)
class NormRatio:
    """‖z‖/‖f(z)‖ and cosines, means over images; keys "attn" and "mlp" [depth, tokens], "conv" [blocks]."""

    ratio: dict[str, np.ndarray]  #: ‖z‖/‖f(z)‖
    cosine_sum: dict[str, np.ndarray]  #: cos(z, z + f(z)): how little the sum turns
    cosine_branch: dict[str, np.ndarray]  #: cos(z, f(z)): whether the branch adds along or across
    layers: dict[str, list[str]]  #: names of the branch outputs
    prefix: int  #: tokens before the patches: class token and registers
    class_token: bool  #: whether the first of those is a class token
    n_images: int

    @property
    def attn(self) -> np.ndarray:
        """[depth, tokens]; in a Mixer the token-mixing branch."""
        return self._of("attn")

    @property
    def mlp(self) -> np.ndarray:
        """[depth, tokens]"""
        return self._of("mlp")

    @property
    def blocks(self) -> np.ndarray:
        """[blocks] of a ResNet, mean over positions."""
        return self._of("conv")

    def _of(self, kind: str) -> np.ndarray:
        if kind not in self.ratio:
            raise ValueError(f"this model has no branches of kind {kind!r}: it has {', '.join(map(repr, self.ratio))}")
        return self.ratio[kind]

    @property
    def cls(self) -> dict[str, np.ndarray]:
        """Ratio of the class token, [depth] each."""
        if not self.class_token:
            raise ValueError("this model has no class token")
        return {kind: values[:, 0] for kind, values in self.ratio.items() if values.ndim == 2}

    @property
    def spatial(self) -> dict[str, np.ndarray]:
        """Ratio averaged over the patches (a ResNet's positions), [depth] each."""
        return {kind: values[:, self.prefix :].mean(1) if values.ndim == 2 else values
                for kind, values in self.ratio.items()}

    def __repr__(self) -> str:
        parts = ", ".join(f"{kind} {values.mean():.2f}" for kind, values in self.spatial.items())
        return f"NormRatio({sum(map(len, self.layers.values()))} branches, {self.n_images} images; means: {parts})"

    def to_frame(self) -> pd.DataFrame:
        """One row per branch: ratio of the patches and of the class token, and the two cosines of the patches."""
        patches = lambda v: v[:, self.prefix :].mean(1) if v.ndim == 2 else v
        first = lambda v: v[:, 0] if v.ndim == 2 and self.class_token else np.full(len(v), np.nan)
        frames = [pd.DataFrame({"layer": names, "kind": kind, "depth": np.arange(len(names)),
                                "spatial": patches(self.ratio[kind]), "cls": first(self.ratio[kind]),
                                "cosine_sum": patches(self.cosine_sum[kind]),
                                "cosine_branch": patches(self.cosine_branch[kind])})
                  for kind, names in self.layers.items()]
        return pd.concat(frames, ignore_index=True)

    def plot(self, ax: Any = None) -> Any:
        """Ratio over depth, patches and class token."""
        curves = dict(self.spatial)
        if self.class_token:
            curves |= {f"{kind} CLS": values for kind, values in self.cls.items()}
        return plots.lines(curves, x=r"$\ell$", y=r"$\|z\| / \|f(z)\|$", ax=ax)


@together
def norm_ratio(model: nn.Module, images: ImageSource, *, batch_size: int = 64,
               device: str | torch.device | None = None, progress: bool | None = None) -> NormRatio:
    """Norm ratio ‖z‖/‖f(z)‖ and cosines of every residual branch, per token and image, then averaged over images.

    f(z) is the branch before the sum, with its normalisation and LayerScale; z is what it is added to. Works for timm
    ViTs, ResNets and Mixers; a block that does not add its skip and its branch is refused.

    >>> norm_ratio(vit, images).attn.shape, norm_ratio(resnet, images).blocks.shape
    ((6, 65), (9,))
    """
    sums: dict[int, Tensor] = {}  # of each branch, the views [3, tokens] or [3]

    def visit(found: list[Branch], x: Tensor) -> None:
        half_seen: dict[int, dict[int, Tensor]] = defaultdict(dict)  # a residual sum needs both of its terms

        def visit_term(i: int, tensor: Tensor) -> None:
            k, term = divmod(i, 2)  # branch k has the taps 2k, what is skipped, and 2k + 1, what is added
            half_seen[k][term] = tensor
            if len(half_seen[k]) == 2:
                terms = half_seen.pop(k)
                views = _views(terms[0], terms[1], found[k])
                sums[k] = sums.get(k, torch.zeros_like(views)) + views

        with tapped(model, [Tap(b.name, *term) for b in found for term in (b.skip, b.branch)], visit_term):
            model(x)
        _require_same_tokens(found, sums)

    found, n = stream([model], [images], lambda x: branches(model, x), visit, batch_size=batch_size, device=device,
                      progress=progress)
    sums = {k: all_sum(sums[k]) for k in sorted(sums)}
    return _result(model, found, sums, n)


def _result(model: nn.Module, found: list[Branch], sums: dict[int, Tensor], n: int) -> NormRatio:
    """Means over n images, branches of one kind together; a branch that adds nothing is named in a warning."""
    members = {b.kind: [k for k, other in enumerate(found) if other.kind == b.kind] for b in found}
    means = {kind: torch.stack([sums[k] for k in ks], dim=1).cpu().numpy() / n for kind, ks in members.items()}
    ratio, cosine_sum, cosine_branch = ({kind: views[v] for kind, views in means.items()} for v in range(3))
    layers = {kind: [found[k].name for k in ks] for kind, ks in members.items()}
    silent = [found[k].name for k in sums if sums[k][0].isinf().any()]
    if silent:
        warn(f"a branch that adds exactly zero somewhere has an infinite ratio: {', '.join(silent)} (an untrained "
             "network may start its last norm at zero)")
    prefix = int(getattr(model, "num_prefix_tokens", 0))
    return NormRatio(ratio, cosine_sum, cosine_branch, layers, prefix, prefix > 0 and has_class_token(model), n)


def _require_same_tokens(found: list[Branch], sums: dict[int, Tensor]) -> None:
    """Refuse blocks whose tokens cannot be laid over each other: [3, tokens] must be the same within a kind."""
    first: dict[str, int] = {}
    for k in sorted(sums):
        other = first.setdefault(found[k].kind, k)
        if sums[k].shape != sums[other].shape:
            raise ValueError(f"{found[k].name!r} has {sums[k].shape[-1]} tokens and {found[other].name!r} has "
                             f"{sums[other].shape[-1]}: norm_ratio needs the same tokens in all blocks")


def _views(z: Tensor, f: Tensor, branch: Branch) -> Tensor:
    """Ratio and both cosines of [n, tokens, C] or [n, C, h, w], summed over images: [3, tokens] or [3]."""
    if branch.kind != "conv" and z.dim() != 3:
        raise ValueError(f"{branch.name!r} has shape {tuple(z.shape)}, not [n, tokens, C]: norm_ratio reads blocks "
                         "whose tokens stand in one row")
    channel = 1 if z.dim() == 4 else -1
    z, f = z.float(), f.float()
    zz, ff, zf = (z * z).sum(channel), (f * f).sum(channel), (z * f).sum(channel)
    if not (zz + ff).isfinite().all():
        raise ValueError(f"NaN or Inf in the activations at {branch.name!r}")
    total = (zz + 2 * zf + ff).clamp_min(0).sqrt()
    views = torch.stack([(zz / ff).sqrt(), (zz + zf) / (zz.sqrt() * total), zf / (zz * ff).sqrt()])
    views = views.to(float64_device(views.device)).double()
    return views.flatten(2).mean(2).sum(1) if channel == 1 else views.sum(1)
