"""Run by test_shards.py in a fresh interpreter: measures alone, then in forked processes that talk through gloo.

Writes one .npz file for every group of processes and every rank: the numbers of each measurement and the words of
each error. Forking after the imports spares every process its own.
"""

from __future__ import annotations

import dataclasses
import multiprocessing
import os
import socket
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from timm.models.resnet import BasicBlock, ResNet
from timm.models.vision_transformer import VisionTransformer
from torch.utils.data import DataLoader, Dataset, TensorDataset

from helpers import (
    attention_distance,
    attention_maps,
    attention_rollout,
    cka,
    features,
    head_similarity,
    localization,
    norm_ratio,
    probe,
    receptive_field,
    sharded,
)
from helpers.metrics.probe import Ridge
from helpers.runtime.distributed import Shard, current

N, BATCH = 43, 8  # five minibatches: four of 8, and one of 11 that the last 3 images have joined (six without joining)
torch.set_num_threads(1)
torch.manual_seed(0)
VIT = VisionTransformer(img_size=32, patch_size=8, embed_dim=24, depth=3, num_heads=4, num_classes=5).eval()
RESNET = ResNet(BasicBlock, layers=(1, 1, 1, 1), channels=(8, 12, 16, 20), stem_width=8, zero_init_last=False).eval()
IMAGES = torch.nn.functional.interpolate(torch.randn(N, 3, 4, 4), size=32) + 0.3 * torch.randn(N, 3, 32, 32)
LABELS = torch.arange(N) % 3


class Watched(Dataset):
    """The images as a dataset that notes which of them were read."""

    def __init__(self) -> None:
        self.read: list[int] = []

    def __len__(self) -> int:
        return N

    def __getitem__(self, i: int) -> torch.Tensor:
        self.read.append(i)
        return IMAGES[i]


def own_order(size: int) -> torch.Tensor:
    """Indices of all examples, those of process 0 first."""
    parts = torch.arange(N).split(BATCH)
    return torch.cat([part for rank in range(size) for part in parts[rank::size]])


def probed(as_if: int, **options: Any) -> Any:
    """A probe on own examples; alone, on those of `as_if` processes in their order."""
    x = features(VIT, IMAGES, "blocks.1", batch_size=BATCH, gather=False)[:, 1:4].double()
    y = current().own(LABELS, BATCH)
    if current().size == 1:
        x, y = x[own_order(as_if)], y[own_order(as_if)]
    return probe(x, y, x.flip(1), y, **options)


def ridge_weights(as_if: int) -> dict[str, torch.Tensor]:
    """The probe's weights from added covariances: more examples than features."""
    x, y = IMAGES[:, :, ::8, ::8].flatten(1).double()[:, :20], LABELS
    x = x - x.mean(0)
    order = current().own(torch.arange(N), BATCH)
    order = order[y[order].argsort(stable=True)]
    solver = Ridge(x[order][None], y[order])
    return {"weights": solver.weights(torch.tensor([3.0])), "held_out": solver.held_out_accuracy(torch.tensor([3.0]))}


Measure = Callable[[int], Any]
MEASURES: dict[str, Measure] = {
    "cka": lambda _: cka(VIT, IMAGES, batch_size=BATCH, layers="all"),
    "cka of two": lambda _: cka(VIT, IMAGES, RESNET, batch_size=BATCH),
    "cka, passes": lambda _: cka(VIT, TensorDataset(IMAGES, LABELS), batch_size=BATCH, passes=3),
    "cka, other images": lambda _: cka(VIT, IMAGES, RESNET, other_images=IMAGES.flip(-1), batch_size=BATCH),
    "cka, loader": lambda _: cka(VIT, DataLoader(IMAGES, batch_size=BATCH)),
    "attention_distance": lambda _: attention_distance(VIT, IMAGES, batch_size=BATCH),
    "attention_maps": lambda _: attention_maps(VIT, IMAGES, batch_size=BATCH),
    "attention_rollout": lambda _: attention_rollout(VIT, IMAGES, batch_size=BATCH),
    "head_similarity": lambda _: head_similarity(VIT, IMAGES, RESNET, block=1, size=2, batch_size=BATCH),
    "receptive_field": lambda _: receptive_field(VIT, IMAGES, channels=3, batch_size=BATCH),
    "receptive_field, before skip": lambda _: receptive_field(RESNET, IMAGES, channels=2, before_skip=True,
                                                              batch_size=BATCH),
    "norm_ratio": lambda _: norm_ratio(VIT, IMAGES, batch_size=BATCH),
    "norm_ratio, loader": lambda _: norm_ratio(RESNET, DataLoader(IMAGES, batch_size=BATCH)),
    "localization": lambda _: localization(VIT, IMAGES, "blocks.2", batch_size=BATCH),
    "features": lambda _: {"features": features(VIT, IMAGES, "blocks.2", batch_size=BATCH)},
    "probe": lambda as_if: probed(as_if),
    "probe, shots": lambda as_if: probed(as_if, shots=9, ridge=2.0),
    "ridge": ridge_weights,
}


def arrays(result: Any) -> dict[str, np.ndarray]:
    """Every number and name of a result."""
    fields = result if isinstance(result, dict) else {f.name: getattr(result, f.name)
                                                      for f in dataclasses.fields(result)}
    flat: dict[str, np.ndarray] = {}
    for name, value in fields.items():
        inner = value.items() if isinstance(value, dict) else [("", value)]
        flat |= {f"{name}.{key}": np.asarray(item) for key, item in inner if item is not None}
    return flat


def words(action: Callable[[], Any]) -> str:
    """What an action complains about."""
    try:
        action()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "no error"


def spoilt(rank: int) -> torch.Tensor:
    """Images of which one, in the first minibatch of this process, is not a number."""
    images = IMAGES.clone()
    images[BATCH * rank] = torch.nan
    return images


def errors(shard: Shard) -> dict[str, str]:
    """Errors on all processes and on one; each leaves the group fit for the next measurement."""
    few = IMAGES[: BATCH * (shard.size - 1)]
    lasting = {
        "too few": words(lambda: cka(VIT, few, batch_size=BATCH)),
        "too few, loader": words(lambda: norm_ratio(VIT, DataLoader(few, batch_size=BATCH))),
        "no attention": words(lambda: attention_distance(RESNET, IMAGES, batch_size=BATCH)),
        "same examples": words(lambda: probe(IMAGES.flatten(1), LABELS, IMAGES.flatten(1), LABELS)),
    }
    for measure in (cka, attention_distance, receptive_field, norm_ratio):
        on_spoilt = partial(measure, VIT, spoilt(1), batch_size=BATCH)
        lasting[f"one is spoilt, {measure.__name__}"] = words(on_spoilt)
    return lasting


def work(folder: Path, rank: int, size: int, port: int, scenario: str) -> None:
    """One process of a group."""
    os.environ |= {"RANK": str(rank), "WORLD_SIZE": str(size), "LOCAL_RANK": str(rank), "MASTER_ADDR": "127.0.0.1",
                   "MASTER_PORT": str(port)}
    found = {"measure": measured_together, "leave": leave_early, "die": die, "silent": stay_silent}[scenario]()
    np.savez(folder / f"{scenario}_{size}_{rank}.npz", **found)  # type: ignore[arg-type]


def measured_together() -> dict[str, Any]:
    watched = Watched()
    with warnings.catch_warnings(record=True) as caught, sharded() as shard:
        warnings.simplefilter("always")
        found: dict[str, Any] = {f"{name}/{key}": value for name, measure in MEASURES.items()
                                 for key, value in arrays(measure(0)).items()}
        norm_ratio(VIT, watched, batch_size=BATCH)
        found |= {f"error/{name}": text for name, text in errors(shard).items()}
        found["after"] = norm_ratio(VIT, IMAGES, batch_size=BATCH).attn
    return found | {"read": watched.read, "warnings": len(caught), "alone again": current().size}


def leave_early() -> dict[str, str]:
    """Process 1 fails outside of any measurement."""

    def leave() -> None:
        with sharded() as shard:
            if shard.rank == 1:
                raise KeyError("no such file")
            norm_ratio(VIT, IMAGES, batch_size=BATCH)

    return {"error": words(leave)}


def die() -> dict[str, str]:
    """Process 1 is killed in the middle of a measurement."""

    def group() -> None:
        with sharded() as shard:
            if shard.rank == 1:
                os._exit(9)
            norm_ratio(VIT, IMAGES, batch_size=BATCH)

    return {"error": words(group)}


def stay_silent() -> dict[str, str]:
    """Process 1 never comes."""

    def group() -> None:
        with sharded(minutes=0.2) as shard:
            if shard.rank == 1:
                time.sleep(600)  # until the group ends it
            norm_ratio(VIT, IMAGES, batch_size=BATCH)

    return {"error": words(group)}


def group(folder: Path, size: int, scenario: str) -> None:
    """Start `size` processes and wait for them."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    fork = multiprocessing.get_context("fork")
    processes = [fork.Process(target=work, args=(folder, rank, size, port, scenario)) for rank in range(size)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        if scenario == "silent":  # the first has given up waiting
            processes[1].kill()
    if scenario == "measure" and any(process.exitcode for process in processes):
        sys.exit(f"a process of the group of {size} failed")


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    for size in (2, 4):
        group(folder, size, "measure")
    for scenario in ("leave", "die", "silent"):
        group(folder, 2, scenario)
    for size in (2, 4):  # after the forks: autograd must not have run before them
        alone = {f"{name}/{key}": value for name, measure in MEASURES.items()
                 for key, value in arrays(measure(size)).items()}
        np.savez(folder / f"alone_{size}.npz", **alone)  # type: ignore[arg-type]
