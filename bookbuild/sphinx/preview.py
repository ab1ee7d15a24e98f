"""Outputs for `jupyter-book build .`, which reads the committed notebooks and executes nothing.

`make book` stages notebooks with outputs; a plain preview gets those of the last `make book`, when there was one.
"""

from __future__ import annotations

from pathlib import Path

import nbformat
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

from .. import paths
from ..staging import read_executed, with_outputs


def executed_copy(app: Sphinx, docname: str) -> nbformat.NotebookNode | None:
    """The executed notebook of a page; None for a page that is no notebook and for one that has not been executed."""
    source, root = Path(app.env.doc2path(docname)), Path(app.config.book_root)
    if source.suffix != ".ipynb" or not (paths.executed(root) / source.name).exists():
        return None
    return read_executed(root, source.name)


def add_outputs(app: Sphinx, docname: str, content: list[str]) -> None:
    """Put outputs into a notebook that has none."""
    source, executed = Path(app.env.doc2path(docname)), executed_copy(app, docname)
    if executed is None or any(cell.get("outputs") for cell in nbformat.reads(content[0], as_version=4).cells):
        return
    try:
        content[0] = nbformat.writes(with_outputs(source, executed))
    except paths.BuildError:
        return  # edited since: it is shown without outputs


def setup(app: Sphinx) -> ExtensionMetadata:
    """Connect."""
    app.add_config_value("book_root", str(paths.ROOT), "env", str)
    app.connect("source-read", add_outputs)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
