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


class WaitingNode(nodes.General, nodes.Element):
    """Stands where something judged will be, until every notebook has been read."""


class Waiting(SphinxDirective):
    """Leaves a place, and remembers the page."""

    def run(self) -> list[nodes.Node]:
        """A claim's id, or none for all claims."""
        env: Any = self.env
        for id in self.arguments:
            try:
                entries.claim(id)
            except ValueError as error:
                raise self.error(str(error)) from error
        env.book_policy_pages = {*getattr(env, "book_policy_pages", ()), env.docname}
        return [WaitingNode(claims=list(self.arguments))]


class ClaimExample(Waiting):
    """```{claim-example} R33``` : one claim judged step by step."""

    required_arguments = 1


class AfterHolm(Waiting):
    """```{claims-after-holm}``` : verdicts that do not survive the correction within their chapter."""


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
    """Put what was judged where a directive stood."""
    found, lang = records(app.env), str(app.config.language)
    by_id = {record["id"]: record for record in found}
    for node in list(doctree.findall(WaitingNode)):
        shown = [policy.example_html(id, by_id.get(id), lang) for id in node["claims"]]
        html = "".join(shown) or policy.holm_html(found, lang)
        node.replace_self(nodes.raw("", html, format="html"))


def setup(app: Sphinx) -> ExtensionMetadata:
    """Connect."""
    app.add_node(WaitingNode)
    app.add_directive("claim-example", ClaimExample)
    app.add_directive("claims-after-holm", AfterHolm)
    app.add_directive("claims-amendments", Amendments)
    app.connect("env-updated", write_again)
    app.connect("doctree-resolved", fill)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
