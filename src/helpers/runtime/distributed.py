"""Many machines: one measurement cut over its minibatches, with torch.distributed and torchrun.

    torchrun --nproc-per-node=4 measure.py        # four processes; measure.py says `with sharded():` round its calls

The k-th minibatch belongs to process k mod size. HSIC₁, distances, gradients, ratios and covariances are sums over
minibatches, and the minibatches are those of one process: so is the result, up to the order of a float64 sum.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import timedelta
from functools import partial, wraps
from itertools import islice
from typing import ParamSpec, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
Sum = TypeVar("Sum", Tensor, int)

_MESSAGE = 1000  # bytes that a process may say when it stops


@dataclass(frozen=True)
class Shard:
    """Which process this is, and of how many: its minibatches are rank, rank + size, rank + 2 size, …"""

    rank: int = 0
    size: int = 1

    def own(self, values: Tensor, batch_size: int = 128) -> Tensor:
        """Of values [n, ...], say labels, those that belong to this process's minibatches."""
        return torch.cat([*mine(values.split(batch_size))])


_ALONE = Shard()
_current: ContextVar[Shard] = ContextVar("shard", default=_ALONE)


def current() -> Shard:
    """This process's part of the work; all of it outside `sharded()`."""
    return _current.get()


class ProcessStopped(RuntimeError):
    """Another process of this run has stopped."""


class ConnectionLost(ProcessStopped):
    """Another process is gone or silent: nothing can be said to it any more."""


@contextmanager
def sharded(minutes: float = 30) -> Iterator[Shard]:
    """Inside, every measurement is cut over the processes that torchrun started, and all of them get the whole result.

    All processes make the same calls with the same arguments; only `probe` takes each one's own examples, those of
    features(…, gather=False) and shard.own(labels). An error on one process is raised on all, and one that is silent
    for `minutes` counts as lost. Each process uses a GPU of its own (nccl), or the CPU (gloo). Without torchrun
    nothing changes.

    >>> with sharded() as shard:
    ...     distance = attention_distance(vit, images)
    >>> shard, distance.n_images
    (Shard(rank=0, size=1), 64)
    """
    if current().size > 1 or int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield current()
        return
    with _process_group(minutes) as shard:
        before = _current.set(shard)
        try:
            yield shard
            barrier()  # the others may still need this process
        except ConnectionLost:
            raise
        except Exception as error:
            barrier(_described(error))
            raise
        finally:
            _current.reset(before)


@contextmanager
def _process_group(minutes: float) -> Iterator[Shard]:
    """The group that exists already, or one made from torchrun's variables and ended afterwards."""
    if dist.is_initialized():
        yield Shard(dist.get_rank(), dist.get_world_size())
        return
    gpus, local = torch.cuda.device_count(), int(os.environ.get("LOCAL_RANK", "0"))
    if gpus and local >= gpus:
        raise ValueError(f"process {local} of this machine has no GPU of its own: say torchrun --nproc-per-node={gpus}")
    with torch.cuda.device(local) if gpus else nullcontext():
        dist.init_process_group("nccl" if gpus else "gloo", timeout=timedelta(minutes=minutes))
        try:
            yield Shard(dist.get_rank(), dist.get_world_size())
        finally:
            dist.destroy_process_group()


def together(measure: Callable[P, R]) -> Callable[P, R]:
    """A measurement that succeeds on all processes or on none: what one raises, all hear at their next barrier."""

    @wraps(measure)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return measure(*args, **kwargs)
        except ProcessStopped:
            raise
        except Exception as error:
            barrier(_described(error))
            raise

    return run


def _described(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def barrier(complaint: str = "") -> None:
    """Wait for all processes. One that stops brings its complaint, and the others raise it."""
    shard = current()
    if shard.size == 1:
        return
    board, words = torch.zeros(shard.size, _MESSAGE, dtype=torch.uint8), complaint.encode()[:_MESSAGE]
    board[shard.rank, : len(words)] = torch.tensor(list(words), dtype=torch.uint8)
    try:
        board = _exchange(board, dist.all_reduce)
    except ConnectionLost:
        if complaint:  # the complaint itself will be raised
            return
        raise
    said = {rank: bytes(row.tolist()).rstrip(b"\0").decode(errors="ignore") for rank, row in enumerate(board)}
    if not complaint and any(said.values()):
        rank, words_of_it = next((rank, text) for rank, text in said.items() if text)
        raise ProcessStopped(f"process {rank} of {shard.size} stopped: {words_of_it}")


def _exchange(tensor: Tensor, how: Callable[[Tensor], object]) -> Tensor:
    """A copy of the tensor after all processes have done `how` to theirs; nccl needs it on the GPU meanwhile."""
    travelling = tensor.detach().to("cuda" if dist.get_backend() == "nccl" else "cpu", copy=True).contiguous()
    try:
        how(travelling)
    except RuntimeError as error:
        raise ConnectionLost("another process of this run is gone or has been silent for too long; what it printed "
                             f"last says why ({str(error).splitlines()[0]})") from error
    return travelling.to(tensor.device)


def mine(parts: Iterable[T]) -> Iterator[T]:
    """Those of the parts that belong to this process; fewer parts than processes are refused on all of them."""
    shard, parts = current(), iter(parts)
    own: list[T] = []
    counted = 0
    for part in islice(parts, shard.size):  # the first round, of which only one's own part is kept
        if counted == shard.rank:
            own.append(part)
        counted += 1
    if shard.size > 1 and counted < shard.size:
        raise ValueError(f"{counted} minibatches cannot be shared by {shard.size} processes: make batch_size "
                         "smaller, pass more images or start fewer processes")
    yield from own
    yield from islice(parts, shard.rank, None, shard.size)


def share(n: int | None) -> int | None:
    """How many of n images this process will see, roughly: for its progress bar."""
    return None if n is None else math.ceil(n / current().size)


def all_sum(value: Sum) -> Sum:
    """The sum over all processes, of integers or of float64 tensors (all of one shape)."""
    if current().size == 1:
        return value
    barrier()
    if isinstance(value, int):
        return int(_exchange(torch.tensor(value), dist.all_reduce))
    return _exchange(value, dist.all_reduce)


def of_each(value: float) -> Tensor:
    """What every process says [size], float64."""
    said = torch.zeros(current().size, dtype=torch.float64)
    said[current().rank] = value
    return all_sum(said)


def all_max(n: int) -> int:
    """The largest of the numbers that the processes have."""
    return int(of_each(n).max())


def gather(parts: list[Tensor]) -> Tensor:
    """Minibatches [b, ...] of all processes one after the other, as one process would have had them: [n, ...]."""
    shard = current()
    if shard.size == 1:
        return torch.cat(parts)
    lengths = torch.zeros(all_max(len(parts)), shard.size, dtype=torch.int64)
    lengths[: len(parts), shard.rank] = torch.tensor([len(part) for part in parts])
    found = []
    for k, n in enumerate(all_sum(lengths).flatten().tolist()):
        if n:  # in the last round some processes have none
            turn, owner = divmod(k, shard.size)
            part = parts[turn] if owner == shard.rank else parts[0].new_empty(n, *parts[0].shape[1:])
            found.append(_exchange(part, partial(dist.broadcast, src=owner)))
    return torch.cat(found)
