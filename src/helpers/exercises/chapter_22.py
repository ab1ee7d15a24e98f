"""Checks for the exercises of chapter 22."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from .base import Feedback, call, compare, exercise, not_yet, tensor_of


@exercise("22.norm_ratio")
def _norm_ratio(answer: Callable) -> Feedback:
    """Compare with the definition on made activations, then with the usual slips."""
    draw = torch.Generator().manual_seed(22)
    length = 0.5 + 4 * torch.rand(6, 5, 1, generator=draw)  # tokens of unequal length: the order of averaging matters
    z, f = length * torch.randn(6, 5, 8, generator=draw), torch.randn(6, 5, 8, generator=draw)
    got = call(lambda z, f: tensor_of(answer(z, f)), z.clone(), f.clone())
    if isinstance(got, Feedback):
        return got
    if got.shape != (5,):
        return not_yet(f"one number per token was expected, shape [5], not {list(got.shape)}: the norm runs over the "
                       "width only, the mean over the images only",
                       f"토큰마다 수 하나, 곧 모양 [5]여야 하는데 {list(got.shape)}이다. 노름은 폭 방향으로만, "
                       "평균은 이미지 방향으로만 구한다")
    by_token = lambda value: float(value.double() @ torch.arange(1.0, 6.0, dtype=torch.float64))
    a, b, total = z.norm(dim=-1), f.norm(dim=-1), (z + f).norm(dim=-1)
    slips = [
        (by_token((a / total).mean(0)), "you divided by the length of the sum z + f(z); the ratio has f(z) alone below",
         "합 z + f(z)의 길이로 나누었다. 분모는 f(z)뿐이다"),
        (by_token((total / b).mean(0)), "above stands the sum z + f(z); the ratio has z as it was before the sum",
         "분자에 합 z + f(z)를 넣었다. 더하기 전의 z여야 한다"),
        (by_token((b / a).mean(0)), "upside down: the skip is above, the branch below",
         "위아래가 뒤집혔다. 스킵 연결이 분자, 변환 가지가 분모다"),
        (by_token(a.mean(0) / b.mean(0)), "you averaged lengths, then divided; divide image by image, then average",
         "길이를 먼저 평균한 다음 나누었다. 이미지마다 나눈 다음 평균한다"),
        (by_token((a / b).square().mean(0)), "these are squared lengths; take the square roots",
         "길이의 제곱이다. 제곱근을 씌워야 한다"),
    ]
    return compare(by_token(got), by_token((a / b).mean(0)), slips, (
        "the numbers differ; take the length of z and of f over the width, divide, average over images",
        "값이 다르다. z와 f의 길이를 폭 방향으로 구하고, 나누고, 이미지에 걸쳐 평균해 보자"), tolerance=1e-4)


def _growth(start: float, sums: int) -> float:
    """√(start² + sums): length after so many orthogonal additions of length 1."""
    return math.sqrt(start**2 + sums)


@exercise("22.free_growth")
def _free_growth(answer: float) -> Feedback:
    """Start 2, eleven additions before the twelfth sum → √15."""
    slips = [
        (_growth(2, 12), "that is the length after the twelfth sum; the skip that enters it has seen eleven",
         "열두 번째 합을 거친 다음의 길이다. 그 합에 들어가는 스킵 연결은 열한 번만 더해졌다"),
        (13, "lengths of orthogonal vectors do not add up, their squares do",
         "직교하는 벡터는 길이가 아니라 길이의 제곱이 더해진다"),
        (15, "that is the squared ratio; take the square root", "노름 비의 제곱이다. 제곱근을 씌워야 한다"),
        (_growth(0, 11), "the token starts with length 2, not 0", "토큰의 처음 길이는 0이 아니라 2다"),
        (1 / _growth(2, 11), "upside down: the skip is above, the branch below",
         "위아래가 뒤집혔다. 스킵 연결이 분자, 변환 가지가 분모다"),
    ]
    return compare(answer, _growth(2, 11), slips, (
        "before the twelfth sum the squared length is 2² plus one for each earlier sum; the branch has length 1",
        "열두 번째 합에 들어가기 전 길이의 제곱은 2²에 앞선 합마다 1을 더한 값이고, 변환 가지의 길이는 1이다"),
        tolerance=1e-3)
