"""Checks for the exercises of chapter 7."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F

from .base import RIGHT, Feedback, call, compare, exercise, not_yet, tensor_of


@exercise("07.old_place")
def _old_place(answer: Callable) -> Feedback:
    """Places of a 14 × 14 grid must lead to the old 8 × 8 one."""
    g, n = 8, 14
    for row, column in ((0, 13), (5, 3), (13, 0)):
        got = call(lambda row=row, column=column: answer(row, column, g, n))
        if isinstance(got, Feedback):
            return got
        try:
            old_row, old_column = (float(part) for part in got)
        except (TypeError, ValueError):
            return not_yet("two numbers were expected, the old row and the old column",
                           "옛 행과 옛 열, 수 두 개가 와야 한다")
        at = lambda place: (place // g, place % g)
        ratio = g**2 / n**2
        i = row * n + column
        slips = [
            (at(i * ratio), "the halves are missing: a place's middle lies at i + ½",
             "½이 빠졌다. 자리의 한가운데는 i + ½이다"),
            (at((i + 0.5) * ratio), "subtract ½ in the end: the middle of the first old place has number 0",
             "끝에서 ½을 빼야 한다. 첫 옛 자리의 한가운데가 0번이다"),
            (((row + 0.5) * g / n - 0.5, (column + 0.5) * g / n - 0.5),
             "that is the 2-D interpolation; the flat one knows only the number i = row · n + column",
             "그것은 2차원 보간이다. 펼친 시퀀스는 번호 i = row · n + column만 안다"),
            (at((column * n + row + 0.5) * ratio - 0.5), "row and column are swapped: rows come one after another",
             "행과 열이 뒤바뀌었다. 행이 차례로 이어진다"),
            (at((row * g + column + 0.5) * ratio - 0.5), "a new row has n places, not g: i = row · n + column",
             "새 행의 자리는 g개가 아니라 n개다. i = row · n + column"),
            (at((i + 0.5) * g / n - 0.5), "the whole sequence shrinks by g² / n², not by g / n",
             "시퀀스 전체의 비는 g / n이 아니라 g² / n²이다"),
            (at((i + 0.5) * ratio - 0.5)[::-1], "first the old row, then the old column",
             "옛 행이 먼저, 옛 열이 다음이다"),
        ]
        close = lambda want, got=(old_row, old_column): all(abs(a - b) < 1e-6 for a, b in zip(got, want, strict=True))
        if close(at((i + 0.5) * ratio - 0.5)):
            continue
        for wrong, en, ko in slips:
            if close(wrong):
                return not_yet(en, ko)
        return not_yet(f"the new place ({row}, {column}) should read row {at((i + 0.5) * ratio - 0.5)[0]:.0f}; compute "
                       "s first, then divide by g", f"새 자리 ({row}, {column})가 읽는 옛 행은 "
                       f"{at((i + 0.5) * ratio - 0.5)[0]:.0f}이다. 먼저 s를 구하고 g로 나누자")
    return RIGHT


@exercise("07.first_gradient")
def _first_gradient(answer: Callable) -> Feedback:
    """Compare with autograd on made features."""
    rng, k = torch.Generator().manual_seed(7), 3
    y = torch.randn(8, 5, generator=rng)
    labels = torch.tensor([0, 1, 2, 0, 0, 1, 2, 2])
    weight = torch.zeros(k, 5, requires_grad=True)
    with torch.enable_grad():
        want = torch.autograd.grad(F.cross_entropy(y @ weight.T, labels), weight)[0]
    got = call(lambda *arguments: tensor_of(answer(*arguments)), y.clone(), labels.clone(), k)
    if isinstance(got, Feedback):
        return got
    if got.shape != want.shape:
        turned = got.shape == want.T.shape
        return not_yet("[K, D] was expected: transpose it" if turned else
                       f"[3, 5] was expected for K = 3 and D = 5, not {list(got.shape)}",
                       "[K, D]여야 한다. 전치해 보자" if turned else
                       f"K = 3, D = 5이면 [3, 5]여야 하는데 {list(got.shape)}이다")
    hot = F.one_hot(labels, k).float()
    slips = [
        (-want, "the sign is reversed: the gradient is (p − e) y, and p is 1/K",
         "부호가 반대다. 기울기는 (p − e) y이고 p는 1/K이다"),
        (want * len(y), "that is the sum over images; the loss is their mean", "이미지에 걸친 합이다. 손실은 평균이다"),
        (-hot.T @ y / len(y), "the predictions are missing: before the first step p is 1/K, not 0",
         "예측이 빠졌다. 첫 단계 전의 p는 0이 아니라 1/K이다"),
        ((1 - hot).T @ y / len(y), "with a head of zeros p is 1/K, not 1", "0으로 채운 헤드의 p는 1이 아니라 1/K이다"),
        (want * k, "it is K times too large: the mean is over images, not over the images of a class",
         "K배 크다. 클래스가 아니라 모든 이미지에 걸친 평균이다"),
    ]
    for wrong, en, ko in [(want, "", ""), *slips]:
        distance = float((got.float() - wrong).abs().max())
        if compare(1 + distance, 1, [], ("", ""), tolerance=1e-5).ok:
            return not_yet(en, ko) if en else RIGHT
    return not_yet("start from ∂loss/∂w_k = mean of (p_k − e_k) y, with p_k = 1/K for every image",
                   "∂loss/∂w_k = (p_k − e_k) y의 평균에서 시작하자. p_k는 모든 이미지에서 1/K이다")
