"""One pass of images through one network or two: borrowed, on the device, in minibatches that are let go again.

A metric says what it makes of the first minibatch (names of layers, empty sums) and what it does with each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import zip_longest
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from ..inputs.batches import ImageSource, batches, count, is_loader, require_fixed_order, to_models
from ..networks.anatomy import require_network, require_same_preprocessing
from ..runtime.borrow import borrowed, held
from ..runtime.device import pick_device
from ..runtime.distributed import all_sum, share
from ..runtime.progress import with_progress

State = TypeVar("State")


def stream(
    models: Sequence[nn.Module],
    sources: Sequence[ImageSource],
    begin: Callable[..., State],
    visit: Callable[..., object],
    *,
    batch_size: int,
    device: str | torch.device | None = None,
    progress: bool | None = None,
    passes: int = 1,
    smallest: int = 1,
) -> tuple[State, int]:
    """state = begin(x, …) with the first minibatch, then visit(state, x, …) with every one, the first included.

    There is one x [n, C, H, W] for each model, in memory of its own, on the device and in its dtype; a single source
    serves all models.
    Returns the state and how many images all processes have seen, each pass counted.
    """
    check_sources(models, sources, passes)
    place, n = pick_device(device), 0
    begun: list[State] = []
    with held(*models), ExitStack() as stack, torch.no_grad():
        for model in models:
            stack.enter_context(borrowed(model, place))
        for batch in minibatches(models, sources, batch_size, passes=passes, smallest=smallest, progress=progress):
            inputs = to_models(batch, models, place)
            if not begun:
                begun.append(begin(*inputs))
            visit(begun[0], *inputs)
            n += len(inputs[0])
    return begun[0], all_sum(n)  # an empty source has raised before


def check_sources(models: Sequence[nn.Module], sources: Sequence[ImageSource], passes: int) -> None:
    """Refuse images that cannot be shown to these models, or not that many times."""
    for argument, model in zip(("model", "other"), models, strict=False):
        require_network(model, argument)
    if not isinstance(passes, int) or passes < 1:
        raise ValueError(f"passes must be a whole number, at least 1, not {passes}")
    if len(sources) > len(models):
        raise ValueError("other_images needs a second model: pass other=…")
    if len(models) > len(sources):
        require_same_preprocessing(*models)
    if passes > 1 or len(sources) > 1:
        for source in sources:
            require_fixed_order(source)
    if passes > 1 and any(is_loader(source) for source in sources):
        raise ValueError("a loader makes the same minibatches on every pass: for passes > 1 pass a dataset or tensor")


def minibatches(models: Sequence[nn.Module], sources: Sequence[ImageSource], batch_size: int, *, passes: int,
                smallest: int, progress: bool | None) -> Iterator[list[Tensor]]:
    """One batch [n, ...] per model; the first pass in order, further ones in random order k, the same for all."""
    readers = [models] if len(sources) == 1 else [[model] for model in models]
    streams: list[Any] = [batches(source, batch_size, smallest=smallest, passes=passes, models=theirs)
                          for source, theirs in zip(sources, readers, strict=True)]
    n = count(sources[0])
    streams[0] = with_progress(streams[0], None if n is None else share(n * passes), progress)
    for parts in zip_longest(*streams, fillvalue=torch.empty(0)):
        if len({len(part) for part in parts}) > 1:
            raise ValueError("images and other_images do not give the same number of images")
        yield [*parts] if len(sources) > 1 else [*parts] * len(models)
