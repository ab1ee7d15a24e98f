"""Of curves over depth: their halves and their largest step."""

from __future__ import annotations

import numpy as np


def halves(curve: np.ndarray) -> float:
    """Mean over the first half of the depth minus mean over the second."""
    half = len(curve) // 2
    return float(curve[:half].mean() - curve[half:].mean())


def largest_step(radii: np.ndarray, depths: np.ndarray) -> tuple[float, float]:
    """The largest step up of a curve as a share of all its steps up, and the depth half-way through that step.

    NaN and NaN for a curve that never grows.
    """
    steps = np.clip(np.diff(radii), 0, None)
    if steps.sum() == 0:
        return float("nan"), float("nan")
    at = steps.argmax()
    return float(steps[at] / steps.sum()), float((depths[at] + depths[at + 1]) / 2)
