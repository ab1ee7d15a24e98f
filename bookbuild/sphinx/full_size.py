"""The page "At full size": runs found in results/, beside what the chapters report."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

from helpers.paper.stored import RESULTS

from ..svg import figure as element
from .claims_ledger import records


class FullSizeNode(nodes.General, nodes.Element):
    """Stands where the runs, or the estimate, will be, until every notebook has been read."""


class FullSize(SphinxDirective):
    """```{full-size} runs``` or ```{full-size} cost```"""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Leave a place for it, and remember the page."""
        env: Any = self.env
        if self.arguments[0] not in ("runs", "cost"):
            raise self.error(f"full-size shows runs or cost, not {self.arguments[0]!r}")
        env.book_full_size_pages = {*getattr(env, "book_full_size_pages", ()), env.docname}
        return [FullSizeNode(shown=self.arguments[0])]


def write_again(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Results and claims may have changed since the page was written."""
    return list(getattr(env, "book_full_size_pages", ()))


def fill(app: Sphinx, doctree: nodes.Element, docname: str) -> None:
    """Put the runs where the directive stood."""
    for node in list(doctree.findall(FullSizeNode)):
        from helpers.paper.page import cost_html, runs_html  # loads PyTorch, which no other page needs

        lang = app.config.language
        html = (runs_html(RESULTS, records(app.env), lang, as_svg) if node["shown"] == "runs"
                else cost_html(RESULTS / "cost.json", lang))
        node.replace_self(nodes.raw("", html, format="html"))


def as_svg(figure: Any, name: str, alt: str) -> str:
    """A figure that follows the page's theme, as those of the chapters do."""
    from helpers.paper.pictures import as_picture

    from ..drawing import svg

    drawing = svg(figure)
    return element(drawing, name, alt) if drawing else as_picture(figure, name, alt)


def setup(app: Sphinx) -> ExtensionMetadata:
    """Connect."""
    app.add_node(FullSizeNode)
    app.add_directive("full-size", FullSize)
    app.connect("env-updated", write_again)
    app.connect("doctree-resolved", fill)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
