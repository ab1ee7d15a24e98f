"""Checks for the exercises of chapter 6."""

from __future__ import annotations

from collections.abc import Callable

import torch

from .base import RIGHT, Feedback, call, compare, exercise, not_yet

BAG = torch.tensor([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0], [5.0, 6.0]])  # one patch occurs twice
CASES = [  # the other image's patches, whether the bags are equal, and the likely slip when the answer is wrong
    (BAG, True, ("an image has the same bag as itself", "이미지의 패치 모음은 자기 자신과 같다")),
    (BAG[[3, 0, 2, 1]], True, ("a reordered image must give True; do not compare place by place",
                               "재배열한 이미지면 True여야 한다. 자리마다 비교하면 안 된다")),
    (BAG[[0, 1, 3, 3]], False, ("the patches are the same, but one occurs another number of times: count them",
                                "패치의 종류는 같지만 개수가 다르다. 몇 번 나오는지도 세어야 한다")),
    (torch.tensor([[2.0, 1.0], [3.0, 4.0], [1.0, 2.0], [6.0, 5.0]]), False, (
        "here the numbers inside patches changed places; only whole patches may move",
        "패치 안의 숫자가 자리를 바꾼 경우다. 패치는 통째로만 움직일 수 있다")),
    (torch.tensor([[1.0, 4.0], [3.0, 2.0], [1.0, 2.0], [5.0, 6.0]]), False, (
        "here two patches swapped their second numbers; columns must not be sorted one by one",
        "두 패치가 둘째 숫자를 맞바꾼 경우다. 열을 따로따로 정렬하면 안 된다")),
]


@exercise("06.same_bag")
def _same_bag(answer: Callable) -> Feedback:
    """Try reordered, repeated and mixed-up patches."""
    for other, want, slip in CASES:
        got = call(lambda other=other: answer(BAG.clone(), other.clone()))
        if isinstance(got, Feedback):
            return got
        try:
            yes = bool(got)
        except (RuntimeError, ValueError):
            return not_yet("one True or False was expected for the whole image",
                           "이미지 전체에 대해 True나 False 하나여야 한다")
        if yes != want:
            return not_yet(*slip)
    return RIGHT


@exercise("06.entries")
def _entries(answer: float) -> Feedback:
    """((24² + 1) / (12² + 1))²"""
    long, short = 24**2 + 1, 12**2 + 1
    slips = [
        (16, "[CLS] is a token too: 24² + 1 and 12² + 1", "[CLS]도 토큰이다. 24² + 1개와 12² + 1개다"),
        (long / short, "that is the ratio of tokens; the matrix has a row and a column for each",
         "토큰 수의 비다. 행렬에는 토큰마다 행과 열이 있다"),
        (4, "that is the ratio of tokens without [CLS]; square it, and count [CLS]",
         "[CLS]를 뺀 토큰 수의 비다. 제곱하고 [CLS]도 세자"),
        ((short / long) ** 2, "upside down: the smaller stride has more tokens",
         "위아래가 뒤집혔다. 스트라이드가 작은 쪽의 토큰이 더 많다"),
        ((197 / 50) ** 2, "that is for 224 pixels; here the side is 384",
         "224픽셀일 때의 값이다. 여기서는 한 변이 384다"),
    ]
    return compare(answer, (long / short) ** 2, slips, (
        "tokens: (384 / stride)² + 1; entries: tokens squared",
        "토큰은 (384 / 스트라이드)² + 1개, 성분은 토큰 수의 제곱이다"),
        tolerance=1e-3)
