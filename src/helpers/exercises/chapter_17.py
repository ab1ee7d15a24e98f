"""Checks for the exercises of chapter 17."""

from __future__ import annotations

from collections.abc import Callable

import torch

from ..metrics.similarity import gram, hsic0, hsic1
from .base import Feedback, call, compare, exercise


@exercise("17.hsic1")
def _hsic1(answer: Callable) -> Feedback:
    """Compare with the library, then with the usual slips."""
    draw = torch.Generator().manual_seed(17)
    x, y = (torch.randn(12, p, generator=draw, dtype=torch.float64) for p in (5, 7))
    k, l, n = gram(x + 1), gram(y - 1 + x[:, :1]), 12
    got = call(answer, k.clone(), l.clone())
    if isinstance(got, Feedback):
        return got
    got, want = float(got), float(hsic1(k, l))
    off_k, off_l = (g - torch.diag(g.diagonal()) for g in (k, l))
    slips = [
        (float(hsic0(k, l)), "this is the biased HSIC₀; the diagonal has to go and the weights change",
         "편향된 HSIC₀ 값이다. 대각 성분을 지우고 계수도 바꿔야 한다"),
        (float(_three_terms(k, l)), "the diagonals are still there: set them to zero before anything else",
         "대각 성분이 남아 있다. 가장 먼저 0으로 만들어야 한다"),
        (want * n * (n - 3), "the division by n(n−3) is missing", "n(n−3)으로 나누는 단계가 빠졌다"),
        (float(_three_terms(off_k, off_l, last=2)), "the last term is subtracted, not added",
         "마지막 항은 더하지 않고 뺀다"),
        (float(_three_terms(off_k, off_l, last=-1)), "the last term has the factor 2/(n−2), yours has 1/(n−2)",
         "마지막 항의 계수는 1/(n−2)이 아니라 2/(n−2)이다"),
        (float(_three_terms(off_k, off_l, last=0)), "the last term is missing", "마지막 항이 빠졌다"),
    ]
    return compare(got, want, slips, (
        f"a test pair gives {got:.6g}, not {want:.6g}; compare the three terms one by one",
        f"시험용 쌍의 값: {got:.6g}, 옳은 값: {want:.6g}. 세 항을 하나씩 비교해 보자"))


def _three_terms(k: torch.Tensor, l: torch.Tensor, last: float = -2) -> torch.Tensor:
    """The sum in HSIC₁ over n(n−3), with the factor of its last term free to be wrong."""
    n = len(k)
    terms = (k * l).sum() + k.sum() * l.sum() / ((n - 1) * (n - 2)) + last / (n - 2) * (k @ l).sum()
    return terms / (n * (n - 3))


@exercise("17.images_needed")
def _images_needed(answer: float) -> Feedback:
    """p/(n+p) = 0.05 at p = 6,240 → n = 19 p."""
    p = 65 * 96
    slips = [
        (20 * p, "p/n is the value only when n is much larger than p; use p/(n+p)",
         "p/n은 n이 p보다 훨씬 클 때만 맞으니 p/(n+p)를 써 보자"),
        (19 * 96, "p is not the width 96: a layer is all 65 tokens, 65 × 96 numbers for each image",
         "p는 폭 96이 아니다. 층 하나는 토큰 65개 전부이므로 이미지마다 65 × 96개의 수가 있다"),
    ]
    return compare(answer, 19 * p, slips, ("solve p/(n+p) = 0.05 for n, with p = 65 × 96",
                                           "p = 65 × 96으로 두고 p/(n+p) = 0.05를 n에 대해 풀어 보자"), tolerance=1e-5)
