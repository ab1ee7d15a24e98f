"""From attention to the numbers of R10–R15."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ...metrics.attention import AttentionDistance


def reach(distance: AttentionDistance) -> dict[str, float]:
    """How far heads look, as shares of the uniform level: extremes of the two lowest and the two highest blocks."""
    share = distance.pixels / distance.uniform
    return {"lowest_nearest": float(share[:2].min()), "lowest_farthest": float(share[:2].max()),
            "highest_nearest": float(share[-2:].min()), "highest_median": float(np.median(share[-2:]))}


def spearman(cka: np.ndarray) -> np.ndarray:
    """Rank correlation of place and CKA, [..., places, targets] → [..., targets]; no ties (R15)."""
    n = cka.shape[-2]
    steps = cka.argsort(-2).argsort(-2) - np.arange(n)[:, None]
    return 1 - 6 * (steps**2).sum(-2) / (n**3 - n)
