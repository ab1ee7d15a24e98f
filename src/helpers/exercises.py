"""Checks for the exercises: each says whether an answer is right and, if it is not, what is probably wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

import torch

from .similarity import gram, hsic0, hsic1


@dataclass(frozen=True)
class Feedback:
    """The answer to an answer, in both languages; a page shows its own, a bare notebook shows both."""

    ok: bool
    en: str
    ko: str

    def __repr__(self) -> str:
        return f"{'✓' if self.ok else '✗'} {self.en}\n  {self.ko}"

    def _repr_html_(self) -> str:
        mark = "✓" if self.ok else "✗"
        return "".join(f'<p class="feedback bi" lang="{lang}"><strong>{mark}</strong> {escape(text)}</p>'
                       for lang, text in (("en", self.en), ("ko", self.ko)))


RIGHT = Feedback(True, "Right.", "맞았다.")
Check = Callable[[Any], Feedback]
CHECKS: dict[str, Check] = {}


def exercise(name: str) -> Callable[[Check], Check]:
    """Register a check under the name a chapter calls it by, such as "17.hsic1"."""
    return lambda function: CHECKS.setdefault(name, function)


def check(name: str, answer: Any) -> Feedback:
    """Is the answer to this exercise right? A function is tried out, a value is compared."""
    if name not in CHECKS:
        raise ValueError(f"No exercise called {name!r}; there are {', '.join(CHECKS)}.")
    if answer is None or answer is ...:
        return Feedback(False, "Still empty: replace the … with your answer.", "아직 비어 있다. … 자리에 답을 써 보자.")
    return CHECKS[name](answer)


@exercise("17.hsic1")
def _hsic1(answer: Callable) -> Feedback:
    """Compare with the library, then with the usual slips."""
    draw = torch.Generator().manual_seed(17)
    x, y = (torch.randn(12, p, generator=draw, dtype=torch.float64) for p in (5, 7))
    k, l, n = gram(x + 1), gram(y - 1 + x[:, :1]), 12
    try:
        got = answer(k.clone(), l.clone())
    except Exception as error:
        return Feedback(False, f"Your function raised {type(error).__name__}: {error}",
                        f"함수가 {type(error).__name__} 오류를 냈다: {error}")
    if got is None or got is ...:
        return Feedback(False, "Your function returns nothing yet.", "함수가 아직 값을 돌려주지 않는다.")
    got, want = float(got), float(hsic1(k, l))
    if abs(got - want) < 1e-9 * abs(want):
        return RIGHT
    off_k, off_l = (g - torch.diag(g.diagonal()) for g in (k, l))
    slips = [
        (hsic0(k, l), "this is the biased HSIC₀; the diagonal has to go and the weights change",
         "편향된 HSIC₀ 값이다. 대각 성분을 지우고 계수도 바꿔야 한다"),
        (_three_terms(k, l), "the diagonals are still there: set them to zero before anything else",
         "대각 성분이 남아 있다. 가장 먼저 0으로 만들어야 한다"),
        (want * n * (n - 3), "the division by n(n−3) is missing", "n(n−3)으로 나누는 단계가 빠졌다"),
        (_three_terms(off_k, off_l, last=2), "the last term is subtracted, not added", "마지막 항은 더하지 않고 뺀다"),
        (_three_terms(off_k, off_l, last=-1), "the last term has the factor 2/(n−2), yours has 1/(n−2)",
         "마지막 항의 계수는 1/(n−2)이 아니라 2/(n−2)이다"),
        (_three_terms(off_k, off_l, last=0), "the last term is missing", "마지막 항이 빠졌다"),
    ]
    for value, en, ko in slips:
        if abs(got - float(value)) < 1e-9 * abs(float(value)):
            return Feedback(False, f"Not yet: {en}.", f"아직 아니다. {ko}.")
    return Feedback(False, f"Not yet: a test pair gives {got:.6g}, not {want:.6g}. Compare the three terms one by one.",
                    f"아직 아니다. 시험용 쌍의 값: {got:.6g}, 옳은 값: {want:.6g}. 세 항을 하나씩 비교해 보자.")


def _three_terms(k: torch.Tensor, l: torch.Tensor, last: float = -2) -> torch.Tensor:
    """The sum in HSIC₁ over n(n−3), with the factor of its last term free to be wrong."""
    n = len(k)
    terms = (k * l).sum() + k.sum() * l.sum() / ((n - 1) * (n - 2)) + last / (n - 2) * (k @ l).sum()
    return terms / (n * (n - 3))


@exercise("17.images_needed")
def _images_needed(answer: float) -> Feedback:
    """p/(n+p) = 0.05 at p = 6,240 → n = 19 p."""
    p = 65 * 96
    if abs(answer - 19 * p) <= 1:
        return RIGHT
    if abs(answer - 20 * p) <= 1:
        return Feedback(False, "Close: p/n is the value only when n is much larger than p; use p/(n+p).",
                        "거의 맞았다. p/n은 n이 p보다 훨씬 클 때만 맞으니 p/(n+p)를 써 보자.")
    if abs(answer - 19 * 96) <= 1:
        return Feedback(False, "p is not the width 96: a layer is all 65 tokens, 65 × 96 numbers for each image.",
                        "p는 폭 96이 아니다. 층 하나는 토큰 65개 전부이므로 이미지마다 65 × 96개의 수가 있다.")
    return Feedback(False, f"Not {answer:g}. Solve p/(n+p) = 0.05 for n, with p = 65 × 96.",
                    f"아직 아니다(입력한 답: {answer:g}). p = 65 × 96으로 두고 p/(n+p) = 0.05를 n에 대해 풀어 보자.")
