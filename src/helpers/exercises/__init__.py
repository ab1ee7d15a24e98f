"""Checks for the exercises: each says whether an answer is right and, if it is not, what is probably wrong.

Every chapter has its module `chapter_NN`, which is loaded when one of its exercises is checked: "19.distance" is in
chapter_19.
"""

from __future__ import annotations

import difflib
import pkgutil
import re
from importlib import import_module
from typing import Any

from .base import CHECKS, Feedback


def check(name: str, answer: Any) -> Feedback:
    """Is the answer to this exercise right? A function is tried out, a value is compared."""
    chapter = re.match(r"\d\d(?=\.)", name)
    if chapter and f"chapter_{chapter[0]}" in _modules():
        import_module(f"{__name__}.chapter_{chapter[0]}")
    if name not in CHECKS:
        near = difflib.get_close_matches(name, names(), n=5, cutoff=0.3) or names()[:5]
        raise ValueError(f"No exercise called {name!r}; did you mean {', '.join(near)}?")
    if answer is None or answer is ...:
        return Feedback(False, "Still empty: replace the … with your answer.", "아직 비어 있다. … 자리에 답을 써 보자.")
    return CHECKS[name](answer)


def names() -> list[str]:
    """The names of all exercises, chapter after chapter; every chapter's module is loaded for that."""
    for module in _modules():
        import_module(f"{__name__}.{module}")
    return sorted(CHECKS, key=lambda name: name.partition(".")[0])


def _modules() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if module.name.startswith("chapter_"))
