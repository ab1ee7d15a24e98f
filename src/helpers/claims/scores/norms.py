"""From norm ratios to the numbers of R21–R24."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .curves import halves

if TYPE_CHECKING:
    from ...metrics.skip import NormRatio


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
