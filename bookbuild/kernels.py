"""Kernels whose sockets nobody else can take."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator

from traitlets.config import Config


@contextlib.contextmanager
def own_sockets() -> Iterator[Config]:
    """Settings for a kernel's manager or client: it listens on files in a folder of its own.

    With TCP, which Windows keeps, Jupyter looks for free ports, lets go of them and starts the kernel, which takes them
    seconds later. Where much is going on, another process may be faster, and the kernel dies: "Address already in use".
    """
    if os.name == "nt":
        yield Config()
        return
    with tempfile.TemporaryDirectory(prefix="kernel-", ignore_cleanup_errors=True) as folder:
        yield Config(KernelManager={"transport": "ipc", "ip": f"{folder}/socket"})
