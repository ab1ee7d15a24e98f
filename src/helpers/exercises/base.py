"""What the checks of all chapters share: feedback in both languages, and ways to find the likely slip."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, SupportsFloat

import torch


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
Slip = tuple[SupportsFloat, str, str]  # the value a slip leads to, and what it was, in English and in Korean
CHECKS: dict[str, Check] = {}


def exercise(name: str) -> Callable[[Check], Check]:
    """Register a check under the name a chapter calls it by, such as "17.hsic1"."""
    return lambda function: CHECKS.setdefault(name, function)


def not_yet(en: str, ko: str) -> Feedback:
    """A wrong answer and what is probably wrong with it; both texts without their full stop."""
    return Feedback(False, f"Not yet: {en}.", f"아직 아니다. {ko}.")


def call(answer: Callable, *arguments: Any) -> Any:
    """What the reader's function returns, or the Feedback that says why there is nothing."""
    try:
        got = answer(*arguments)
    except Exception as error:
        return Feedback(False, f"Your function raised {type(error).__name__}: {error}",
                        f"함수가 {type(error).__name__} 오류를 냈다: {error}")
    if got is None or got is ...:
        return Feedback(False, "Your function returns nothing yet.", "함수가 아직 값을 돌려주지 않는다.")
    return got


def tensor_of(value: Any) -> Any:
    """The reader's array, list or tensor as a tensor; nothing stays nothing."""
    return None if value is None else torch.as_tensor(value)


def compare(got: Any, want: SupportsFloat, slips: Sequence[Slip], hint: tuple[str, str],
            tolerance: float = 1e-9) -> Feedback:
    """Is the number right (to a relative tolerance)? Otherwise name the slip that gives it, or the general hint."""
    if isinstance(got, Feedback):
        return got
    try:
        number = float(got)
    except (TypeError, ValueError):
        kind = type(got).__name__
        return not_yet(f"a number was expected, not {kind}", f"수가 와야 할 자리에 다른 것이 있다({kind})")
    close = lambda value: math.isclose(number, float(value), rel_tol=tolerance, abs_tol=tolerance * 1e-3)
    if close(want):
        return RIGHT
    for value, en, ko in slips:
        if close(value):
            return not_yet(en, ko)
    return not_yet(*hint)
