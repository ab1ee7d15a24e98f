"""The page "At full size": runs found in results/, beside what the chapters report."""

from __future__ import annotations

from pathlib import Path

from claims_ledger import records
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from helpers.paper.page import cost_html, runs_html

RESULTS = Path(__file__).resolve().parents[2] / "results"


class FullSizeNode(nodes.General, nodes.Element):
    """Stands where the runs, or the estimate, will be, until every notebook has been read."""


class FullSize(SphinxDirective):
    """```{full-size} runs``` or ```{full-size} cost```"""

    required_arguments = 1

    def run(self):
        if self.arguments[0] not in ("runs", "cost"):
            raise self.error(f"full-size shows runs or cost, not {self.arguments[0]!r}")
        self.env.book_full_size_pages = {*getattr(self.env, "book_full_size_pages", ()), self.env.docname}
        return [FullSizeNode(shown=self.arguments[0])]


def write_again(app, env):
    """Results and claims may have changed since the page was written."""
    return list(getattr(env, "book_full_size_pages", ()))


def fill(app, doctree, docname):
    """Put the runs where the directive stood."""
    for node in list(doctree.findall(FullSizeNode)):
        lang = app.config.language
        html = (runs_html(RESULTS, records(app.env), lang) if node["shown"] == "runs"
                else cost_html(RESULTS / "cost.json", lang))
        node.replace_self(nodes.raw("", html, format="html"))


def setup(app):
    app.add_node(FullSizeNode)
    app.add_directive("full-size", FullSize)
    app.connect("env-updated", write_again)
    app.connect("doctree-resolved", fill)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
