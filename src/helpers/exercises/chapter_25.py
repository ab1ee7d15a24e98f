"""Checks for the exercises of chapter 25."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from .base import RIGHT, Feedback, call, compare, exercise, not_yet

RIDGE = 7.0


@exercise("25.scores")
def _scores(answer: Callable) -> Feedback:
    """Compare with the closed form on made features, then with the usual slips."""
    draw = torch.Generator().manual_seed(25)
    spread, shift = torch.rand(2, 5, generator=draw) * 4 + 1
    y = torch.arange(40) % 3 % 2 + (torch.arange(40) % 7 == 0)  # three classes of unequal size: the intercept matters
    made = lambda n: torch.randn(n, 5, generator=draw) * spread + shift
    x, test_x = made(40) + y[:, None], made(12)
    got = call(lambda *given: _tensor(answer(*given)), x.clone(), y.clone(), test_x.clone(), RIDGE)
    if isinstance(got, Feedback):
        return got
    if got.shape != (12, 3):
        return not_yet(f"a score for every test image and class was expected, shape [12, 3], not {list(got.shape)}",
                       f"시험 이미지와 클래스마다 점수 하나, 곧 모양 [12, 3]이어야 하는데 {list(got.shape)}이다")
    unbiased = _closed_form(x, y, test_x, correction=1)  # dividing by n − 1 is as good a standardisation
    if compare(_total(got), _total(unbiased), [], ("", ""), tolerance=1e-4).ok:
        return RIGHT
    right = _closed_form(x, y, test_x)
    targets = 2.0 * one_hot(y) - 1
    own = lambda values: (values - values.mean(0)) / values.std(0, correction=0)
    slips = [
        (_total((right + 1) / 2), "your targets are 0 and 1; they should be −1 and +1",
         "목푯값이 0과 1이다. −1과 +1이어야 한다"),
        (_total(right - targets.mean(0)), "the intercept is missing: add the mean of the targets",
         "절편이 빠졌다. 목푯값의 평균을 더해야 한다"),
        (_total(_closed_form(x, y, test_x, ridge=0)), "λ is missing; add λ to the diagonal of XᵀX",
         "λ가 빠졌다. XᵀX의 대각 성분에 λ를 더해야 한다"),
        (_total(_closed_form(x, y, test_x, ridge=RIDGE * len(x))), "you added nλ; the formula adds λ alone",
         "nλ를 더했다. 식에서는 λ만 더한다"),
        (_total(_closed_form(own(x), y, own(test_x))),
         "you standardised the test images with their own mean and deviation; use those of the training images",
         "시험 이미지를 그 자신의 평균과 표준편차로 표준화했다. 학습 이미지의 것을 써야 한다"),
        (_total(_closed_form(x, y, test_x, scaled=False)),
         "the features are centred but not divided by their standard deviation",
         "특징에서 평균은 뺐지만 표준편차로 나누지 않았다"),
    ]
    return compare(_total(got), _total(right), slips, (
        "the scores differ; standardise both tables with the training mean and deviation, solve for W, add the mean of "
        "the targets",
        "점수가 다르다. 두 표를 학습 이미지의 평균과 표준편차로 표준화하고, W를 풀고, 목푯값의 평균을 더해 보자"),
        tolerance=1e-4)


def _closed_form(x: Tensor, y: Tensor, test_x: Tensor, ridge: float = RIDGE, scaled: bool = True,
                 correction: int = 0) -> Tensor:
    """Scores [m, K] of a ridge probe with a free intercept."""
    targets, mean = 2.0 * one_hot(y).double() - 1, x.double().mean(0)
    scale = x.double().std(0, correction=correction) if scaled else 1.0
    x, test_x = (x - mean) / scale, (test_x - mean) / scale
    weights = torch.linalg.solve(x.T @ x + ridge * torch.eye(x.shape[1], dtype=torch.float64), x.T @ targets)
    return test_x @ weights + targets.mean(0)


def _total(scores: Tensor) -> float:
    """One number that depends on every score and on its place."""
    return float(scores.double().flatten() @ torch.linspace(1, 2, scores.numel(), dtype=torch.float64))


def _tensor(value: Any) -> Any:
    """The reader's array, list or tensor as a tensor; nothing stays nothing."""
    return None if value is None else torch.as_tensor(value)


@exercise("25.half_width")
def _half_width(answer: float) -> Feedback:
    """1.96 √(p (1 − p) / n) for p = 0.64, n = 1000, in points; two standard errors will do."""
    deviation, error = 100 * (0.64 * 0.36) ** 0.5, 100 * (0.64 * 0.36 / 1000) ** 0.5
    slips = [
        (error, "that is one standard error; 95 % need 1.96 of them",
         "표준 오차 하나다. 95 %가 되려면 1.96을 곱해야 한다"),
        (2 * 1.96 * error, "that is the whole width; half of it lies on either side",
         "구간 전체의 너비다. 한쪽은 그 절반이다"),
        (1.96 * deviation, "that is the spread of single images; divide by √n",
         "이미지 한 장의 퍼짐이다. √n으로 나누어야 한다"),
        (1.96 * deviation / 1000, "you divided by n; it is √n", "n으로 나누었다. √n으로 나누어야 한다"),
        (1.96 * error / 100, "right as a share; the question asks for points (per cent)",
         "비율로는 맞다. %p로 답해야 하므로 100을 곱한다"),
    ]
    return compare(answer, 1.96 * error, slips, (
        "the standard error is √(p (1 − p) / n) with p = 0.64 and n = 1,000; take 1.96 of them, in points",
        "표준 오차는 √(p (1 − p) / n)이고 p = 0.64, n = 1,000이다. 1.96을 곱해 %p로 적는다"), tolerance=0.025)
