"""Checks for the exercises of chapter 9."""

from __future__ import annotations

import math
from collections.abc import Callable

from .base import Feedback, call, compare, exercise, not_yet


@exercise("09.welch")
def _welch(answer: Callable) -> Feedback:
    """Compare error and freedom with Welch's on made spreads, then with the usual slips."""
    s, t, n = 0.3, 0.4, 5
    got = call(answer, s, t, n)
    if isinstance(got, Feedback):
        return got
    if not isinstance(got, tuple | list) or len(got) != 2:
        return not_yet("return two numbers: the standard error and the degrees of freedom",
                       "표준오차와 자유도, 수 두 개를 돌려주어야 한다")
    spread = s**2 + t**2
    error = compare(got[0], math.sqrt(spread / n), [
        (math.sqrt(spread), "the error does not shrink with the number of runs yet: divide by n inside the root",
         "실행 횟수가 늘어도 오차가 줄지 않는다. 제곱근 안에서 n으로 나눠야 한다"),
        (spread / n, "that is the squared error; take the square root", "오차의 제곱이다. 제곱근을 씌워야 한다"),
        ((s + t) / math.sqrt(n), "standard deviations do not add up, their squares do",
         "표준편차는 그대로 더해지지 않고 제곱이 더해진다"),
        (math.sqrt(spread) / n, "n stands under the root: four times the runs halve the error",
         "n은 제곱근 안에 있다. 실행을 네 배로 늘려야 오차가 절반이 된다"),
        (math.sqrt(spread / (n - 1)), "a mean of n runs divides by n; n − 1 is already inside the printed s and t",
         "실행 n번의 평균이므로 n으로 나눈다. n − 1은 인쇄된 s와 t 안에 이미 들어 있다"),
    ], ("the standard error differs; it is the root of (s² + t²)/n", "표준오차가 다르다. (s² + t²)/n의 제곱근이다"))
    if not error.ok:
        return error
    return compare(got[1], (n - 1) * spread**2 / (s**4 + t**4), [
        (2 * (n - 1), "2(n − 1) is right only for equal spreads; use the formula",
         "2(n − 1)은 두 표준편차가 같을 때만 맞다. 식을 써 보자"),
        (n * spread**2 / (s**4 + t**4), "each spread has n − 1 degrees of freedom, not n",
         "표준편차 하나의 자유도는 n이 아니라 n − 1이다"),
        ((n - 1) * spread / (s**4 + t**4), "the sum of squares above is squared once more",
         "분자에 있는 제곱의 합을 한 번 더 제곱해야 한다"),
        (n - 1, "above stands (s² + t²)², which is more than s⁴ + t⁴", "분자는 (s² + t²)²으로, s⁴ + t⁴보다 크다"),
    ], ("the error is right, the degrees of freedom are not; compare with the formula term by term",
        "표준오차는 맞지만 자유도가 다르다. 식과 한 항씩 견주어 보자"))


@exercise("09.per_epoch")
def _per_epoch(answer: float) -> Feedback:
    """(9.9 / 30) / (2.5 / 14)."""
    slips = [
        (9.9 / 2.5, "that is the ratio of whole trainings; divide each by its epochs first",
         "학습 전체의 비다. 먼저 각각을 에폭 수로 나눠야 한다"),
        ((9.9 / 40) / (2.5 / 14), "that is for 40 epochs, as in the text; the exercise asks for 30",
         "본문처럼 40에폭으로 계산한 값이다. 문제는 30에폭을 묻는다"),
        ((2.5 / 14) / (9.9 / 30), "upside down: BiT-L is above", "위아래가 뒤집혔다. BiT-L이 분자다"),
        (9.9 / 2.5 * 30 / 14, "more epochs make an epoch cheaper: divide by 30/14, do not multiply",
         "에폭이 많을수록 에폭 하나는 싸진다. 30/14를 곱하지 말고 나눠야 한다"),
        (30 / 14, "that is how much longer BiT-L trained", "BiT-L이 얼마나 더 오래 학습했는지를 나타낸 값이다"),
    ]
    return compare(answer, (9.9 / 30) / (2.5 / 14), slips, (
        "core-days divided by epochs, for each model; then the ratio",
        "모델마다 코어·일을 에폭 수로 나눈 다음 비를 구해 보자"), tolerance=3e-3)
