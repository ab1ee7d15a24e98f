"""How a network is built, as far as a measurement must know: what it reads, its patches, its tokens, its blocks."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy


def require_network(model: Any, argument: str = "model") -> None:
    """Refuse what is no network, and one whose layers do not know their sizes yet."""
    if isinstance(model, type):
        raise TypeError(f"{argument} is the class {model.__name__}: pass a network made of it, {model.__name__}(…)")
    if not isinstance(model, nn.Module):
        swapped = "; the model comes first, then the images" if isinstance(model, (Tensor, Iterable)) else ""
        raise TypeError(f"{argument} must be a network (torch.nn.Module), not {type(model).__name__}{swapped}")
    for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
        if is_lazy(tensor):
            raise ValueError(f"{argument} is lazy, {name!r} has no size yet: run it once on a batch, model(x), and "
                             "then measure it")


# ---- what it reads -------------------------------------------------------------------------------------------------


def patch_embed(model: nn.Module) -> nn.Module | None:
    """The module that cuts an image into patches: `patch_embed` in timm's ViTs, `stem` in its Mixers."""
    named = (getattr(model, name, None) for name in ("patch_embed", "stem"))
    return next((m for m in named if hasattr(m, "patch_size")), None)


def channels(model: nn.Module) -> int | None:
    """How many channels an image must have, where the model declares it.

    A convolution alone declares nothing: the one registered first need not be the one that reads the image.
    """
    embed = patch_embed(model)
    patches = None if hasattr(embed, "backbone") else getattr(embed, "proj", None)  # a hybrid's patches are features
    config = getattr(model, "pretrained_cfg", None) or {}
    said = (getattr(model, "in_chans", None), getattr(patches, "in_channels", None), *config.get("input_size", ())[:1])
    return next((n for n in said if isinstance(n, int)), None)


def reads_images(model: nn.Module) -> bool:
    """Whether a model declares what images it wants, or has a convolution that reads three colours."""
    return channels(model) is not None or any(isinstance(m, nn.Conv2d) and m.in_channels == 3 for m in model.modules())


def normalisation(model: nn.Module) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
    """(mean, std) that a timm model declares in its configuration, if it declares any."""
    config = getattr(model, "pretrained_cfg", None) or {}
    mean, std = config.get("mean"), config.get("std")
    return None if mean is None or std is None else (tuple(mean), tuple(std))


def fixed_size(model: nn.Module) -> tuple[int, int] | None:
    """The only image size [H, W] in pixels that a patch-based model accepts; None when it takes any."""
    embed = patch_embed(model)
    size = getattr(embed, "img_size", None)
    if size is None or not getattr(embed, "strict_img_size", True) or getattr(model, "dynamic_img_size", False):
        return None
    return int(size[0]), int(size[1])


def require_same_preprocessing(model: nn.Module, other: nn.Module) -> None:
    """Refuse two models that cannot be shown the same tensor."""
    for what, ask in (("normalisation (mean, std)", normalisation), ("image size", fixed_size)):
        a, b = ask(model), ask(other)
        if a is not None and b is not None and a != b:
            raise ValueError(f"the two models want a different {what}, {a} and {b}: prepare the same images once for "
                             "each and pass the second set as other_images=…")


# ---- its tokens ----------------------------------------------------------------------------------------------------

_NO_MAPS = {
    "Swin": "it attends inside windows, so no row of weights covers the whole image",
    "Cait": "it mixes its heads before and after the softmax (talking heads), so no map belongs to one head",
    "Xcit": "it attends between channels, not between patches",
}


_IN_BLOCKS = ("Nest",)  # their features [n, blocks, positions, C] have the shape of a map [n, h, w, C]


@dataclass(frozen=True)
class Grid:
    """How tokens lie on the image: `prefix` tokens without a place, then rows × columns patches."""

    rows: int
    columns: int
    prefix: int
    height: int  # of the image, in pixels
    width: int
    patch: tuple[int, int] | None = None  # of each, where the network pads images to whole patches

    @property
    def tokens(self) -> int:
        return self.prefix + self.rows * self.columns

    def distances(self) -> Tensor:
        """Pixels between patch centres [P, P], float64."""
        high, wide = self.patch or (self.height / self.rows, self.width / self.columns)
        y = (torch.arange(self.rows, dtype=torch.float64, device="cpu") + 0.5) * high
        x = (torch.arange(self.columns, dtype=torch.float64, device="cpu") + 0.5) * wide
        centres = torch.cartesian_prod(y, x)
        return torch.cdist(centres, centres, compute_mode="donot_use_mm_for_euclid_dist")


def grid_of(model: nn.Module, x: Tensor) -> Grid:
    """The token grid of a timm ViT for images [n, 3, H, W]; other architectures are refused with the reason."""
    require_attention_maps(model)
    height, width = x.shape[-2:]
    embed: Any = patch_embed(model)
    rows, columns = embed.dynamic_feat_size((height, width))
    padded = getattr(embed, "dynamic_img_pad", False) and not hasattr(embed, "backbone")
    return Grid(rows, columns, int(model.num_prefix_tokens), height, width,  # type: ignore[arg-type]
                tuple(embed.patch_size) if padded else None)


def has_class_token(model: nn.Module) -> bool:
    """Whether one of the prefix tokens is a class token, which then is the first; the others are registers."""
    return any(name.rpartition(".")[2] == "cls_token" for name, _ in model.named_parameters())


def require_attention_maps(model: nn.Module) -> None:
    """Refuse, with the reason, a model whose attention has no maps of the whole image."""
    require_network(model)
    kind = type(model).__name__
    for name, reason in _NO_MAPS.items():
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


# ---- where its features lie ------------------------------------------------------------------------------------------


def feature_map(features: Tensor, model: nn.Module, images: Tensor, name: str) -> Tensor:
    """Features [n, tokens, C], [n, C, h, w] or [n, h, w, C] as a map [n, C, rows, columns], without prefix tokens."""
    embed: Any = patch_embed(model)
    shape = tuple(features.shape)
    if len(shape) not in (3, 4):
        raise ValueError(f"layer {name!r} has shape {shape}: it has no positions in the image")
    if hasattr(embed, "dynamic_feat_size"):
        rows, columns = embed.dynamic_feat_size(images.shape[-2:])
        for prefix in (getattr(model, "num_prefix_tokens", 0), 0):  # the patch embedding has no prefix tokens yet
            tokens = prefix + rows * columns
            if shape[2:] == (tokens, tokens) != images.shape[-2:] and shape[1] in _head_counts(model):
                raise ValueError(f"layer {name!r} has shape {shape}: that is attention, [n, heads, queries, keys], and "
                                 "has no positions in the image; see attention_maps")
            if shape[:2] == (len(images), tokens) and len(shape) == 3:
                return features[:, prefix:].transpose(1, 2).unflatten(2, (rows, columns))
    if len(shape) == 4 and shape[0] == len(images):
        axis = channel_axis(features, model, images, name)
        if axis == 3 and type(model).__name__ in _IN_BLOCKS:
            raise ValueError(f"layer {name!r} has shape {shape}: tokens of {type(model).__name__} stand in blocks, "
                             "[n, blocks, positions, C], and not in the rows of the image; a stage gives a map")
        return features.movedim(axis, 1)
    raise ValueError(f"layer {name!r} has shape {shape} for {len(images)} images: which positions of the image its "
                     f"tokens stand for is not known in {type(model).__name__}")


def _head_counts(model: nn.Module) -> set[int]:
    """How many heads the attentions of a model have; a map of as many channels could be their weights."""
    return {m.num_heads for m in model.modules() if isinstance(getattr(m, "num_heads", None), int)}  # type: ignore[misc]


def channel_axis(features: Tensor, model: nn.Module, images: Tensor, name: str) -> int:
    """The axis of a layer's channels: the last, but in maps [n, C, h, w] the second.

    A model may compute in both ways, so the shape of a map decides, then the model's word.
    """
    shape, embed = tuple(features.shape), patch_embed(model)
    if len(shape) != 4:
        return len(shape) - 1
    for slack in (0, 1):
        first, last = _is_grid(shape[2:], images, slack), _is_grid(shape[1:3], images, slack)
        if first != last:
            return 3 if last else 1
    says_last = any(getattr(part, "output_fmt", "") == "NHWC" for part in (model, embed))
    if says_last or (embed is not None and not first):
        raise ValueError(f"layer {name!r} has shape {shape}: for images of {images.shape[-2]}×{images.shape[-1]} px it "
                         "cannot be told whether that is [n, C, h, w], [n, h, w, C] or neither")
    return 1


def _is_grid(grid: tuple[int, ...], images: Tensor, slack: int) -> bool:
    """Whether one stride leads from the images to rows × columns, if borders may cost or add `slack` of them."""
    (rows, columns), (height, width) = grid, images.shape[-2:]
    return (height * (columns - slack) <= width * (rows + slack)
            and width * (rows - slack) <= height * (columns + slack))


# ---- its blocks ----------------------------------------------------------------------------------------------------


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
