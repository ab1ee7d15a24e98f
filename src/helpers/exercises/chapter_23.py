"""Checks for the exercises of chapter 23."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from .base import Feedback, call, compare, exercise


@exercise("23.split")
def _split(answer: Callable) -> Feedback:
    """Compare with the definition on a made map, then with the usual slips."""
    noise = np.random.default_rng(23).uniform(0.2, 0.9, (9, 9))
    similarity, k = (noise + noise.T) / 2, 4
    np.fill_diagonal(similarity, 1)
    got = call(answer, similarity.copy(), k)
    if isinstance(got, Feedback):
        return got
    first, second = similarity[:k, :k], similarity[k:, k:]
    across, sides = similarity[:k, k:].mean(), [_pairs(first), _pairs(second)]
    pooled = (sum(sides[i] * n * (n - 1) for i, n in enumerate((k, 9 - k)))) / (k * (k - 1) + (9 - k) * (8 - k))
    slips = [
        (across / min(first.mean(), second.mean()), "a layer with itself is no pair: leave the diagonal out",
         "자기 자신과의 CKA는 쌍이 아니다. 대각 성분을 빼야 한다"),
        (across / max(sides), "divide by the smaller of the two sides, so that the cut has to beat both",
         "두 쪽 가운데 작은 값으로 나누어야 한다. 그래야 양쪽 모두와 견준 것이 된다"),
        (across / pooled, "you pooled both sides; take the mean of each side and divide by the smaller one",
         "양쪽을 한데 섞었다. 쪽마다 평균을 구하고 작은 값으로 나눈다"),
        (across / np.mean(sides), "you averaged the two sides; divide by the smaller one",
         "두 쪽의 평균으로 나누었다. 둘 가운데 작은 값으로 나눈다"),
        (min(sides) / across, "upside down: the mean across is above",
         "위아래가 뒤집혔다. 가로지르는 쌍의 평균이 분자다"),
        (similarity[: k + 1, k + 1 :].mean() / min(_pairs(similarity[: k + 1, : k + 1]),
                                                   _pairs(similarity[k + 1 :, k + 1 :])),
         "the first side has k layers, 0 to k − 1; yours has one more",
         "앞쪽은 0번부터 k − 1번까지 k개 층이다. 하나가 더 들어갔다"),
    ]
    return compare(got, across / min(sides), slips, (
        "a test map gives another number; take the mean of similarity[:k, k:], and of each side without its diagonal",
        "시험용 히트맵의 값이 다르다. similarity[:k, k:]의 평균과, 대각 성분을 뺀 양쪽의 평균을 구해 보자"),
        tolerance=1e-6)


def _pairs(side: np.ndarray) -> float:
    """Mean over pairs of different layers, [n, n] → number."""
    return float(side[~np.eye(len(side), dtype=bool)].mean())


@exercise("23.paired_error")
def _paired_error(answer: float) -> Feedback:
    """12 % right only with the skip, 9 % right only without, 2,560 images: √((0.21 − 0.03²) / 2560), in points."""
    n, lost, gained = 2560, 0.12, 0.09
    drop = lost - gained
    want = 100 * math.sqrt((lost + gained - drop**2) / n)
    slips = [
        (want / 100, "that is a share; in percentage points it is 100 times as much",
         "비율로 나타낸 값이다. 퍼센트포인트로는 100배다"),
        (100 * math.sqrt((0.76 * 0.24 + 0.73 * 0.27) / n), "that treats the two networks as seen on different images; "
         "they answered the same ones, so work with the difference image by image",
         "두 신경망이 서로 다른 이미지를 본 것처럼 계산했다. 같은 이미지에 답했으므로 이미지마다 차이를 구해야 한다"),
        (100 * math.sqrt(drop * (1 - drop) / n), "the difference is not 0 or 1: it is −1 for 9 % of the images",
         "차이는 0 아니면 1이 아니다. 이미지의 9%에서는 −1이다"),
        (100 * math.sqrt(lost + gained - drop**2),
         "that is the spread over images; divide by the square root of their number",
         "이미지에 걸친 표준편차다. 이미지 수의 제곱근으로 나누어야 한다"),
        (1e4 * (lost + gained - drop**2) / n, "that is the variance; take the square root",
         "분산이다. 제곱근을 씌워야 한다"),
    ]
    return compare(answer, want, slips, (
        "the difference of an image is +1 (12 %), −1 (9 %) or 0: take its standard deviation, over √2560, in points",
        "이미지마다 차이는 +1(12%), −1(9%), 0 가운데 하나다. 그 표준편차를 √2560으로 나누고 퍼센트포인트로 적는다"),
        tolerance=3e-3)
