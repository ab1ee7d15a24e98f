"""How the cost of CKA itself grows: minibatch, layers and features doubled, beside the floating-point operations."""

from __future__ import annotations

import time

import torch

from helpers.similarity import HSICSums

BASE = {"images": 128, "layers": 16, "features": 1 << 16}


def seconds(images: int, layers: int, features: int, rounds: int) -> float:
    """Least CPU time to see one minibatch of `layers` layers [images, features] and sum all pairs."""
    x = torch.randn(images, features)
    best = float("inf")
    for _ in range(rounds):
        sums = HSICSums([str(i) for i in range(layers)], torch.device("cpu"))
        start = time.process_time()
        with sums.minibatch(images) as see:
            for i in range(layers):
                see(i, x)
        best = min(best, time.process_time() - start)
    return best


def operations(images: int, layers: int, features: int) -> float:
    """Grams (2 n² p each) and all pairs of triangles (n² per pair)."""
    return layers * 2 * images**2 * features + layers**2 * images**2


def table(rounds: int) -> str:
    """Markdown."""
    settings = [BASE, *({**BASE, key: 2 * value} for key, value in BASE.items())]
    times = [seconds(**setting, rounds=rounds) for setting in settings]
    lines = ["### How the cost of CKA grows (without the forward passes)", "",
             "| images in a minibatch | layers | features | CPU s | × base | operations × base |",
             "|---:|---:|---:|---:|---:|---:|"]
    for setting, spent in zip(settings, times, strict=True):
        lines.append(f"| {setting['images']} | {setting['layers']} | {setting['features']} | {spent:.3f} | "
                     f"{spent / times[0]:.2f} | {operations(**setting) / operations(**BASE):.2f} |")
    return "\n".join(lines)
