"""Warnings that point at the reader's own line, however deep inside the package they arise."""

from __future__ import annotations

import sys
import warnings

from .distributed import current


def warn(message: str) -> None:
    """Give a warning whose place is the first caller outside this package; of several processes, the first gives it."""
    if current().rank > 0:
        return
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__package__") == __package__:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, stacklevel=level)
