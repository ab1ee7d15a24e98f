"""What the paper's own setting costs: operations and bytes counted, times reckoned from data sheets.

`python -m helpers.paper.cost` counts once more and writes results/cost.json, from which the page reckons. Counting
needs no weights: networks are built on the meta device, where tensors have shapes and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import timm
import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from ..networks.taps import find, tapped
from ..networks.zoo import PAPER
from .results import write
from .stored import RESULTS

COUNTED = ("vit_b16", "vit_l16", "vit_h14", "resnet50_bit", "resnet152_bit")
PAIRS = (("vit_b16", "resnet50_bit"), ("vit_l16", "resnet50_bit"), ("vit_h14", "resnet50_bit"),
         ("vit_h14", "resnet152_bit"))
IMAGES, PASSES, BATCH = 10_240, 20, 1024  # the paper's own setting, appendix A
EFFICIENCY, REREAD = 0.4, 4  # our assumptions: share of the peak that is reached; times a tapped feature is moved


@dataclass(frozen=True)
class Device:
    """Peak of float32 products without TF32, and bandwidth of the memory, by the data sheet."""

    flops: float  # per second
    bandwidth: float  # bytes per second


DEVICES = {"T4": Device(8.1e12, 320e9), "A100": Device(19.5e12, 1555e9)}


def count(name: str) -> dict[str, int]:
    """Operations of one forward pass (a product and a sum are two), and numbers in all tapped blocks, for one image."""
    sizes: list[int] = []
    with torch.device("meta"), torch.no_grad():
        model = timm.create_model(PAPER[name].timm_id).eval()
        image = torch.zeros(1, 3, 224, 224)
        wanted = find(model, "blocks", image)
        visit = lambda _, features: sizes.append(_size(features))
        with FlopCounterMode(display=False) as counter, tapped(model, wanted, visit):
            model(image)
    return {"flops": counter.get_total_flops(), "features": sum(sizes), "layers": len(sizes),
            "parameters": sum(p.numel() for p in model.parameters())}


def _size(features: Tensor) -> int:
    return features[0].numel()


def hours(counts: list[dict[str, int]], device: Device) -> float:
    """Time for the networks with these counts: products at a share of the peak, then moving the features."""
    images = IMAGES * PASSES
    operations = sum(c["flops"] + 2 * BATCH * c["features"] for c in counts)  # forward, and Gram matrices [n, n]
    moved = sum(4 * REREAD * c["features"] for c in counts)
    return images * (operations / (EFFICIENCY * device.flops) + moved / device.bandwidth) / 3600


def main(folder: Path = RESULTS) -> None:
    """Count and write."""
    write(folder / "cost.json", {name: count(name) for name in COUNTED})


if __name__ == "__main__":
    main()
