"""Checks for the exercises of chapter 11."""

from __future__ import annotations

from collections.abc import Callable

from .base import Feedback, call, compare, exercise


@exercise("11.flops")
def _flops(answer: Callable) -> Feedback:
    """Compare with 24 T D² L + 4 T² D L on a made shape, then with the usual slips."""
    t, d, l = 50, 64, 3
    weights, attention = 24 * t * d**2 * l, 4 * t**2 * d * l
    slips = [
        ((weights + attention) / 2, "these are multiplications only; each comes with an addition, so double them",
         "곱셈만 셌다. 곱셈마다 덧셈이 하나씩 있으므로 두 배가 된다"),
        ((weights + attention) / l, "that is one block; multiply by the depth", "블록 하나다. 깊이를 곱해야 한다"),
        (weights, "attention is missing: queries with keys, and weights with values, T² D multiplications each",
         "어텐션이 빠졌다. 질의와 키, 가중치와 값을 곱하는 데 각각 곱셈이 T² D번 든다"),
        (attention, "the weight matrices are missing: 12 D² entries for every token",
         "가중치 행렬이 빠졌다. 토큰마다 성분이 12 D²개다"),
        (weights + attention / 2, "attention multiplies twice: queries with keys, then weights with values",
         "어텐션은 두 번 곱한다. 질의와 키를 곱하고, 가중치와 값을 곱한다"),
        (12 * t * d**2 * l + attention, "the MLP's hidden layer is four times as wide: 8 D² entries, not 2 D²",
         "MLP의 은닉층은 폭이 네 배다. 성분이 2 D²개가 아니라 8 D²개다"),
        (16 * t * d**2 * l + attention, "only the MLP is counted; queries, keys, values and output add 4 D²",
         "MLP만 셌다. 질의, 키, 값, 출력의 4 D²이 더 있다"),
        (8 * t * d**2 * l + attention, "the MLP is missing: 8 D² entries for every token",
         "MLP가 빠졌다. 토큰마다 성분이 8 D²개다"),
    ]
    return compare(call(answer, t, d, l), weights + attention, slips, (
        f"for T = {t}, D = {d}, L = {l} it should be {weights + attention:,} operations; add up weights and attention",
        f"T = {t}, D = {d}, L = {l}이면 블록의 연산은 {weights + attention:,}번이다. 가중치와 어텐션을 더해 보자"))


@exercise("11.half")
def _half(answer: float) -> Feedback:
    """16 √(6 · 1024)."""
    side = lambda tokens, patch=16: patch * tokens**0.5
    slips = [
        (6 * 1024, "that is the number of tokens; the image has √T of them along a side, 16 pixels each",
         "토큰의 수다. 이미지 한 변에는 토큰이 √T개, 하나가 16픽셀씩 놓인다"),
        (side(1024), "the two costs are equal at T = 6D, not at T = D",
         "두 비용이 같아지는 것은 T = D가 아니라 T = 6D일 때다"),
        (side(6 * 768), "that is for the width of Base; Large has 1,024", "Base의 폭으로 계산했다. Large는 1,024이다"),
        (side(6 * 1024, 32), "that is for patches of 32 pixels", "한 변이 32픽셀인 패치로 계산했다"),
        ((6 * 1024) ** 0.5, "that is a side in patches; each has 16 pixels",
         "패치로 센 한 변이다. 패치 하나는 16픽셀이다"),
        (side(12 * 1024), "each weight costs two operations, but so does each product of attention: T = 6D",
         "가중치 하나에 연산이 두 번 들지만 어텐션의 곱셈도 마찬가지다. T = 6D다"),
    ]
    return compare(answer, side(6 * 1024), slips, (
        "set 24 T D² equal to 4 T² D, solve for T, and turn T tokens into pixels",
        "24 T D²과 4 T² D를 같다고 놓고 T를 구한 다음, 토큰 T개를 픽셀로 바꿔 보자"), tolerance=2e-3)
