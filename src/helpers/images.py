"""Images in, batches out: a tensor, a dataset or a loader, with the checks every metric needs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import torch
from torch import Tensor, nn
from tqdm.auto import tqdm

from .advice import warn
from .device import dtype_of
from .shards import current, mine, share

ImageSource = Any  # Tensor [n, ...], map-style dataset, or an iterable of batches; items may be (image, label) pairs


def batches(images: ImageSource, batch_size: int, *, smallest: int = 1, passes: int = 1) -> Iterator[Tensor]:
    """Batches [b, ...]: first in order, then in random order k for every further pass k; in `sharded()`, one's own.

    `batch_size` cuts tensors and datasets, of which only images that are needed are read; a loader keeps the batches
    it makes itself. A last batch below `smallest` joins its neighbour.
    """
    if batch_size < smallest:
        raise ValueError(f"batch_size={batch_size} is too small: a batch needs at least {smallest} images")
    if is_loader(images):
        yield from mine(_none_short((_image(item) for item in images), smallest))
        return
    cuts = (cut for k in range(passes) for cut in _none_short(_order(len(images), k).split(batch_size), smallest))
    for chosen in mine(cuts):
        yield _read(images, chosen)


def _none_short(parts: Iterable[Tensor], smallest: int) -> Iterator[Tensor]:
    """Batches [b, ...] or their indices [b]; a last one below `smallest` has joined the one before."""
    held: Tensor | None = None  # one part is held back, so that a short last one can join it
    for batch in parts:
        if len(batch) >= smallest:
            if held is not None:
                yield held
            held = batch
        elif held is None:
            if len(batch) == 0:
                break
            raise ValueError(f"a batch has {len(batch)} images, at least {smallest} are needed: use larger batches")
        else:
            held = torch.cat([held, batch.to(held.device)])
            warn(f"the last batch had {len(batch)} images, fewer than {smallest}: merged with the one before "
                 f"({len(held)} images)")
    if held is None:
        raise ValueError("there are no images: the input is empty")
    yield held


def _order(n: int, k: int) -> Tensor:
    """Indices [n] in the order of pass k."""
    return torch.randperm(n, generator=torch.Generator().manual_seed(k)) if k else torch.arange(n)


def _read(images: ImageSource, chosen: Tensor) -> Tensor:
    """The images with the indices `chosen` [b], from a tensor or a dataset."""
    if not isinstance(images, Tensor):
        return torch.stack([_image(images[i]) for i in chosen.tolist()])
    if (chosen.diff() == 1).all():
        return images[int(chosen[0]) : int(chosen[0]) + len(chosen)]  # a view, no copy
    return images[chosen.to(images.device)]


def is_loader(images: ImageSource) -> bool:
    """True for anything that makes its own batches; tensors and map-style datasets do not."""
    if isinstance(images, Tensor) or (hasattr(images, "__getitem__") and not isinstance(images, (list, tuple, dict))):
        return False
    if isinstance(images, Iterable):
        return True
    raise TypeError(f"images must be a tensor, a dataset or a loader, not {type(images).__name__}")


def _image(item: Any) -> Tensor:
    """The image part of an item: a tensor, or the first entry of an (image, label) pair."""
    if isinstance(item, (tuple, list)) and len(item) > 0:
        item = item[0]
    if not isinstance(item, Tensor):
        raise TypeError(f"expected image tensors or (image, label) pairs, got {type(item).__name__}: convert it")
    return item


def count(images: ImageSource) -> int | None:
    """How many images there are, if that can be known without reading them."""
    source: Any = getattr(images, "dataset", images) if is_loader(images) else images
    return len(source) if hasattr(source, "__len__") and not isinstance(source, (list, tuple)) else None


def with_progress(stream: Iterable[Tensor], total: int | None, show: bool, unit: str = "images") -> Iterator[Tensor]:
    """The same batches, with a bar in images per second once the work has lasted a second; process 0 shows it."""
    show = show and os.environ.get("BOOK_STATIC") != "1"  # a page would keep the widget of a finished bar
    show = show and current().rank == 0
    with tqdm(total=total, unit=f" {unit}", disable=not show, delay=1, leave=False) as bar:
        for batch in stream:
            yield batch
            bar.update(len(batch))


def feed(model: nn.Module, images: ImageSource, batch_size: int, device: torch.device, progress: bool, *,
         smallest: int = 1) -> Iterator[Tensor]:
    """Every batch as the model wants it: checked, on `device`, in its dtype, and with a progress bar."""
    for batch in with_progress(batches(images, batch_size, smallest=smallest), share(count(images)), progress):
        yield to_model(batch, model, device)


def require_fixed_order(images: ImageSource) -> None:
    """Refuse a loader whose second reading starts with other images than the first."""
    if not is_loader(images):
        return
    if iter(images) is images:
        raise ValueError("a generator can be read only once: pass a tensor, a dataset or a loader")
    readings = [_image(item) for _ in range(2) for item in islice(images, 1)]
    if not readings:
        return  # empty; whoever reads it says so
    first, again = readings
    if first.shape != again.shape or not torch.equal(first, again):
        raise ValueError("the loader shuffles (or augments) anew on every pass: build it with shuffle=False, or pass "
                         "its dataset")


def to_model(batch: Tensor, model: nn.Module, device: torch.device) -> Tensor:
    """The batch on `device`, in the model's dtype, once it is known to be what the model expects."""
    check(batch, model)
    return batch.to(device, dtype_of(model) if batch.is_floating_point() else None)


def check(batch: Tensor, model: nn.Module) -> None:
    """Refuse a batch whose channels, size, dtype or range the model cannot mean."""
    if not batch.is_floating_point():
        if batch.dtype == torch.uint8:
            raise ValueError("images are bytes (uint8): scale them to [0, 1] and normalise them as the model expects")
        return  # token ids and the like
    if batch.numel() == 0:
        raise ValueError(f"there are no images: a batch has shape {tuple(batch.shape)}")
    low, high = (v.item() for v in batch.aminmax())
    if not (-float("inf") < low <= high < float("inf")):  # NaN fails the comparison too
        raise ValueError("images contain NaN or Inf")
    if batch.dim() == 4:
        _check_image_shape(batch, model)
        _check_image_range(low, high, model)


def _check_image_shape(batch: Tensor, model: nn.Module) -> None:
    stem = next((m for m in model.modules() if isinstance(m, nn.Conv2d)), None)
    if stem is not None and stem.in_channels != batch.shape[1]:
        raise ValueError(f"images have {batch.shape[1]} channels, the model wants {stem.in_channels}")
    size = fixed_size(model)
    if size is not None and size != tuple(batch.shape[-2:]):
        raise ValueError(f"images are {batch.shape[-2]}×{batch.shape[-1]} px, the model wants {size[0]}×{size[1]}: "
                         "resize them or build the model with img_size=…")


def _check_image_range(low: float, high: float, model: nn.Module) -> None:
    if max(-low, high) > 30:  # normalised pixels stay within about ±3
        raise ValueError(f"image values run from {low:.3g} to {high:.3g}: they look like 0–255 bytes; "
                         "scale them to [0, 1] and normalise them as the model expects")
    mean, std = normalisation(model) or (None, None)
    if mean is not None and any(mean) and low >= 0 and 0.5 < high <= 1:
        warn(f"image values lie in [0, 1], but the model expects them normalised with mean {mean} and std {std}")


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


def patch_embed(model: nn.Module) -> nn.Module | None:
    """The module that cuts an image into patches: `patch_embed` in timm's ViTs, `stem` in its Mixers."""
    named = (getattr(model, name, None) for name in ("patch_embed", "stem"))
    return next((m for m in named if hasattr(m, "patch_size")), None)


def require_same_preprocessing(model: nn.Module, other: nn.Module) -> None:
    """Refuse two models that cannot be shown the same tensor."""
    for what, ask in (("normalisation (mean, std)", normalisation), ("image size", fixed_size)):
        a, b = ask(model), ask(other)
        if a is not None and b is not None and a != b:
            raise ValueError(f"the two models want a different {what}, {a} and {b}: prepare the same images once for "
                             "each and pass the second set as other_images=…")
