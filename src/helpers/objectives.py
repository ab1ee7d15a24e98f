"""What a lab network is trained for: to name the class, or to guess colours of hidden patches (ViT paper, B.1.2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from timm.models.vision_transformer import VisionTransformer
from torch import Tensor, nn

from .data import normalise

COLOURS = 8**3  # the mean colour of a patch in 3 bits per channel


class Objective(NamedTuple):
    """A loss to train with, and what counts as right, for uint8 images [n,3,H,W] and labels [n]."""

    loss: Callable[[nn.Module, Tensor, Tensor, dict[str, Any]], Tensor]
    right: Callable[[nn.Module, Tensor, Tensor], Tensor]


class MaskedViT(VisionTransformer):
    """A ViT that guesses the mean colour of patches whose embeddings were corrupted before the first block."""

    def __init__(self, **options: Any):
        super().__init__(num_classes=COLOURS, global_pool="", fc_norm=False, **options)
        self.mask_token = nn.Parameter(torch.zeros(1, 1, self.embed_dim))

    def guess_colours(self, x: Tensor, corruption: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        """Logits [n, patches, 512] and which patches were corrupted [n, patches]; by default as `corrupt` says."""
        patches = self.patch_embed(x)
        corrupted, source = corruption or corrupt(len(patches), patches.shape[1], x.device)
        taken = patches.gather(1, source.clamp_min(0)[..., None].expand_as(patches))
        patches = torch.where(source[..., None] < 0, self.mask_token, taken)
        tokens = self.norm(self.blocks(self._pos_embed(patches)))
        return self.head(tokens[:, self.num_prefix_tokens :]), corrupted


def corrupt(n: int, patches: int, device: torch.device | None = None) -> tuple[Tensor, Tensor]:
    """Which half of the patches is corrupted, and whose embedding stands in each place: both [n, patches].

    Of the corrupted, 80 % get the mask token, written −1, 10 % the embedding of a random patch, 10 % keep their own.
    """
    corrupted = torch.rand(n, patches, device=device).argsort(1) < patches // 2
    fate = torch.rand(n, patches, device=device)
    other = torch.randint(patches, (n, patches), device=device)
    source = torch.where(corrupted & (fate >= 0.9), other, torch.arange(patches, device=device))
    return corrupted, source.masked_fill(corrupted & (fate < 0.8), -1)


def mean_colours(raw: Tensor, side: int) -> Tensor:
    """uint8 [n,3,H,W] → the class 0…511 of each patch's mean colour, [n, patches]."""
    levels = (F.avg_pool2d(raw.float(), side) / 32).floor().long().flatten(2)  # 256 / 32 = 8 levels
    return levels[:, 0] * 64 + levels[:, 1] * 8 + levels[:, 2]


def class_loss(model: nn.Module, raw: Tensor, labels: Tensor, run: dict[str, Any]) -> Tensor:
    """Cross-entropy of the class."""
    return F.cross_entropy(model(normalise(raw)), labels, label_smoothing=run["label_smoothing"])


def class_right(model: nn.Module, raw: Tensor, labels: Tensor) -> Tensor:
    """Whether each image is named rightly, [n]."""
    return model(normalise(raw)).argmax(1) == labels


def colour_loss(model: MaskedViT, raw: Tensor, labels: Tensor, run: dict[str, Any]) -> Tensor:
    """Cross-entropy of the colour classes of the corrupted patches."""
    logits, corrupted = model.guess_colours(normalise(raw))
    return F.cross_entropy(logits[corrupted], mean_colours(raw, model.patch_embed.patch_size[0])[corrupted])


def colour_right(model: MaskedViT, raw: Tensor, labels: Tensor) -> Tensor:
    """Whether each corrupted patch's colour is guessed rightly; the corruption is the same at every call."""
    with torch.random.fork_rng(devices=[]):  # every training step seeds anew, so a GPU's generator need not be kept
        torch.manual_seed(0)
        logits, corrupted = model.guess_colours(normalise(raw))
    return (logits.argmax(-1) == mean_colours(raw, model.patch_embed.patch_size[0]))[corrupted]


OBJECTIVES = {"classify": Objective(class_loss, class_right), "colours": Objective(colour_loss, colour_right)}  # type: ignore[arg-type]


def objective_of(recipe: dict[str, Any]) -> Objective:
    """What a run of this recipe is trained for and measured by."""
    return OBJECTIVES[recipe.get("objective", "classify")]
