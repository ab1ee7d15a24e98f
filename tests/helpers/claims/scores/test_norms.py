"""Scores of norm ratios whose answer is known."""

from __future__ import annotations

import numpy as np

from helpers import NormRatio
from helpers.claims import scores


def ratios(cls: list[float], spatial: float, kinds: tuple[str, ...] = ("attn", "mlp")) -> NormRatio:
    """The same ratio at attention and MLP, for [CLS] and two patches; cosines are a tenth of it."""
    values = np.array([[value, spatial, spatial] for value in cls])
    ratio, cosine = ({kind: values / scale for kind in kinds} for scale in (1, 10))
    return NormRatio(ratio, cosine, cosine, {kind: ["f"] * len(cls) for kind in kinds}, 1, True, 1)


def test_scores_of_norm_ratios():
    conv = {"conv": np.array([1.0, 3.0])}
    resnet = NormRatio(conv, conv, conv, {"conv": ["f", "f"]}, 0, False, 1)
    found = scores.norm_ratios(ratios([4.0, 4, 1, 0.5], 2.0), resnet)
    assert found["above_spatial"] == 0.5 and found["above_cls"] == 0.5
    assert np.isclose(found["cls_fall"], 3.25) and found["spatial_fall"] == 0
    assert np.isclose(found["cls_turn"], -0.325) and found["late_gap"] == found["last_gap"] == 0
    assert np.isclose(found["crossing"], (1.5 + 2 / 3) / 4)
    assert np.isnan(scores.crossing(ratios([1.0, 1, 3, 3], 2.0)))
    assert scores.by_block(resnet)["ResNet"].tolist() == [1, 3]
