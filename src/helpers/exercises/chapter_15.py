"""Checks for the exercises of chapter 15."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from ..claims.tables import table
from .base import Feedback, call, compare, exercise


@exercise("15.doubling")
def _doubling(answer: float) -> Feedback:
    """Points on ImageNet per doubling of compute, from ViT-L/16 @14 to ViT-H/14 @14 of Table 6."""
    sizes = table("vit.6")
    short, small, big = (sizes.loc[name] for name in ("ViT-L/16", "ViT-L/16 @14", "ViT-H/14 @14"))
    points, times = big.ImageNet - small.ImageNet, big.exaFLOPs / small.exaFLOPs
    slips = [
        (points, "that is the whole gain, or the gain per factor e (here they are nearly equal); divide the points by "
         "the logarithm to base 2",
         "얻은 점수 전체이거나 e배마다의 점수다(여기서는 거의 같다). 점수를 밑이 2인 로그로 나누자"),
        (points / math.log10(times), "that is per factor 10; a doubling needs the logarithm to base 2",
         "열 배마다의 점수다. 두 배마다라면 밑이 2인 로그를 써야 한다"),
        (points / times, "doublings are counted by a logarithm: four times the compute are two of them",
         "두 배가 몇 번인지는 로그로 센다. 네 배는 두 번이다"),
        ((big.ImageNet - short.ImageNet) / math.log2(big.exaFLOPs / short.exaFLOPs),
         "that starts from ViT-L/16 with 7 epochs; take the one with 14",
         "7에포크 ViT-L/16에서 출발했다. 14에포크를 쓰자"),
        (math.log2(times) / points, "upside down: these are doublings per point",
         "위아래가 뒤집혔다. 한 점마다의 횟수다"),
    ]
    return compare(answer, points / math.log2(times), slips, (
        "points gained, divided by log2 of the ratio of the exaFLOPs", "얻은 점수를 exaFLOPs 비의 log2로 나누자"),
        tolerance=1e-2)


@exercise("15.tokens_reached")
def _tokens_reached(answer: Callable) -> Feedback:
    """1 / Σ s² of the shares of squared length."""
    rng = torch.Generator().manual_seed(15)
    g = torch.randn(6, 4, generator=rng, dtype=torch.float64) * torch.arange(1, 7)[:, None]
    squares, lengths = g.square().sum(-1), g.norm(dim=-1)
    spread = lambda weight: float(weight.sum() ** 2 / weight.square().sum())
    share = squares / squares.sum()
    slips = [
        (spread(lengths), "the shares are those of the squared lengths, so that they add up to the whole gradient's",
         "몫은 길이의 제곱으로 나눈다. 그래야 모두 더해 전체 기울기의 제곱이 된다"),
        (1 / spread(squares), "that is Σ s²; take its inverse", "Σ s²이다. 역수를 취하자"),
        (1 / float(squares.square().sum()), "divide by the sum first: shares add up to 1",
         "먼저 합으로 나누자. 몫은 더하면 1이 된다"),
        (spread(g.square().flatten()), "that counts single components; add up the components of each token first",
         "성분을 하나하나 센 값이다. 먼저 토큰마다 성분을 더하자"),
        (math.exp(float(-(share * share.log()).sum())), "that is the exponential of the entropy, another count",
         "엔트로피의 지수다. 세는 방법이 다르다"),
    ]
    return compare(call(answer, g.clone()), spread(squares), slips, (
        f"a test gradient of 6 tokens is spread over {spread(squares):.3f} of them",
        f"토큰 6개짜리 시험용 기울기는 {spread(squares):.3f}개에 퍼져 있다"), tolerance=1e-6)
