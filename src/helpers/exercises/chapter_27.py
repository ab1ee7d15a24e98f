"""Checks for the exercises of chapter 27."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .base import Feedback, call, compare, exercise


@exercise("27.depth")
def _depth(answer: Callable) -> Feedback:
    """Between two blocks, on one, and before the first; then the usual other ways to count depth."""
    curve = np.array([31.0, 38.0, 52.0, 55.0, 71.0, 70.0, 78.0])
    count, between, early = len(curve), 0.53, 0.05
    got = call(answer, curve.copy(), between)
    interpolated = lambda places: np.interp(between, places, curve)
    block = np.arange(1, count + 1)
    slips = [
        (interpolated((block - 1) / (count - 1)), "this puts the first block at depth 0; it ends at 1/L",
         "첫 블록을 깊이 0에 두었다. 첫 블록은 1/L에서 끝난다"),
        (interpolated((block - 0.5) / count), "this takes the middles of the blocks; outputs are at the ends, ℓ/L",
         "블록의 한가운데를 썼다. 출력은 블록의 끝, 곧 ℓ/L에 있다"),
        (interpolated((block - 1) / count), "one block too early: block ℓ ends at ℓ/L, counted from 1",
         "한 블록 이르다. 블록 ℓ은 1부터 세어 ℓ/L에서 끝난다"),
        (curve[round(between * count) - 1], "this is the nearest block; interpolate between the two",
         "가장 가까운 블록의 값이다. 두 블록 사이를 보간해야 한다"),
        (curve[int(between * count) - 1], "this is the block below; interpolate between the two",
         "바로 앞 블록의 값이다. 두 블록 사이를 보간해야 한다"),
        (curve[int(between * count)], "this is the block above; interpolate between the two",
         "바로 뒤 블록의 값이다. 두 블록 사이를 보간해야 한다"),
    ]
    want = interpolated(block / count)
    hint = (f"for a made curve of {count} blocks it must be {want:.6g} at depth {between}",
            f"만들어 둔 블록 {count}개짜리 곡선의 깊이 {between}에서는 {want:.6g}이어야 한다")
    first = compare(got, want, slips, hint, tolerance=1e-6)
    if not first.ok:
        return first
    last = compare(call(answer, curve.copy(), 1.0), curve[-1], [], (
        "at depth 1 it must be the last block", "깊이 1에서는 마지막 블록의 값이어야 한다"), tolerance=1e-6)
    return last if not last.ok else compare(call(answer, curve.copy(), early), curve[0], [
        (curve[0] - (1 - early * count) * (curve[1] - curve[0]), "before the first block you go on along the slope; "
         "keep its value", "첫 블록보다 앞에서 기울기를 따라 더 내려갔다. 첫 블록의 값을 그대로 두어야 한다"),
        (curve[0] * early * count, "before the first block you start from 0; keep the value of the first block",
         "첫 블록보다 앞에서 0부터 시작했다. 첫 블록의 값을 그대로 두어야 한다"),
        (curve[-1], "before the first block the index has become negative, and Python counts from the end",
         "첫 블록보다 앞에서 번호가 음수가 되어 파이썬이 끝에서부터 세었다"),
    ], ("before the first block it must be the value of the first", "첫 블록보다 앞에서는 첫 블록의 값이어야 한다"),
        tolerance=1e-6)


@exercise("27.paired")
def _paired(answer: Callable) -> Feedback:
    """Compare with the definition on made results, then with the usual slips."""
    rng = np.random.default_rng(0)
    one = (rng.random(50) < 0.7).astype(float)
    other = np.where(rng.random(50) < 0.8, one, 1 - one)
    n, difference = len(one), one - other
    want = difference.std(ddof=1) / n**0.5
    slips = [
        (((one.var(ddof=1) + other.var(ddof=1)) / n) ** 0.5, "this treats them as two separate samples; take the "
         "difference of every image first", "따로 뽑은 두 표본으로 여겼다. 이미지마다 차이를 먼저 구해야 한다"),
        (((one.var() + other.var()) / n) ** 0.5, "this treats them as two separate samples; take the difference of "
         "every image first", "따로 뽑은 두 표본으로 여겼다. 이미지마다 차이를 먼저 구해야 한다"),
        (difference.std() / n**0.5, "divide by n − 1 in the standard deviation: ddof=1",
         "표준 편차는 n − 1로 나눈다. ddof=1이다"),
        (difference.std(ddof=1), "this is the spread of single images; divide by √n",
         "이미지 한 장의 퍼짐이다. √n으로 나누어야 한다"),
        (difference.std(ddof=1) / n, "divide by √n, not by n", "n이 아니라 √n으로 나누어야 한다"),
        (difference.var(ddof=1) / n, "this is its square; take the root", "제곱한 값이다. 제곱근을 구해야 한다"),
        (1.96 * want, "this is half of the 95 % interval; the standard error comes before the factor 1.96",
         "95% 구간의 절반이다. 표준 오차는 1.96을 곱하기 전의 값이다"),
        (difference.mean(), "this is the difference itself; its standard error was asked for",
         "차이 자체다. 그 표준 오차를 물었다"),
    ]
    got = call(answer, one.copy(), other.copy())
    return compare(got, want, slips, (
        f"for made results of {n} images it must be {want:.6g}; take one − other for every image, then its standard "
        "deviation over √n",
        f"만들어 둔 이미지 {n}장의 결과에서는 {want:.6g}이어야 한다. 이미지마다 one − other를 구하고 그 표준 편차를 "
        "√n으로 나눈다"),
        tolerance=1e-6)
