"""Checks for the exercises of chapter 29."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from .base import Feedback, call, compare, exercise, not_yet, tensor_of


@exercise("29.unread")
def _unread(answer: Callable) -> Feedback:
    """Compare with the projection on a made head, then with the usual slips."""
    draw = torch.Generator().manual_seed(29)
    x, weight = (torch.randn(rows, 7, generator=draw, dtype=torch.float64) for rows in (5, 3))
    got = call(lambda x, weight: tensor_of(answer(x, weight)), x.clone(), weight.clone())
    if isinstance(got, Feedback):
        return got
    if got.shape != (5, 7):
        return not_yet(f"the unread part has the shape of x, [5, 7] here, not {list(got.shape)}",
                       f"읽히지 않는 부분의 모양은 x와 같다. 여기서는 [5, 7]이어야 하는데 {list(got.shape)}이다")
    read = x @ torch.linalg.pinv(weight) @ weight
    unit = weight / weight.norm(dim=1, keepdim=True)
    slips = [
        (read, "this is the part the head reads; subtract it from x",
         "분류 헤드가 읽는 부분이다. x에서 이것을 빼야 한다"),
        (x - x @ weight.T @ weight, "WᵀW is a projection only if the rows of W are orthonormal; use the pseudo-inverse",
         "WᵀW는 W의 행들이 서로 직교하고 길이가 1일 때에만 투영이다. 유사역행렬을 써 보자"),
        (x - x @ unit.T @ unit, "the rows have length 1 now but are not orthogonal to one another; use pinv",
         "행의 길이는 1이 되었지만 서로 직교하지는 않는다. 유사역행렬을 써 보자"),
        (x, "this is x itself: nothing was taken away", "x 그대로다. 아무것도 빼지 않았다"),
    ]
    fingerprint = lambda table: float((table.double() * torch.arange(1.0, 36.0).reshape(5, 7)).sum())
    left = float((got.double() @ weight.T).abs().max())
    return compare(fingerprint(got), fingerprint(x - read), [(fingerprint(t), en, ko) for t, en, ko in slips], (
        f"the head still answers to your part, by up to {left:.2g}, or you have thrown away too much; x minus the "
        "unread part must be a combination of the rows of W",
        f"돌려준 부분을 분류 헤드에 넣으면 로짓이 {left:.2g}까지 나오거나, 너무 많이 버렸다. x에서 읽히지 않는 부분을 "
        "빼면 W의 행들을 더해 만들 수 있는 것만 남아야 한다"), tolerance=1e-6)


def _mixture(weight: float, cross: float = 2) -> float:
    """CKA of K + weight·L with L, where CKA(K, L) = 0.5 and both have HSIC 1 with themselves."""
    return (0.5 + weight) / math.sqrt(1 + cross * weight * 0.5 + weight**2)


@exercise("29.dial")
def _dial(answer: float) -> Feedback:
    """Features grow by 2, so the Gram matrix grows by 4 → 4.5/√21."""
    slips = [
        (_mixture(2), "features twice as long make a Gram matrix four times as large: its weight is s², not s",
         "특징이 두 배로 길어지면 그람 행렬은 네 배가 된다. s가 아니라 s²을 곱해야 한다"),
        (_mixture(4, cross=0), "the cross term 2 s² HSIC(K, L) is missing below the fraction line",
         "분모에 교차항 2 s² HSIC(K, L)이 빠졌다"),
        (_mixture(4, cross=1), "the cross term enters twice: 2 s² HSIC(K, L)",
         "교차항은 두 번 들어간다. 2 s² HSIC(K, L)이다"),
        (_mixture(4) ** 2, "this is the square; the denominator has a square root",
         "값을 제곱한 것이다. 분모에는 제곱근이 있다"),
        (4.5 / 21, "the square root in the denominator is missing", "분모의 제곱근이 빠졌다"),
        (1, "close to 1, but K is still there: work out HSIC(K + s²L, L) and HSIC(K + s²L, K + s²L)",
         "1에 가깝지만 K가 아직 남아 있다. HSIC(K + s²L, L)과 HSIC(K + s²L, K + s²L)을 풀어 보자"),
    ]
    return compare(answer, _mixture(4), slips, (
        "put the Gram matrix K + 4 L into the definition of CKA and expand both HSIC terms",
        "그람 행렬 K + 4 L을 CKA의 정의에 넣고 두 HSIC를 전개해 보자"), tolerance=1e-3)
