"""Checks for the exercises: each says whether an answer is right and, if it is not, what is probably wrong.

Every chapter has its module `chapter_NN`; its checks are registered when this package is imported.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import Any

from .base import CHECKS, Feedback

for _module in sorted(module.name for module in pkgutil.iter_modules(__path__)):
    import_module(f"{__name__}.{_module}")


def check(name: str, answer: Any) -> Feedback:
    """Is the answer to this exercise right? A function is tried out, a value is compared."""
    if name not in CHECKS:
        raise ValueError(f"No exercise called {name!r}; there are {', '.join(CHECKS)}.")
    if answer is None or answer is ...:
        return Feedback(False, "Still empty: replace the … with your answer.", "아직 비어 있다. … 자리에 답을 써 보자.")
    return CHECKS[name](answer)
