"""From matrices and curves to the numbers that the claims of chapters 18–25 speak of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

if TYPE_CHECKING:
    from ..metrics.attention import AttentionDistance
    from ..metrics.cka import CKA
    from ..metrics.receptive import ReceptiveField
    from ..metrics.skip import NormRatio


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


def structure(maps: CKA) -> dict[str, float]:
    """Quantities of R04–R06, of a ViT and a ResNet (`other`): low with high layers, contrast of stages, spread.

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
             "spread": (spread(maps.within, maps.layers), spread(maps.other, maps.other_layers))}
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
    """How a map of CKA [L, L] breaks at a block: `two_sides` of it, and the mean across as a share of two others.

    `over_side`: of the mean within the less similar side; `over_intact`: of the same cells of another network's map.
    Layers inside the block belong to neither side.
    """
    cut = layers.index(f"blocks.{block - 1}" if block else "embed") + 1
    resume = layers.index(f"blocks.{block}")
    sides, across_intact = two_sides(similarity, cut, resume), two_sides(intact, cut, resume)["across"]
    return sides | {"across_intact": across_intact, "over_side": sides["across"] / min(sides["before"], sides["after"]),
                    "over_intact": sides["across"] / across_intact}


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


# ---- effective receptive fields: R16–R20 ------------------------------------------------------------------------


def first_radii(vit: ReceptiveField, resnet: ReceptiveField) -> dict[str, float]:
    """R16, in pixels: radius of the ViT's first block minus the wider one of the ResNet's stem and first block.

    Both fields hold the first tap (patch embedding, stem) and then blocks, after the residual sum.
    """
    gap = lambda q: float(vit.radius(q)[1] - resnet.radius(q)[:2].max())
    return {"gap_50": gap(0.5), "gap_90": gap(0.9)}


def growth(vit: ReceptiveField, resnet: ReceptiveField) -> dict[str, float]:
    """R17: the largest step of the 50 % radius from block to block as a share of all growth, and its depth in the ViT.

    Fields as for `first_radii`.
    """

    def step(field: ReceptiveField) -> tuple[float, float]:
        radii = field.radius(0.5)[1:]
        return largest_step(radii, np.arange(1, len(radii) + 1) / len(radii))

    (vit_step, depth), (resnet_step, _) = step(vit), step(resnet)
    return {"vit_step": vit_step, "resnet_step": resnet_step, "step_gap": vit_step - resnet_step, "step_depth": depth}


def smallest_centre(vit: ReceptiveField) -> float:
    """R18: share of the centre patch over an even share, smallest of all blocks. Field as for `first_radii`."""
    return float((vit.centre_share / vit.uniform_share)[1:].min())


def centre_leads(vit: ReceptiveField) -> bool:
    """R18: whether the centre patch has the largest share of all patches in every block."""
    for share, (rows, columns) in zip(vit.shares[1:], vit.grids[1:], strict=True):
        patches = share.reshape(rows, len(share) // rows, columns, -1).sum((1, 3))
        if patches.argmax() != rows // 2 * columns + columns // 2:
            return False
    return True


def centre_ratio(before: ReceptiveField, after: ReceptiveField) -> dict[str, float]:
    """R19: centre share before over after the residual sum, median over the blocks of a ViT.

    Layers take turns: attention and MLP of the first block, of the second, and so on.
    """
    ratio = before.centre_share / after.centre_share
    return {"attention": float(np.median(ratio[::2])), "mlp": float(np.median(ratio[1::2]))}


def radius_ratio(before: ReceptiveField, after: ReceptiveField) -> np.ndarray:
    """R20: 50 % radius before over after the residual sum [blocks]."""
    return before.radius(0.5) / after.radius(0.5)


def stage_starts(grids: list[tuple[int, int]]) -> np.ndarray:
    """Which blocks are the first of a later stage [blocks]: those whose grid is not that of the block before."""
    return np.array([i > 0 and grid != grids[i - 1] for i, grid in enumerate(grids)])


# ---- norm ratios: R21–R24 ---------------------------------------------------------------------------------------


def middles(blocks: int) -> np.ndarray:
    """Where blocks sit, as shares of the depth [blocks]."""
    return (np.arange(blocks) + 0.5) / blocks


def by_block(result: NormRatio, view: str = "ratio") -> dict[str, np.ndarray]:
    """A curve [blocks] per branch and kind of token; view: ratio, cosine_sum, cosine_branch."""
    curves: dict[str, np.ndarray] = {}
    for branch, values in getattr(result, view).items():
        if branch == "conv":
            curves["ResNet"] = values
        else:
            curves[f"{branch} CLS"] = values[:, 0]
            curves[f"{branch} spatial"] = values[:, result.prefix :].mean(1)
    return curves


def crossing(vit: NormRatio) -> float:
    """Relative depth where [CLS], attention and MLP together, drops below the spatial tokens; NaN if it never does."""
    curves = by_block(vit)
    gap = _of_both(curves, "CLS") - _of_both(curves, "spatial")
    for i in np.flatnonzero((gap[:-1] > 0) & (gap[1:] <= 0)):
        return float((i + 0.5 + gap[i] / (gap[i] - gap[i + 1])) / len(gap))
    return float("nan")


def _of_both(curves: dict[str, np.ndarray], tokens: str) -> np.ndarray:
    """Mean of attention and MLP, block by block."""
    return (curves[f"attn {tokens}"] + curves[f"mlp {tokens}"]) / 2


def norm_ratios(vit: NormRatio, resnet: NormRatio) -> dict[str, float]:
    """Quantities of R21–R24, and some beside them; a half is half of the blocks.

    `…_fall` is the ratio of the first minus that of the second half, `…_turn` the cosine of the second minus that of
    the first, attention and MLP together unless one is named. `above_…` is the share of the ViT's sums that lie above
    the ResNet's curve at the same relative depth.
    """
    ratio, cosine = by_block(vit), by_block(vit, "cosine_sum")
    level = np.interp(middles(len(vit.attn)), middles(len(resnet.blocks)), resnet.blocks)
    above = lambda tokens: float(np.mean([ratio[f"{branch} {tokens}"] > level for branch in ("attn", "mlp")]))
    half, cls = len(vit.attn) // 2, _of_both(ratio, "CLS")
    attention_minus_mlp = ratio["attn CLS"] - ratio["mlp CLS"]
    return {
        "above_spatial": above("spatial"), "above_cls": above("CLS"),
        "cls_fall": halves(cls), "spatial_fall": halves(_of_both(ratio, "spatial")),
        "cls_fall_attention": halves(ratio["attn CLS"]), "cls_fall_mlp": halves(ratio["mlp CLS"]),
        "cls_fall_without_block_0": float(cls[1:half].mean() - cls[half:].mean()), "crossing": crossing(vit),
        "late_gap": float(attention_minus_mlp[half:].mean()), "last_gap": float(attention_minus_mlp[-1]),
        "cls_turn": -halves(_of_both(cosine, "CLS")), "spatial_turn": -halves(_of_both(cosine, "spatial")),
    }  # fmt: skip


def with_depth(parts: Sequence[np.ndarray]) -> dict[str, float]:
    """Of CKA of matching blocks, by part of the images [parts][blocks]: lowest and highest third, and the fall."""
    curve = np.mean(parts, axis=0)
    third = len(curve) // 3
    lowest, highest = float(curve[:third].mean()), float(curve[-third:].mean())
    ranks = [spearmanr(range(len(curve)), part).statistic for part in parts]
    return {"lowest": lowest, "highest": highest, "gap": lowest - highest, "spearman": float(np.mean(ranks))}
