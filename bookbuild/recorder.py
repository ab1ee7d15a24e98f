"""Runs inside the kernel of a notebook: notes which files it opens for reading, which folders it lists, which claims
it asks for.

It is loaded by path before the first cell and imports nothing that a notebook could lack. Its notes go to a file at
once, so that forked workers are noted too and a kernel that dies has said what it knew.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

IMPORTING = ("importlib", "pkgutil", "_frozen_importlib")  # they list folders to find modules, not to know their files
_seen: set[tuple[str, str]] = set()
_log = -1


def start(log: str) -> None:
    """From now on, note into the file `log`."""
    global _log
    _log = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    sys.addaudithook(_hook)


def finish() -> None:
    """Note the files of all loaded modules: bytecode may be kept where their own files are not opened."""
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None)
        if name != __name__ and isinstance(path, str):
            _note("file", path)


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if event == "open":
        path, mode, flags = args
        if _reads(mode, flags):
            _note("file", path)
    elif event == "helpers.claims.used":
        _note("claims", args[0])
    elif event in ("os.listdir", "os.scandir"):
        caller = str(sys._getframe(1).f_globals.get("__name__"))
        if not caller.startswith(IMPORTING):
            _note("folder", "." if args[0] is None else args[0])


def _reads(mode: Any, flags: int) -> bool:
    if isinstance(mode, str):
        return not set(mode) & set("wax")
    return not flags & (os.O_WRONLY | os.O_RDWR)  # os.open


def _note(kind: str, path: Any) -> None:
    if not isinstance(path, (str, bytes, os.PathLike)):
        return  # a file that is open already
    note = (kind, os.path.realpath(os.fsdecode(path)))
    if note not in _seen:
        _seen.add(note)
        os.write(_log, (json.dumps(note) + "\n").encode())
