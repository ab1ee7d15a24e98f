"""What a network makes of many images, as a matrix: one layer's representation, or its answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import pixel_unshuffle

from ..inputs.batches import ImageSource
from ..networks.taps import Tap, find, tapped
from ..runtime import distributed
from ..runtime.distributed import together
from .stream import stream


@together
def features(model: nn.Module, images: ImageSource, layers: str | Sequence[str], *, batch_size: int = 128,
             device: str | torch.device | None = None, progress: bool | None = None, gather: bool = True) -> Any:
    """What one tap gives for all images, float32 on the CPU: [n, …] (a ViT block: [n, tokens, width]).

    Several names, one pass: a dictionary name → tensor, in execution order. Inside `sharded()` every process gets all
    of it; with gather=False only what belongs to its own minibatches, for `probe`.

    >>> tuple(features(vit, images, "blocks.5").shape)
    (64, 65, 96)
    """
    names = [layers] if isinstance(layers, str) else list(layers)
    collected: dict[int, list[Tensor]] = defaultdict(list)

    def visit_layer(i: int, values: Tensor) -> None:
        collected[i].append(values.float().cpu().clone())

    def visit(wanted: list[Tap], x: Tensor) -> None:
        with tapped(model, wanted, visit_layer):
            model(x)

    wanted, _ = stream([model], [images], lambda x: find(model, names, x), visit, batch_size=batch_size, device=device,
                       progress=progress)
    join = distributed.gather if gather else torch.cat
    found = {tap.name: join(collected[i]) for i, tap in enumerate(wanted)}
    for name, values in found.items():
        if not torch.stack(values.aminmax()).isfinite().all():  # NaN and Inf come through; 20 × as fast as asking each
            raise ValueError(f"NaN or Inf in the activations of {name!r}")
    return found[layers] if isinstance(layers, str) else found


def answers(model: nn.Module, images: ImageSource, *, batch_size: int = 64,
            device: str | torch.device | None = None) -> Tensor:
    """The class that a classifier names for each image: [n], on the CPU.

    >>> (answers(vit, images) == images.labels).shape
    torch.Size([64])
    """
    found: list[Tensor] = []
    stream([model], [images], lambda x: None, lambda _, x: found.append(model(x).argmax(1).cpu()),
           batch_size=batch_size, device=device, progress=False)
    return torch.cat(found)


def widened(maps: Tensor, like: Tensor) -> Tensor:
    """[n, C, h, w] with neighbourhoods flattened into channels, until there are about as many as in `like`.

    An early map has few channels and many positions: read at one position, it would look poorer than it is.
    """
    side = max(1, int((like.shape[1] / maps.shape[1]) ** 0.5))
    return pixel_unshuffle(maps, side)
