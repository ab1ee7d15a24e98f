"""From matrices and curves to the numbers that the claims of chapters 18–25 speak of."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd


def _mean(values: np.ndarray) -> float:
    """NaN, without a warning, where there is nothing to average."""
    return float(values.mean()) if values.size else float("nan")


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
    return _mean(similarity[same & others]) - _mean(similarity[~same])


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


def two_sides(similarity: np.ndarray, cut: int, resume: int | None = None) -> dict[str, float]:
    """Mean CKA within the layers before `cut`, within those after it (from `resume` on, else `cut`), and across.

    A layer with itself is left out.
    """
    resume = cut if resume is None else resume
    pairs = lambda side: _mean(side[~np.eye(len(side), dtype=bool)])
    return {"before": pairs(similarity[:cut, :cut]), "after": pairs(similarity[resume:, resume:]),
            "across": _mean(similarity[:cut, resume:])}


def best_cut(similarity: np.ndarray) -> int:
    """How many layers lie before the cut where pairs on one side beat pairs across by most; two or more on a side."""
    layers = np.arange(len(similarity))
    return max(range(2, len(layers) - 1), key=lambda cut: contrast(similarity, layers >= cut))


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
