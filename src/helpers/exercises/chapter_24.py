"""Checks for the exercises of chapter 24."""

from __future__ import annotations

from collections.abc import Callable

import torch

from .base import Feedback, call, compare, exercise


@exercise("24.contrast")
def _contrast(answer: Callable) -> Feedback:
    """Compare with the definition on made maps (three rows, five columns), then with the usual slips."""
    maps = torch.rand(15, 3, 5, generator=torch.Generator().manual_seed(24), dtype=torch.float64)
    flat, token = maps.flatten(1), torch.arange(15)
    own, total = flat.diagonal(), flat.sum(1)
    best = flat.max(1).values
    transposed = maps[token, token % 3, token // 3]  # tokens counted column by column
    slips = [
        ((own - flat.mean(1)).mean(), "the mean still contains the own patch; leave it out",
         "평균에 자기 자리가 들어 있다. 자기 자리는 빼야 한다"),
        ((best - (total - best) / 14).mean(), "you took the brightest patch; contrast is about the token's own one",
         "가장 밝은 패치를 썼다. 대비는 토큰의 자기 자리로 구한다"),
        ((transposed - (total - transposed) / 14).mean(),
         "tokens are counted row by row: token t lies in row t // columns and column t % columns",
         "토큰은 행을 따라 센다. 토큰 t는 t // columns행, t % columns열에 있다"),
        ((own - (total - own)).mean(), "you subtracted the sum of the others; take their mean",
         "나머지의 합을 뺐다. 나머지의 평균을 빼야 한다"),
        ((own - (total - own) / 15).mean(), "there are N − 1 other patches, not N",
         "나머지 패치는 N개가 아니라 N − 1개다"),
        ((own / ((total - own) / 14)).mean(), "that is a ratio; contrast is a difference",
         "나눈 값이다. 대비는 차이다"),
        ((own - (total - own) / 14).sum(), "average over the tokens instead of adding them up",
         "토큰에 걸쳐 더하지 말고 평균한다"),
        (-(own - (total - own) / 14).mean(), "the sign is turned round: own minus others",
         "부호가 뒤집혔다. 자기 자리에서 나머지를 뺀다"),
    ]
    return compare(call(answer, maps.clone()), (own - (total - own) / 14).mean(), slips, (
        "the number differs; for every token take its own patch minus the mean of all others, then average",
        "값이 다르다. 토큰마다 자기 자리의 값에서 나머지의 평균을 빼고, 토큰에 걸쳐 평균해 보자"), tolerance=1e-5)


@exercise("24.centre")
def _centre(answer: float) -> Feedback:
    """Row 3 after five layers of stride 2 whose padding is half of the kernel → 3 · 2⁵."""
    slips = [
        (111.5, "that is the middle of the patch, and the point is that the position does not look there",
         "그것은 패치의 한가운데다. 이 자리가 거기를 보지 않는다는 것이 요점이다"),
        (112, "that is the middle of the patch, and the point is that the position does not look there",
         "그것은 패치의 한가운데다. 이 자리가 거기를 보지 않는다는 것이 요점이다"),
        (48, "that is four layers of stride 2; there are five, the pooling is one of them",
         "스트라이드 2인 층을 네 개만 셌다. 풀링까지 다섯 개다"),
        (128, "rows are counted from 0, so row 3 is the fourth one", "행은 0부터 센다. 3번 행은 네 번째 행이다"),
        (64, "rows are counted from 0, so row 3 is the fourth one", "행은 0부터 센다. 3번 행은 네 번째 행이다"),
        (6, "that is one layer; go on through all five, down to the pixels",
         "층 하나만 지난 값이다. 다섯 층을 모두 지나 픽셀까지 내려간다"),
        (30, "each layer doubles the index; doublings multiply, they do not add",
         "층마다 번호가 두 배가 된다. 두 배는 더해지는 것이 아니라 곱해진다"),
    ]
    return compare(answer, 96, slips, (
        "output i of a layer with stride 2 starts at input 2i − padding, and its centre is (kernel − 1) / 2 further",
        "스트라이드 2인 층의 출력 i는 입력 2i − 패딩에서 시작하고, 중심은 거기서 (커널 − 1) / 2만큼 더 간 곳이다"))
