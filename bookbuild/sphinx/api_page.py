"""The page about `helpers`, made from docstrings by Sphinx's autodoc."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata


def without_constructor(app: Sphinx, what: str, *about: Any) -> tuple[str, None] | None:
    """A result is returned by its function, never built by a reader: its class is shown without arguments."""
    return ("", None) if what == "class" else None


def setup(app: Sphinx) -> ExtensionMetadata:
    """Connect."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-signature", without_constructor)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
