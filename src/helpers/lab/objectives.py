"""What a lab network is trained for: the class, colours of hidden patches (ViT paper, B.1.2), or both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from timm.models.vision_transformer import VisionTransformer
from torch import Tensor, nn

from ..inputs.bundled import normalise

COLOURS = 8**3  # the mean colour of a patch in 3 bits per channel


class Objective(NamedTuple):
    """A loss to train with, and what counts as right, for uint8 images [n,3,H,W] and labels [n]."""

    loss: Callable[[Any, Tensor, Tensor, dict[str, Any]], Tensor]
    right: Callable[[Any, Tensor, Tensor], Tensor]
    for_training: Callable[[Any], nn.Module] = lambda network: network  # what training adds around the network
    for_shipping: Callable[[Any], nn.Module] = lambda network: network  # the network without it


class MaskedViT(VisionTransformer):
    """A ViT that guesses the mean colour of patches whose embeddings were corrupted before the first block."""

    def __init__(self, **options: Any):
        super().__init__(num_classes=COLOURS, global_pool="", fc_norm=False, **options)
        self.mask_token = nn.Parameter(torch.zeros(1, 1, self.embed_dim))

    def guess_colours(self, x: Tensor, corruption: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        """Logits [n, patches, 512] and which patches were corrupted [n, patches]; by default as `corrupt` says."""
        corrupted, source = corruption or corrupt(len(x), self.patch_embed.num_patches, x.device)
        tokens = tokens_of_corrupted(self, x, source, self.mask_token)
        return self.head(tokens[:, self.num_prefix_tokens :]), corrupted


class ClassAndColours(nn.Module):
    """A ViT that names the class of every image and guesses the colours of hidden patches in half of them.

    The mask token and the head for colours serve training only: what is shipped is `network`, an ordinary ViT.
    """

    def __init__(self, network: VisionTransformer):
        super().__init__()
        self.network = network
        self.mask_token = nn.Parameter(torch.zeros(1, 1, network.embed_dim))
        self.colours = nn.Linear(network.embed_dim, COLOURS)
        nn.init.zeros_(self.colours.weight)
        nn.init.zeros_(self.colours.bias)

    def forward(self, x: Tensor) -> Tensor:
        return self.network(x)

    def guess_both(self, x: Tensor, share: float) -> tuple[Tensor, Tensor, Tensor]:
        """Class logits [n, classes], colour logits [hidden, 512], and which patches were hidden [n, patches]."""
        n, patches = len(x), self.network.patch_embed.num_patches
        hidden, source = corrupt(n, patches, x.device, share)
        intact = (torch.arange(n, device=x.device) >= n // 2)[:, None]
        hidden, source = hidden & ~intact, torch.where(intact, torch.arange(patches, device=x.device), source)
        tokens = tokens_of_corrupted(self.network, x, source, self.mask_token)
        spatial = tokens[:, self.network.num_prefix_tokens :]
        return self.network.forward_head(tokens), self.colours(spatial[hidden]), hidden


def tokens_of_corrupted(vit: VisionTransformer, x: Tensor, source: Tensor, mask_token: Tensor) -> Tensor:
    """Last tokens [n, tokens, width] when patch i has the embedding of patch source[:, i], or the mask token for −1."""
    patches = vit.patch_embed(x)
    taken = patches.gather(1, source.clamp_min(0)[..., None].expand_as(patches))
    patches = torch.where(source[..., None] < 0, mask_token, taken)
    return vit.norm(vit.blocks(vit._pos_embed(patches)))


def corrupt(n: int, patches: int, device: torch.device | None = None, share: float = 0.5) -> tuple[Tensor, Tensor]:
    """Which share of the patches is corrupted, and whose embedding stands in each place: both [n, patches].

    Of the corrupted, 80 % get the mask token, written −1, 10 % the embedding of a random patch, 10 % keep their own.
    """
    corrupted = torch.rand(n, patches, device=device).argsort(1) < int(patches * share)
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


def joint_loss(model: ClassAndColours, raw: Tensor, labels: Tensor, run: dict[str, Any]) -> Tensor:
    """Cross-entropy of the class of all images, plus that of the colours of the patches hidden in half of them."""
    classes, colours, hidden = model.guess_both(normalise(raw), run["masked"])
    truth = mean_colours(raw, model.network.patch_embed.patch_size[0])[hidden]
    return (F.cross_entropy(classes, labels, label_smoothing=run["label_smoothing"])
            + F.cross_entropy(colours, truth))


OBJECTIVES = {
    "classify": Objective(class_loss, class_right),
    "colours": Objective(colour_loss, colour_right),
    "joint": Objective(joint_loss, class_right, ClassAndColours, lambda model: model.network),
}


def objective_of(recipe: dict[str, Any]) -> Objective:
    """What a run of this recipe is trained for and measured by."""
    return OBJECTIVES[recipe.get("objective", "classify")]
