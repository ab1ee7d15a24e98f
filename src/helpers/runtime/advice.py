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
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__package__")):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, stacklevel=level)


def _is_ours(package: str | None) -> bool:
    """Whether code belongs to this package, in whichever of its rooms."""
    ours = __name__.partition(".")[0]
    return package is not None and (package == ours or package.startswith(f"{ours}."))
