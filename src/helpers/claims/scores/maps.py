"""From maps of CKA to the numbers of R04–R09, R25, R39–R43, R47 and R48."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

if TYPE_CHECKING:
    from ...metrics.cka import CKA


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
    return _mean(similarity[apart & like]) - _mean(similarity[apart & ~like])


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


def structure(maps: CKA) -> dict[str, float]:
    """Quantities of R04–R06, of a ViT and a ResNet (`other`): low with high layers, contrast of stages,
    spread and grid of layers of one kind.

    Claims R04–R09 are decided on all taps (layers="all"), which is closest to the axes of the paper's figures; block
    outputs alone, `maps.only(is_block)`, are a second opinion. A ViT has no stages, so it is cut into as many equal
    parts as the ResNet has. Gaps are ViT minus ResNet.
    """
    if maps.other is None or maps.other_layers is None:
        raise ValueError("structure compares two networks: cka(vit, images, resnet, …)")
    stage = stages(maps.other_layers)
    equal_part = np.arange(len(maps.layers)) * len(set(stage)) // len(maps.layers)
    found = {"low_high": (low_high(maps.within), low_high(maps.other)),
             "contrast": (contrast(maps.within, equal_part), contrast(maps.other, stage)),
             "spread": (spread(maps.within, maps.layers), spread(maps.other, maps.other_layers)),
             "grid": (grid(maps.within, maps.layers), grid(maps.other, maps.other_layers))}
    return {f"{name}_{what}": value for name, (vit, resnet) in found.items()
            for what, value in (("vit", vit), ("resnet", resnet), ("gap", vit - resnet))}


def matching(cross: np.ndarray) -> dict[str, float]:
    """Quantities of R07–R09, of CKA [ViT taps, ResNet taps]; on all taps, as in `structure`.

    Relative depth in the ViT of the best match of the ResNet's lower and upper half, and the best match of each third
    of the ViT with any tap of the ResNet.
    """
    depth, _ = matches(cross)
    half, best = len(depth) // 2, match_thirds(cross)
    return {"lower_p90": match_depth(cross),
            "lower_median": float(np.median(depth[:half])), "upper_median": float(np.median(depth[half:])),
            **{f"{third}_third": value for third, value in best.items()},
            "last_minus_first": best["last"] - best["first"], "last_minus_middle": best["last"] - best["middle"]}


def two_sides(similarity: np.ndarray, cut: int, resume: int | None = None) -> dict[str, float]:
    """Mean CKA within the layers before `cut`, within those after it (from `resume` on, else `cut`), and across.

    A layer with itself is left out.
    """
    resume = cut if resume is None else resume
    pairs = lambda side: _mean(side[~np.eye(len(side), dtype=bool)])
    return {"before": pairs(similarity[:cut, :cut]), "after": pairs(similarity[resume:, resume:]),
            "across": _mean(similarity[:cut, resume:])}


def break_at(similarity: np.ndarray, intact: np.ndarray, layers: list[str], block: int) -> dict[str, float]:
    """How a map of CKA [L, L] breaks at a block: `two_sides` of it, and the mean across as a share of others.

    `over_side`: of the mean within the less similar side; `over_intact`: of the same cells of another network's map;
    `deepened`: `over_side` as a share of that other network's. Layers inside the block belong to neither side.
    """
    cut = layers.index(f"blocks.{block - 1}" if block else "embed") + 1
    resume = layers.index(f"blocks.{block}")
    over_side = lambda sides: sides["across"] / min(sides["before"], sides["after"])
    sides, whole = two_sides(similarity, cut, resume), two_sides(intact, cut, resume)
    return sides | {"across_intact": whole["across"], "over_side": over_side(sides),
                    "over_intact": sides["across"] / whole["across"],
                    "deepened": over_side(sides) / over_side(whole)}


def best_cut(similarity: np.ndarray) -> int:
    """How many layers lie before the cut where pairs on one side beat pairs across by most; two or more on a side."""
    layers = np.arange(len(similarity))
    return max(range(2, len(layers) - 1), key=lambda cut: contrast(similarity, layers >= cut))


def best_split(similarity: np.ndarray) -> dict[str, float]:
    """`two_sides` at the best cut, the mean across as a share of the less similar side, and the first side's length."""
    cut = best_cut(similarity)
    sides = two_sides(similarity, cut)
    return sides | {"over_side": sides["across"] / min(sides["before"], sides["after"]),
                    "length": cut / len(similarity)}


def with_depth(parts: Sequence[np.ndarray]) -> dict[str, float]:
    """Of CKA of matching blocks, by part of the images [parts][blocks]: lowest and highest third, and the fall."""
    curve = np.mean(parts, axis=0)
    third = len(curve) // 3
    lowest, highest = float(curve[:third].mean()), float(curve[-third:].mean())
    ranks = [spearmanr(range(len(curve)), part).statistic for part in parts]
    return {"lowest": lowest, "highest": highest, "gap": lowest - highest, "spearman": float(np.mean(ranks))}
