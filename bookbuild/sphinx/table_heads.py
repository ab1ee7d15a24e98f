"""Cells that head a column or a row say so, whoever wrote the table: Markdown, pandas or a claim card."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

HEAD = re.compile(r"<thead\b.*?</thead>", re.DOTALL)
TABLE = re.compile(r"<table\b.*?</table>", re.DOTALL)
CELL = re.compile(r"<th\b(?![^>]*\bscope=)")


def with_scopes(html: str) -> str:
    """Tables whose heading cells have a scope: columns in the head, rows below it."""
    return TABLE.sub(lambda table: CELL.sub('<th scope="row"', HEAD.sub(_of_columns, table[0])), html)


def _of_columns(head: re.Match[str]) -> str:
    """Scopes of a head; a cell over several columns heads their group."""
    wide = re.sub(r"<th\b(?=[^>]*\bcolspan=)(?![^>]*\bscope=)", '<th scope="colgroup"', head[0])
    return CELL.sub('<th scope="col"', wide)


def add_scopes(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Mend the tables of a page."""
    if "body" in context:
        context["body"] = with_scopes(context["body"])


def setup(app: Sphinx) -> ExtensionMetadata:
    """Connect."""
    app.connect("html-page-context", add_scopes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
