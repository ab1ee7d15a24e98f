"""The page "How we judge": a claim judged step by step, from what its chapter reports, and the list of amendments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

from helpers.claims import amendments, entries, policy
from helpers.claims.amendments import HERE

from .claims_ledger import records


class ExampleNode(nodes.General, nodes.Element):
    """Stands where a claim will be judged, until every notebook has been read."""


class ClaimExample(SphinxDirective):
    """```{claim-example} R33```"""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Leave a place for it, and remember the page."""
        env: Any = self.env
        try:
            entries.claim(self.arguments[0])
        except ValueError as error:
            raise self.error(str(error)) from error
        env.book_policy_pages = {*getattr(env, "book_policy_pages", ()), env.docname}
        return [ExampleNode(claim=self.arguments[0])]


class Amendments(SphinxDirective):
    """```{claims-amendments}```"""

    def run(self) -> list[nodes.Node]:
        """The table; the page is read again when amendments.yml changes."""
        self.env.note_dependency(str(Path(HERE) / "amendments.yml"))
        amendments.amendments.cache_clear()
        return [nodes.raw("", policy.amendments_html(str(self.config.language)), format="html")]


def write_again(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """What a chapter reports may have changed since the page was written."""
    return list(getattr(env, "book_policy_pages", ()))


def fill(app: Sphinx, doctree: nodes.Element, docname: str) -> None:
    """Put the example where the directive stood."""
    for node in list(doctree.findall(ExampleNode)):
        by_id = {record["id"]: record for record in records(app.env)}
        html = policy.example_html(node["claim"], by_id.get(node["claim"]), str(app.config.language))
        node.replace_self(nodes.raw("", html, format="html"))


def setup(app: Sphinx) -> ExtensionMetadata:
    """Connect."""
    app.add_node(ExampleNode)
    app.add_directive("claim-example", ClaimExample)
    app.add_directive("claims-amendments", Amendments)
    app.connect("env-updated", write_again)
    app.connect("doctree-resolved", fill)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
