"""From matrices and curves to the numbers that the claims of chapters 18–25 speak of."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd


def low_high(similarity: np.ndarray) -> float:
    """Mean CKA [L, L] of the bottom third of the layers with the top third."""
    third = max(1, len(similarity) // 3)
    return float(similarity[:third, -third:].mean())


def stages(names: list[str]) -> np.ndarray:
    """Stage of every layer [L]: a ResNet's own, the stem with the first; for other networks four equal parts."""
    found = [re.search(r"(?:stages\.|layer)(\d)", name) for name in names]
    if not any(found):
        return np.arange(len(names)) * 4 // len(names)
    return pd.Series([int(f[1]) if f else None for f in found]).ffill().bfill().to_numpy(int)


def contrast(similarity: np.ndarray, group: np.ndarray) -> float:
    """Mean CKA of two layers of one group (a stage, say) minus that of layers of different groups."""
    same, others = np.equal.outer(group, group), ~np.eye(len(group), dtype=bool)
    return float(similarity[same & others].mean() - similarity[~same].mean())


def kind(name: str) -> str:
    """blocks.3.norm1 is a norm1, blocks.3 is a block."""
    last = name.rpartition(".")[2]
    return "block" if last.isdigit() else last


def is_block(name: str) -> bool:
    """Whether a tap is the output of a whole block."""
    return kind(name) == "block"


def spread(similarity: np.ndarray, names: list[str]) -> float:
    """Standard deviation of CKA over pairs of different layers of one kind."""
    like = _alike(names) & ~np.eye(len(names), dtype=bool)
    return float(similarity[like].std())


def grid(similarity: np.ndarray, names: list[str]) -> float:
    """Mean CKA of layers of one kind minus that of layers of different kinds, both from different blocks."""
    block = np.array([name if is_block(name) else name.rpartition(".")[0] for name in names])
    like, apart = _alike(names), np.not_equal.outer(block, block)
    return float(similarity[apart & like].mean() - similarity[apart & ~like].mean())


def _alike(names: list[str]) -> np.ndarray:
    kinds = np.array([kind(name) for name in names])
    return np.equal.outer(kinds, kinds)


def matches(cross: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of CKA [L, M]: relative depth of the row that is most like each column [M], best value of each row [L]."""
    return cross.argmax(0) / (len(cross) - 1), cross.max(1)


def match_depth(cross: np.ndarray) -> float:
    """90th percentile, over the lower half of the columns, of the depth of the row that is most like them."""
    depth, _ = matches(cross)
    return float(np.percentile(depth[: len(depth) // 2], 90))


def match_thirds(cross: np.ndarray) -> dict[str, float]:
    """Best CKA of each row with any column, mean over the first, middle and last third of the rows."""
    thirds = np.array_split(matches(cross)[1], 3)
    return {name: float(third.mean()) for name, third in zip(("first", "middle", "last"), thirds, strict=True)}


def across(similarity: np.ndarray, cut: int) -> float:
    """Mean CKA of layers before `cut` with layers from it on."""
    return float(similarity[:cut, cut:].mean())


def halves(curve: np.ndarray) -> float:
    """Mean over the first half of the depth minus mean over the second."""
    half = len(curve) // 2
    return float(curve[:half].mean() - curve[half:].mean())


def largest_step(radii: np.ndarray) -> tuple[float, float]:
    """The largest single step of a growing curve as a share of all growth, and the depth at which it is taken."""
    steps = np.clip(np.diff(radii), 0, None)
    if steps.sum() == 0:
        return float("nan"), float("nan")
    return float(steps.max() / steps.sum()), float((steps.argmax() + 0.5) / len(steps))
