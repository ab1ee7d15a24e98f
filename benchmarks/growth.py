"""How the cost of CKA itself grows: minibatch, layers and features doubled, beside the floating-point operations."""

from __future__ import annotations

import time
from statistics import median

import torch

from helpers.metrics.similarity import HSICSums

from .measure import Log

BASE = {"images": 128, "layers": 16, "features": 1 << 16}
SETTINGS = [BASE, *({**BASE, key: factor * value} for key, value in BASE.items() for factor in (2, 4))]


def seconds(images: int, layers: int, features: int) -> float:
    """CPU time to see one minibatch of `layers` layers [images, features] and sum all pairs."""
    x = torch.randn(images, features)
    sums = HSICSums([str(i) for i in range(layers)], torch.device("cpu"))
    start = time.process_time()
    with sums.minibatch(images) as visit:
        for i in range(layers):
            visit(i, x)
    return time.process_time() - start


def operations(images: int, layers: int, features: int) -> float:
    """Grams (2 n² p each) and all pairs of triangles (n² per pair)."""
    return layers * 2 * images**2 * features + layers**2 * images**2


def measure(rounds: int, log: Log) -> list[list[float]]:
    """Seconds [rounds][settings], the settings in turn."""
    found = log.data.setdefault("growth", [])
    while len(found) < rounds:
        found.append([seconds(**setting) for setting in SETTINGS])
        log.save()
    return found


def table(times: list[list[float]]) -> str:
    """Markdown; ratios are medians over rounds, each round with itself."""
    lines = ["| images in a minibatch | layers | features | CPU s | × first | operations × first |",
             "|---:|---:|---:|---:|---:|---:|"]
    for i, setting in enumerate(SETTINGS):
        lines.append(f"| {setting['images']} | {setting['layers']} | {setting['features']} | "
                     f"{median(turn[i] for turn in times):.3f} | {median(turn[i] / turn[0] for turn in times):.2f} | "
                     f"{operations(**setting) / operations(**BASE):.2f} |")
    return "\n".join(lines)
