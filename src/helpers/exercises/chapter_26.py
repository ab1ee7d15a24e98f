"""Checks for the exercises of chapter 26."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .base import Feedback, call, compare, exercise


@exercise("26.share")
def _share(answer: Callable) -> Feedback:
    """Compare with the definition on made curves, then with the usual slips."""
    curve = np.array([0.86, 0.61, 0.55, 0.47, 0.44, 0.38])
    floor = np.array([0.54, 0.41, 0.36, 0.31, 0.26, 0.20])
    ceiling = np.array([0.94, 0.92, 0.87, 0.84, 0.81, 0.70])
    first, last = 1, 4
    got = call(answer, curve.copy(), floor.copy(), ceiling.copy(), first, last)
    mean = lambda values, end=last + 1: values[first:end].mean()
    share = lambda c, f, t: (c - f) / (t - f)
    want = share(mean(curve), mean(floor), mean(ceiling))
    slips = [
        (share(*(mean(values, last) for values in (curve, floor, ceiling))),
         "block `last` belongs to the range; a slice ends before its second number",
         "블록 `last`도 범위에 든다. 슬라이스는 둘째 수 바로 앞에서 끝난다"),
        (mean(share(curve, floor, ceiling)), "you averaged the shares of the blocks; average the three curves first",
         "블록마다 구한 몫을 평균했다. 세 곡선을 먼저 평균해야 한다"),
        (share(curve.mean(), floor.mean(), ceiling.mean()), "this takes all blocks; take `first` to `last` only",
         "모든 블록을 썼다. `first`부터 `last`까지만 써야 한다"),
        (mean(curve) / mean(ceiling), "the floor is missing: subtract it above and below",
         "바닥이 빠졌다. 분자와 분모에서 모두 빼야 한다"),
        ((mean(curve) - mean(floor)) / mean(ceiling), "subtract the floor below as well: the way ends at the ceiling "
         "and begins at the floor", "분모에서도 바닥을 빼야 한다. 길은 바닥에서 시작해 천장에서 끝난다"),
        (mean(curve) - mean(floor), "divide by the whole way, from the floor to the ceiling",
         "바닥에서 천장까지 전체 길이로 나누어야 한다"),
        (1 - want, "this is the share that is still missing", "아직 남은 길의 몫이다"),
        (1 / want, "upside down: the whole way is below", "위아래가 뒤집혔다. 전체 길이가 분모다"),
    ]
    return compare(got, want, slips, (
        f"for made curves it must be {want:.6g}; average each curve over the range, then (curve − floor) over "
        "(ceiling − floor)",
        f"만들어 둔 곡선에서는 {want:.6g}이어야 한다. 곡선마다 범위에 걸쳐 평균한 다음 (곡선 − 바닥)을 "
        "(천장 − 바닥)으로 나눈다"),
        tolerance=1e-6)


@exercise("26.repeats")
def _repeats(answer: float) -> Feedback:
    """200 times each against 20 times each."""
    slips = [
        (200, "so often the network on 3 % has seen each image; divide by how often the other one has",
         "3%로 학습한 신경망이 이미지 한 장을 본 횟수다. 다른 신경망의 횟수로 나누어야 한다"),
        (20, "so often the network on 30 % has seen each image; the question is by how many times the other exceeds it",
         "30%로 학습한 신경망이 이미지 한 장을 본 횟수다. 다른 신경망이 그 몇 배인지를 물었다"),
        (180, "that is how many times more in plain numbers; give the ratio",
         "횟수의 차이다. 몇 배인지 비로 적어야 한다"),
        (0.1, "upside down: fewer images are seen more often", "거꾸로다. 이미지가 적은 쪽이 더 여러 번 본다"),
        (1, "both see 300,000 images in all, but not each of them equally often",
         "둘 다 모두 300,000장을 보지만, 한 장을 보는 횟수는 다르다"),
        (100 / 3, "that compares 3 % with all of the data; compare it with 30 %",
         "3%를 전체와 비교했다. 30%와 비교해야 한다"),
    ]
    return compare(answer, 10, slips, (
        "3 % are 1,500 images and 30 % are 15,000: divide 300,000 by each",
        "3%는 1,500장이고 30%는 15,000장이다. 300,000을 각각으로 나누어 보자"), tolerance=1e-6)
