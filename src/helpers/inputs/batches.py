"""Images in, batches out: a tensor, a dataset or a loader, with the checks every metric needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, SupportsIndex

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, IterableDataset

from ..networks.anatomy import channels, fixed_size, normalisation, reads_images
from ..runtime.advice import warn
from ..runtime.device import dtype_of
from ..runtime.distributed import mine, share

ImageSource = Any  # Tensor [n, ...], dataset, or an iterable of batches; items may be (image, label) pairs


def batches(images: ImageSource, batch_size: int, *, smallest: int = 1, passes: int = 1,
            models: Sequence[nn.Module] = ()) -> Iterator[Tensor]:
    """Batches [b, ...]: first in order, then in random order k for every further pass k; in `sharded()`, one's own.

    `batch_size` cuts tensors and datasets, of which only images that are needed are read; a loader keeps the batches
    it makes itself. A batch below `smallest` joins the one before. What cannot be images for one of the `models` that
    will read them is refused before anything is counted.
    """
    if not isinstance(batch_size, SupportsIndex):
        raise TypeError(f"batch_size={batch_size!r} is no whole number: say how many images go together, such as 64")
    if batch_size < smallest:
        raise ValueError(f"batch_size={batch_size} is too small: a batch needs at least {smallest} images")
    if isinstance(images, IterableDataset):
        images = DataLoader(images, batch_size, collate_fn=lambda items: _stack([_image(item) for item in items]))
    if is_loader(images):
        yield from mine(_none_short(_alike(map(_image, _items(images)), models), smallest))
        return
    if isinstance(images, Tensor):
        _require_images(images, models)
    cuts = (cut for k in range(passes) for cut in _none_short(_order(len(images), k).split(batch_size), smallest))
    yield from _alike((_read(images, chosen) for chosen in mine(cuts)), models)


def _alike(parts: Iterable[Tensor], models: Sequence[nn.Module]) -> Iterator[Tensor]:
    """The same batches, once it is known that they can be images for the models, all of one shape."""
    shape: torch.Size | None = None
    for batch in parts:
        _require_images(batch, models)
        shape = batch.shape[1:] if shape is None else shape
        if batch.dim() == 4 and batch.shape[1:] != shape:  # what is no image, say a text, may have any length
            raise _different_shapes(shape, batch.shape[1:])
        yield batch


def _items(loader: Iterable[Any]) -> Iterator[Any]:
    """What a loader gives; when it cannot stack its images, that is said in our words."""
    try:
        yield from loader
    except RuntimeError as error:
        if "stack expects each tensor to be equal size" not in str(error):
            raise
        raise ValueError("images have different shapes, so the loader cannot stack them: make them one size") from error


def _stack(images: list[Tensor]) -> Tensor:
    """Images [...] as one batch [n, ...]."""
    for image in images:
        if image.shape != images[0].shape:
            raise _different_shapes(images[0].shape, image.shape)
    return torch.stack(images)


def _different_shapes(one: torch.Size, other: torch.Size) -> ValueError:
    return ValueError(f"images have different shapes, {tuple(one)} and {tuple(other)}: make them one size")


def _none_short(parts: Iterable[Tensor], smallest: int) -> Iterator[Tensor]:
    """Batches [b, ...] or their indices [b]; one below `smallest` has joined the one before."""
    held: Tensor | None = None  # one part is held back, so that a short one can join it
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
            warn(f"a batch had {len(batch)} images, fewer than {smallest}: merged with the one before "
                 f"({len(held)} images)")
    if held is None:
        raise ValueError("there are no images: the input is empty")
    yield held


def _order(n: int, k: int) -> Tensor:
    """Indices [n] in the order of pass k."""
    if k == 0:
        return torch.arange(n, device="cpu")
    return torch.randperm(n, generator=torch.Generator("cpu").manual_seed(k), device="cpu")


def _read(images: ImageSource, chosen: Tensor) -> Tensor:
    """The images with the indices `chosen` [b], from a tensor or a dataset."""
    if not isinstance(images, Tensor):
        return _stack([_image(images[i]) for i in chosen.tolist()])
    if (chosen.diff() == 1).all():
        return images[int(chosen[0]) : int(chosen[0]) + len(chosen)]  # a view, no copy
    return images[chosen.to(images.device)]


def is_loader(images: ImageSource) -> bool:
    """True for anything that has an order of its own; tensors and map-style datasets can be read in any."""
    if isinstance(images, nn.Module):
        raise TypeError(f"images is a network ({type(images).__name__}): the model comes first, then the images")
    if isinstance(images, IterableDataset):
        return True
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


def own_count(images: ImageSource) -> int | None:
    """How many of the images this process will see, roughly: for its progress bar."""
    return share(count(images))


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


def to_models(batch: Sequence[Tensor], models: Sequence[nn.Module], device: torch.device) -> list[Tensor]:
    """A copy for each model on `device`, in its dtype, once it is known to be what the model expects.

    A model may change its input in place: in a copy of its own that reaches neither other models nor its owner. What
    several models read is sent to a device once.
    """
    sent: dict[tuple[int, torch.dtype | None], Tensor] = {}
    inputs = []
    for x, model in zip(batch, models, strict=True):
        check(x, model)
        key = id(x), dtype_of(model) if x.is_floating_point() else None
        if key not in sent:
            pinned = device.type == "cuda" and x.device.type == "cpu"  # such a copy runs while the device computes
            sent[key] = (x.pin_memory() if pinned else x).to(device, key[1], copy=True, non_blocking=pinned)
            inputs.append(sent[key])
        else:
            inputs.append(sent[key].clone())
    return inputs


def to_model(batch: Tensor, model: nn.Module, device: torch.device) -> Tensor:
    """The same for one model."""
    return to_models([batch], [model], device)[0]


def _require_images(batch: Tensor, models: Sequence[nn.Module]) -> None:
    """Refuse what is not float [n, C, H, W] (bytes get a sentence of their own) where a model reads images."""
    if batch.dim() == 4 and (batch.is_floating_point() or batch.dtype == torch.uint8):
        return
    if any(reads_images(model) for model in models):
        raise ValueError(f"images have shape {tuple(batch.shape)} and dtype {batch.dtype}: expected float "
                         "[n, C, H, W]; one image is x[None], a list of images torch.stack(list), and of [x, labels] "
                         "pass x")


def check(batch: Tensor, model: nn.Module) -> None:
    """Refuse a batch whose channels, size, dtype or range the model cannot mean."""
    _require_images(batch, [model])
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
    wanted = channels(model)
    if wanted is not None and wanted != batch.shape[1]:
        raise ValueError(f"images have {batch.shape[1]} channels, the model wants {wanted}")
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
