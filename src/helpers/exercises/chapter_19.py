"""Checks for the exercises of chapter 19."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from ..networks.anatomy import Grid
from .base import Feedback, Slip, call, compare, exercise


@exercise("19.distance")
def _distance(answer: Callable) -> Feedback:
    """Compare with the definition on a made head, then with the usual slips."""
    side, patch = 3, 8
    logits = 2 * torch.randn(side**2 + 1, side**2 + 1, generator=torch.Generator().manual_seed(19), dtype=torch.float64)
    weights = logits.softmax(1)  # queries leave unequal shares to [CLS], so it matters when one divides
    got = call(answer, weights.clone(), side, patch)
    between = Grid(side, side, 1, side * patch, side * patch).distances()
    patches = weights[1:, 1:]
    raw = (patches * between).sum(1)
    want = _renormalised(patches, between)
    axis = torch.cartesian_prod(torch.arange(side), torch.arange(side)).double() * patch
    slips: list[Slip] = [
        (raw.mean(), "the rows no longer sum to 1 without [CLS]; divide each by what is left",
         "[CLS] 토큰을 빼면 행의 합이 1이 되지 않는다. 남은 합으로 행마다 나누어야 한다"),
        (want / patch, "this counts patches; multiply by the width of a patch",
         "패치 수로 센 거리다. 패치의 너비를 곱해야 한다"),
        (raw.mean() / patch, "this counts patches, and the rows were not renormalised either",
         "패치 수로 센 거리이고, 행을 다시 나누지도 않았다"),
        (raw.sum() / patches.sum(), "you divided once at the end; divide every row by its own sum, then average",
         "맨 끝에 한 번만 나누었다. 행마다 자기 합으로 나눈 다음 평균한다"),
        (_renormalised(patches.T, between), "rows and columns are swapped: a row is a query, its entries are the keys",
         "행과 열이 바뀌었다. 행이 질의이고 행의 성분이 키다"),
        (_renormalised(weights[:-1, :-1], between), "you dropped the last token; [CLS] is the first",
         "마지막 토큰을 뺐다. [CLS] 토큰은 맨 앞에 있다"),
        (_renormalised(patches, torch.cdist(axis, axis, p=1)),
         "this adds up steps across and down; take the straight line",
         "가로와 세로를 더한 거리다. 곧은 거리를 구해야 한다"),
        (_renormalised(patches, between**2), "these are squared distances; take the square root",
         "거리의 제곱이다. 제곱근을 씌워야 한다"),
        (want * side**2, "average over the queries, do not add them up",
         "질의에 걸쳐 더하지 말고 평균한다"),
    ]
    return compare(got, want, slips, (
        f"for a made head on a 3×3 grid of 8-pixel patches it must be {want:.6g}; drop [CLS], divide each row by its "
        "sum, weigh the distances, average over queries",
        f"8픽셀 패치 3×3개 위에 만든 헤드의 값은 {want:.6g}이어야 한다. [CLS] 토큰을 빼고, 행마다 합으로 나누고, "
        "거리를 가중 평균하고, 질의에 걸쳐 평균해 보자"), tolerance=1e-6)


def _renormalised(weights: Tensor, between: Tensor) -> float:
    """Mean over queries of the weighted distance, with rows [P, P] divided by their sums."""
    return float((weights * between).sum(1).div(weights.sum(1)).mean())


@exercise("19.uniform")
def _uniform(answer: float) -> Feedback:
    """Four patch centres 112 pixels apart: 112 (0 + 1 + 1 + √2) / 4."""
    steps = 2 + math.sqrt(2)
    slips = [
        (112 * steps / 3, "the patch itself was left out; uniform attention looks at it too, at distance 0",
         "자기 패치를 빼놓았다. 균일 어텐션은 거리가 0인 자기 패치도 본다"),
        (steps / 4, "this counts patches; a patch is 112 pixels wide",
         "패치 수로 센 거리다. 패치의 너비는 112픽셀이다"),
        (56 * steps / 4, "centres of neighbouring patches lie a whole patch apart, 112 pixels",
         "이웃한 패치의 중심은 패치 하나의 너비, 곧 112픽셀 떨어져 있다"),
        (224 * steps / 4, "the image is 224 pixels wide, a patch only half of it",
         "224픽셀은 이미지의 너비다. 패치의 너비는 그 절반이다"),
        (112, "the diagonal is no detour: 112 · √2, not 224", "대각선은 돌아가는 길이 아니다. 224가 아니라 112 · √2다"),
        (84, "the diagonal is longer than a side: 112 · √2", "대각선은 변보다 길다. 112 · √2다"),
        (112 * steps, "this is the sum over the four patches; take the mean",
         "네 패치에 걸친 합이다. 평균을 내야 한다"),
    ]
    return compare(answer, 112 * steps / 4, slips, (
        "from one patch there are four distances: 0, twice 112, and the diagonal; every patch sees the same four",
        "패치 하나에서 재면 거리가 넷이다. 0, 112가 두 번, 그리고 대각선. 어느 패치에서 재도 같다"), tolerance=1e-3)
