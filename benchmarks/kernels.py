"""What a measurement would cost on a GPU, counted without one: every operation of a run on the meta device.

    time of a kernel = max(5 µs, bytes moved ÷ bandwidth, operations ÷ peak of its precision)

Bytes are those of all arguments and results; operations are counted by PyTorch. It is a model: it knows no caches and
no overlap, so it says what bounds a run, not how long it takes. `python -m benchmarks.kernels` prints the table.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import timm
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry

from helpers import attention_distance, cka

LAUNCH = 5e-6


@dataclass(frozen=True)
class GPU:
    """Bandwidth in B/s and peaks in FLOP/s; None where it has no such unit."""

    name: str
    bandwidth: float
    peaks: dict[str, float | None] = field(default_factory=dict)  # of forward passes: fp32, tf32, fp16
    fp64: float = 0


A100 = GPU("A100", 1.555e12, {"fp32": 19.5e12, "tf32": 156e12, "fp16": 312e12}, 9.7e12)
T4 = GPU("T4", 320e9, {"fp32": 8.1e12, "tf32": None, "fp16": 65e12}, 0.25e12)

_FREE = {"aten::detach", "aten::alias", "aten::_unsafe_view", "aten::lift_fresh", "aten::empty", "aten::empty_like",
         "aten::new_empty", "aten::empty_strided", "aten::sym_size", "aten::is_same_size"}


@dataclass(frozen=True)
class Kernel:
    name: str
    bytes: int
    flops: int
    double: bool


class Counter(TorchDispatchMode):
    """Notes kernels and synchronisations. Values that only a device could tell are made up: 1, or zeros."""

    def __init__(self) -> None:
        super().__init__()
        self.kernels: list[Kernel] = []
        self.waits: list[str] = []  # operations at which the host waits for the device

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        tensors = [t for t in tree_leaves((args, kwargs)) if isinstance(t, Tensor)]
        there = any(t.device.type != "cpu" for t in tensors)
        name = func._schema.name
        to_host = there and "device" in kwargs and torch.device(kwargs["device"] or "meta").type == "cpu"
        if there and (name in ("aten::_local_scalar_dense", "aten::equal", "aten::nonzero") or to_host):
            self.waits.append(name)
        if tensors and tensors[0].is_meta:
            if name == "aten::_local_scalar_dense":
                return True if tensors[0].dtype == torch.bool else 1.0
            if to_host:
                return torch.zeros(tensors[0].shape, dtype=kwargs.get("dtype") or tensors[0].dtype, device="cpu")
        out = func(*args, **kwargs)
        moved = [t for t in tree_leaves(out) if isinstance(t, Tensor)]
        if moved and moved[0].device.type != "cpu" and name not in _FREE and not func.is_view:
            everything = [*tensors, *moved]
            packet = func._overloadpacket
            flops = flop_registry[packet](*args, **kwargs, out_val=out) if packet in flop_registry else 0
            size = sum(t.numel() * t.element_size() for t in everything)
            self.kernels.append(Kernel(name, size, flops, any(t.dtype == torch.float64 for t in everything)))
        return out

    def seconds(self, gpu: GPU, precision: str = "fp32") -> float:
        """The model's time. A float64 kernel runs at the float64 peak, whatever the others do."""
        peak = gpu.peaks[precision]
        assert peak is not None
        scale = 0.5 if precision == "fp16" else 1
        return sum(max(LAUNCH, scale * k.bytes / gpu.bandwidth, k.flops / (gpu.fp64 if k.double else peak))
                   for k in self.kernels)


def counted(work: Callable[[], Any]) -> Counter:
    """What `work` does on the meta device."""
    with warnings.catch_warnings(), Counter() as counter:
        warnings.simplefilter("ignore")  # values are made up
        work()
    return counter


def on_meta(name: str, **options: Any) -> nn.Module:
    with torch.device("meta"):
        return timm.create_model(name, pretrained=False, **options).eval()


def forward(models: list[nn.Module], n: int) -> Counter:
    """The bare forward passes."""
    x = torch.zeros(n, 3, 224, 224, device="meta")

    def run() -> None:
        with torch.no_grad():
            for model in models:
                model(x)

    return counted(run)


def library(measure: Callable[..., Any], models: list[nn.Module], n: int) -> tuple[Counter, Counter]:
    """(one minibatch of a measurement without its forward passes, those passes).

    What a second minibatch adds is one minibatch: the pass that finds the layers is left out.
    """
    bare = forward(models, n)
    one, two = (counted(lambda k=k: measure(torch.zeros(1, 3, 224, 224).expand(k * n, -1, -1, -1))) for k in (1, 2))
    added = Counter()
    added.kernels = _difference(two.kernels, one.kernels, bare.kernels)
    added.waits = two.waits[len(one.waits):]
    return added, bare


def _difference(two: list[Kernel], *others: list[Kernel]) -> list[Kernel]:
    """The kernels of the first list without those of the others."""
    left = list(two)
    counts: dict[Kernel, int] = {}
    for kernel in (k for other in others for k in other):
        counts[kernel] = counts.get(kernel, 0) + 1
    kept = []
    for kernel in left:
        if counts.get(kernel, 0):
            counts[kernel] -= 1
        else:
            kept.append(kernel)
    return kept


def main() -> None:
    vit, resnet, large = on_meta("vit_base_patch16_224"), on_meta("resnet50"), on_meta("vit_large_patch16_224")
    similar = lambda n: lambda x: cka(vit, x, resnet, other_images=x, layers="all", batch_size=n, device="meta",
                                      progress=False)
    distance = lambda x: attention_distance(large, x, batch_size=64, device="meta", progress=False)
    cases = [("cka, ViT-B/16 all taps × ResNet-50, 128", similar(128), [vit, resnet], 128),
             ("cka, the same, 1024", similar(1024), [vit, resnet], 1024),
             ("attention distance, ViT-L/16, 64", distance, [large], 64)]
    print("| measurement | kernels | GB | TFLOP | waits | A100 ms | forward fp32, TF32, fp16 | T4 ms | forward |\n"
          "|---|---:|---:|---:|---:|---:|---|---:|---|")
    for title, measure, models, n in cases:
        ours, bare = library(measure, models, n)
        shown = lambda gpu, bare=bare: ", ".join(f"{1e3 * bare.seconds(gpu, p):.0f}" if peak else "–"
                                                 for p, peak in gpu.peaks.items())
        print(f"| {title} | {len(ours.kernels)} | {sum(k.bytes for k in ours.kernels) / 1e9:.1f} | "
              f"{sum(k.flops for k in ours.kernels) / 1e12:.2f} | {len(ours.waits)} | {1e3 * ours.seconds(A100):.0f} | "
              f"{shown(A100)} | {1e3 * ours.seconds(T4):.0f} | {shown(T4)} |", flush=True)


if __name__ == "__main__":
    main()
