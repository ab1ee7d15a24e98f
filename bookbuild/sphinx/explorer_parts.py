"""The data of explorers: written beside the pages as small scripts, each loaded when a reader asks for its view."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import nbformat
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

from helpers.explore.packing import PARTS_MIME, part_script
from helpers.explore.stored import part_at

from .preview import executed_copy

FOLDER = "_static/explorers"  # parts.js looks for it there


def parts_of(notebook: nbformat.NotebookNode) -> dict[str, dict[str, Any] | None]:
    """All parts in the outputs of an executed notebook, by their address; None for one that the package has stored."""
    found: dict[str, dict[str, Any] | None] = {}
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            found |= output.get("data", {}).get(PARTS_MIME, {})
    return found


def write_parts(app: Sphinx, error: Exception | None) -> None:
    """All parts of all pages, anew: nothing stays of an older build."""
    if error or app.builder.format != "html":
        return
    folder = Path(app.outdir, FOLDER)
    shutil.rmtree(folder, ignore_errors=True)
    for docname in app.env.found_docs:
        notebook = executed_copy(app, docname)
        for address, part in parts_of(notebook).items() if notebook else ():
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / f"{address}.js"
            if not path.exists():  # stored parts are shared by several pages
                path.write_text(part_script(address, part or part_at(address)), encoding="utf-8")


def setup(app: Sphinx) -> ExtensionMetadata:
    """Connect."""
    app.connect("build-finished", write_parts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
