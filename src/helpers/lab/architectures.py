"""The lab's architectures: timm's own VisionTransformer, ResNetV2 and MlpMixer at CIFAR size."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from timm.layers import GroupNormAct, PatchEmbed, StdConv2d
from timm.models.mlp_mixer import MlpMixer
from timm.models.resnetv2 import ResNetV2
from timm.models.vision_transformer import Attention, Block, VisionTransformer
from torch import Tensor, nn

from ..inputs.bundled import CIFAR_MEAN, CIFAR_STD
from ..metrics.surgery import without_skip
from .objectives import MaskedViT
from .positions import PositionBlock, RelativeAttention, add_positions

SIDE, PATCH, CLASSES = 32, 4, 10


def settings(kind: str, **options: Any) -> dict[str, Any]:
    """The kind and all options of a lab model, defaults written out."""
    if kind not in BUILDERS:
        raise ValueError(f"Unknown kind of lab model {kind!r}; there are {', '.join(BUILDERS)}.")
    known = {name: option.default for name, option in inspect.signature(BUILDERS[kind]).parameters.items()}
    if strange := options.keys() - known.keys():
        raise ValueError(f"A {kind} has no option {', '.join(sorted(strange))}; there are {', '.join(known)}.")
    return {"kind": kind} | known | options


def build(kind: str, seed: int, **options: Any) -> nn.Module:
    """An untrained lab model of the given kind; the seed fixes its weights."""
    options = settings(kind, **options)
    del options["kind"]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = BUILDERS[kind](**options)
    model.pretrained_cfg = model.default_cfg = dict(  # type: ignore[assignment]
        input_size=(3, SIDE, SIDE), mean=CIFAR_MEAN, std=CIFAR_STD, num_classes=CLASSES)
    return model


def vit(width: int = 96, depth: int = 6, heads: int = 8, pool: str = "token", positions: str = "sincos",
        where: str = "stem", patch_drop: float = 0.0, stem: str = "patches", no_skip: int | None = None,
        guess_colours: bool = False, qk_norm: bool = True) -> nn.Module:
    """A ViT on an 8×8 grid. `qk_norm` keeps short training stable; the papers do not use it.

    `positions`: "learn" (the papers'), "sincos" (learned too, from a 2-D start), or the ablation's "none", "1d", "2d",
    "relative", with `where` "stem", "every" or "shared" block. `stem`: "patches" of 4 pixels, or "conv" for the hybrid.
    `no_skip`: the block whose skip connections are missing. `guess_colours`: for masked patches instead of classes.
    """
    timms_own = positions in ("learn", "sincos")
    make: Callable[..., VisionTransformer] = (
        MaskedViT if guess_colours else partial(VisionTransformer, num_classes=CLASSES, global_pool=pool))  # type: ignore[arg-type]
    model = make(
        img_size=SIDE, patch_size=PATCH, embed_dim=width, depth=depth, num_heads=heads,
        class_token=pool == "token", weight_init="jax", qk_norm=qk_norm, patch_drop_rate=patch_drop,
        pos_embed="learn" if timms_own else "none", embed_layer=ConvStem if stem == "conv" else PatchEmbed,
        block_fn=Block if timms_own else PositionBlock,
        attn_layer=RelativeAttention if positions == "relative" else Attention)
    if positions == "sincos":
        prefix = model.num_prefix_tokens
        with torch.no_grad():
            model.pos_embed[:, :prefix] = 0  # type: ignore[index]
            model.pos_embed[:, prefix:] = sincos_2d(SIDE // PATCH, width)  # type: ignore[index]
    elif positions in ("1d", "2d", "relative"):
        add_positions(model, positions, where)
    elif positions not in ("learn", "none"):
        raise ValueError(f"Unknown positions {positions!r}; use learn, sincos, none, 1d, 2d or relative.")
    return model if no_skip is None else without_skip(model, no_skip)


class ConvStem(PatchEmbed):
    """The hybrid's embedding: two stride-2 convolutions, then 1×1 patches of their map, [n,3,32,32] → [n,64,width]."""

    def __init__(self, embed_dim: int, **options: Any):
        super().__init__(embed_dim=embed_dim, **options)
        half = embed_dim // 2
        self.proj = nn.Sequential(  # type: ignore[assignment]
            StdConv2d(3, half, 3, stride=2, padding=1), GroupNormAct(half, 8),
            StdConv2d(half, embed_dim, 3, stride=2, padding=1), GroupNormAct(embed_dim, 8),
            nn.Conv2d(embed_dim, embed_dim, 1))


def sincos_2d(grid: int, width: int) -> Tensor:
    """A fixed start for learned position embeddings: sines and cosines of row and column, [grid², width]."""
    frequency = 100 ** -(torch.arange(width // 4) / (width / 4))
    row, column = torch.meshgrid(torch.arange(grid), torch.arange(grid), indexing="ij")
    angles = torch.cat([column.reshape(-1, 1) * frequency, row.reshape(-1, 1) * frequency], 1)
    return torch.cat([angles.sin(), angles.cos()], 1)


def resnet(layers: Sequence[int] = (3, 3, 3), channels: Sequence[int] = (48, 96, 192)) -> ResNetV2:
    """A pre-activation bottleneck ResNet as BiT's: GroupNorm and weight standardisation, 3×3 stem for 32 pixels."""
    stem = 32
    model = ResNetV2(layers=list(layers), channels=tuple(channels), num_classes=CLASSES, stem_chs=stem,
                     bottle_ratio=0.5, conv_layer=partial(StdConv2d, eps=1e-8),
                     norm_layer=partial(GroupNormAct, num_groups=8))
    model.stem = nn.Sequential()  # BiT's 7×7 stride-4 stem would leave an 8×8 map before the first stage
    model.stem.add_module("conv", StdConv2d(3, stem, 3, padding=1, eps=1e-8))
    return model


def mixer(width: int = 96, depth: int = 6) -> MlpMixer:
    """An MLP-Mixer on the same 8×8 patches."""
    return MlpMixer(num_classes=CLASSES, img_size=SIDE, patch_size=PATCH, num_blocks=depth, embed_dim=width,
                    mlp_ratio=(2.0, 4.0))


BUILDERS: dict[str, Callable[..., nn.Module]] = {"vit": vit, "resnet": resnet, "mixer": mixer}
