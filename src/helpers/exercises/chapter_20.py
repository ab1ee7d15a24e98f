"""Checks for the exercises of chapter 20."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from ..metrics.heads import subset_cka
from .base import Feedback, call, compare, exercise


@exercise("20.subset_cka")
def _subset_cka(answer: Callable) -> Feedback:
    """Compare with the library on a made-up table of HSIC, then with the usual slips."""
    draw = np.random.default_rng(20)
    factors = draw.normal(size=(6, 9)) * np.array([[1, 3, 2, 1, 4, 2]]).T + 2  # four heads, two units, unequally loud
    hsic = factors @ factors.T
    subset, unit = [0, 1, 3], 5
    got = call(answer, hsic.copy(), list(subset), unit)
    shared, own = hsic[subset, unit], hsic[np.ix_(subset, subset)]
    alone = shared / np.sqrt(own.diagonal() * hsic[unit, unit])  # CKA of single heads
    want = float(subset_cka(torch.tensor(hsic), [tuple(subset)], 4)[0, unit - 4])
    slips = [
        (alone.mean(), "this is the mean of the single heads' CKA; add up the HSIC first and divide once",
         "헤드마다 CKA를 구해 평균한 값이다. HSIC를 먼저 더하고 한 번만 나눈다"),
        (alone.sum(), "these are CKA added up; add up the HSIC first and divide once",
         "헤드마다 구한 CKA를 더한 값이다. HSIC를 먼저 더하고 한 번만 나눈다"),
        (shared.sum() / np.sqrt(own.trace() * hsic[unit, unit]),
         "under the root only each head with itself was counted; the pairs of different heads belong there too",
         "근호 안에서 헤드와 자기 자신의 값만 더했다. 서로 다른 헤드의 쌍도 들어가야 한다"),
        (shared.sum() / (own.sum() * hsic[unit, unit]), "the square root is missing", "제곱근이 빠졌다"),
        (shared.sum() / np.sqrt(own.sum()), "the HSIC of the unit with itself is missing under the root",
         "근호 안에 유닛과 자기 자신의 HSIC가 빠졌다"),
        (want / len(subset), "a mean above and a sum under the root: use sums in both places",
         "분자에는 평균, 근호 안에는 합을 썼다. 두 곳 모두 합을 쓴다"),
    ]
    return compare(got, want, slips, (
        f"for heads {subset} of a test table it must be {want:.6g}; compare the sum above and the sum under the root",
        f"시험용 표에서 헤드 {subset}의 값은 {want:.6g}이어야 한다. 분자의 합과 근호 안의 합을 따로 견주어 보자"))


@exercise("20.by_chance")
def _by_chance(answer: float) -> Feedback:
    """Four values in random order fall three times in a row in one of 4! orders."""
    slips = [
        (1 / 12, "this counts rising as well; only the order that falls all the way is meant",
         "오르기만 하는 순서까지 셌다. 끝까지 내려가는 순서만 센다"),
        (1 / 8, "you multiplied 1/2 three times, but the three falls are not independent; count orders",
         "1/2을 세 번 곱했지만 세 번의 내려감은 서로 독립이 아니다. 순서의 수를 세어 보자"),
        (1 / 16, "windows are not coins; count in how many orders four different values can stand",
         "창은 동전이 아니다. 서로 다른 네 값이 늘어설 수 있는 순서의 수를 세어 보자"),
        (1 / 4, "this is the probability that one given value is the largest; all four places have to fit",
         "어느 한 값이 가장 클 확률이다. 네 자리가 모두 맞아야 한다"),
        (1 / 256, "the four values are different, so a place that is taken is taken: 4 · 3 · 2 · 1",
         "네 값은 서로 다르므로 이미 찬 자리에는 놓을 수 없다. 4 · 3 · 2 · 1을 세어 보자"),
        (24, "this is the number of orders; the probability is one over it", "순서의 수다. 확률은 그 역수다"),
    ]
    return compare(answer, 1 / 24, slips, (
        "all orders of four values are equally likely, and one of them falls all the way",
        "네 값의 순서는 모두 같은 확률로 나오고, 그 가운데 하나만 끝까지 내려간다"), tolerance=1e-2)
