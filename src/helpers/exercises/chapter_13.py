"""Checks for the exercises of chapter 13."""

from __future__ import annotations

from collections.abc import Callable
from math import comb

import torch

from .base import Feedback, Slip, call, compare, exercise


@exercise("13.colour")
def _colour(answer: Callable) -> Feedback:
    """Compare with the definition on a made patch, then with the usual slips."""
    patch = torch.randint(60, 250, (3, 4, 4), generator=torch.Generator().manual_seed(13)).byte()
    patch[0] //= 2
    mean = patch.double().mean((1, 2))
    number = lambda levels, weights=(64, 8, 1): int(levels.long() @ torch.tensor(weights))
    levels = (mean / 32).floor()
    slips: list[Slip] = [
        (number((mean / 32).round()), "you rounded to the nearest level; ⌊r/32⌋ cuts off",
         "가장 가까운 단계로 반올림했다. ⌊r/32⌋은 소수점 아래를 버린다"),
        (number((patch // 32).double().mean((1, 2)).floor()), "you cut single pixels into levels; take the mean first",
         "픽셀마다 단계로 나누었다. 평균부터 구해야 한다"),
        (number(levels, (1, 8, 64)), "red and blue have changed places: red counts 64, blue 1",
         "빨강과 파랑이 바뀌었다. 빨강에 64, 파랑에 1을 곱한다"),
        (number((mean / 255 * 7).round()), "this spreads the levels from 0 to 255; each level is 32 wide",
         "0부터 255까지를 단계로 고루 나누었다. 한 단계의 폭은 32다"),
        (number((mean / 8).floor()), "divide by 32: 8 levels of 32 make 256; by 8 there are 32 levels",
         "32로 나눈다. 폭이 32인 단계 8개가 256이다. 8로 나누면 단계가 32개가 된다"),
        (number((mean.mean() / 32).floor().expand(3)), "this is the grey mean; every channel has a mean of its own",
         "세 채널을 한꺼번에 평균했다. 채널마다 따로 평균한다"),
        (float(levels.sum()), "levels of three channels have to stay apart: 64, 8 and 1 times",
         "세 채널의 단계를 그냥 더했다. 64, 8, 1을 곱해서 더해야 서로 섞이지 않는다"),
        (number(levels, (100, 10, 1)), "these are digits to base 10; with 8 levels the base is 8",
         "10진법의 자릿수로 썼다. 단계가 8개이므로 8진법이다"),
    ]
    want = number(levels)
    means = ", ".join(f"{value:.1f}" for value in mean.tolist())
    return compare(call(answer, patch.clone()), want, slips, (
        f"a patch with the means {means} belongs to class {want}: mean of each channel, ⌊·/32⌋, then 64, 8 and 1 times",
        f"평균이 {means}인 패치의 클래스는 {want}이다. 채널마다 평균하고, ⌊·/32⌋을 구해 64, 8, 1을 곱해 더한다"))


@exercise("13.alone")
def _alone(answer: float) -> Feedback:
    """All eight neighbours among the 31 other corrupted of 63 other places."""
    want = comb(55, 23) / comb(63, 31)
    places = "the patch itself is corrupted: of the other 63 places 31 are"
    own = "그 패치도 망가진 것 가운데 하나다. 나머지 63자리 가운데 31자리가 망가졌다"
    slips: list[Slip] = [
        (0.5**8, "this draws each place by itself; exactly half are corrupted, so every one drawn leaves fewer",
         "자리마다 따로 뽑았다. 정확히 절반이 망가지므로 하나를 뽑을 때마다 남은 것이 줄어든다"),
        ((31 / 63) ** 8, "you put each one back; every corrupted neighbour leaves fewer: 31/63, then 30/62, …",
         "뽑은 것을 도로 넣었다. 하나를 뽑을 때마다 줄어들어 31/63, 30/62, …가 된다"),
        (0.4**8, "neighbours count as hidden when they are corrupted, whatever became of them",
         "마스크 토큰이 된 것만 세었다. 무엇이 되었든 망가진 이웃이면 보이지 않는 것으로 친다"),
        (comb(56, 24) / comb(64, 32), places, own),
        (comb(55, 24) / comb(63, 32), places, own),
        (comb(8, 8) / comb(63, 31), "count the ways to choose the other 23 corrupted places as well",
         "나머지 23자리를 고르는 방법의 수도 세어야 한다"),
        (1 - want, "this is the chance of at least one visible neighbour",
         "보이는 이웃이 하나라도 있을 확률이다"),
    ]
    return compare(answer, want, slips, (
        "31/63 for the first neighbour, 30/62 for the second, and so on, eight factors; a number near 0.002",
        "첫 이웃은 31/63, 둘째 이웃은 30/62, 이렇게 여덟 번 곱한다. 0.002쯤 되는 수다"), tolerance=1e-6)
