"""The claims ledger: read from the outputs of executed notebooks, so that the page cannot disagree with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

from helpers.claims import ledger as claims
from helpers.claims import ledger_files
from helpers.paper.stored import RESULTS, evidence

from .preview import executed_copy

Record = dict[str, Any]


class LedgerNode(nodes.General, nodes.Element):
    """Stands where the ledger will be, until every notebook has been read."""


class ClaimsLedger(SphinxDirective):
    """```{claims-ledger}``` : all claims with their verdicts."""

    def run(self) -> list[nodes.Node]:
        """Leave a place for it, and remember the page."""
        env: Any = self.env
        env.book_ledger_docs = {*getattr(env, "book_ledger_docs", ()), env.docname}
        return [LedgerNode()]


def shows_verdicts(doctree: nodes.Element) -> bool:
    """Whether a page depends on what other pages report."""
    waiting = (claims.shows_verdicts(raw.astext()) for raw in doctree.findall(nodes.raw))
    return any(doctree.findall(LedgerNode)) or any(waiting)


def collect(app: Sphinx, doctree: nodes.document) -> None:
    """Remember what this page's notebook reports."""
    env: Any = app.env
    if shows_verdicts(doctree):
        env.book_ledger_pages = {*getattr(env, "book_ledger_pages", ()), env.docname}
    notebook = executed_copy(app, env.docname)
    if notebook is not None:
        found = claims.collect(notebook, f"{Path(env.docname).name}.ipynb")
        env.book_claims = getattr(env, "book_claims", {}) | {env.docname: found}


def forget(app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    """A page that will be read again or is gone."""
    getattr(env, "book_ledger_pages", set()).discard(docname)
    getattr(env, "book_claims", {}).pop(docname, None)


def records(env: BuildEnvironment) -> list[Record]:
    """What all notebooks report, in their order, with what results/ says at full size."""
    full_size = evidence(RESULTS)
    return [record | {"full_size": full_size.get(record["id"], [])}
            for _, found in sorted(getattr(env, "book_claims", {}).items()) for record in found]


def check(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Stop when a claim is unknown or reported twice; ask for the ledger to be written again."""
    try:
        claims.ledger(records(env))
    except ValueError as error:
        raise ExtensionError(str(error)) from error
    return list(getattr(env, "book_ledger_pages", ()))


def titles(env: BuildEnvironment) -> dict[str, str]:
    """What every page is called, by its file."""
    return {Path(docname).name: title.astext() for docname, title in env.titles.items()}


def fill(app: Sphinx, doctree: nodes.Element, docname: str) -> None:
    """Put the ledger where the directive stood, and verdicts into the maps that wait for them."""
    env, lang = app.env, app.config.language
    for raw in doctree.findall(nodes.raw):
        if claims.shows_verdicts(raw.astext()):
            filled = claims.fill_verdicts(raw.astext(), records(env), lang, titles(env))
            raw.children = [nodes.Text(filled)]
    for node in list(doctree.findall(LedgerNode)):
        html = claims.ledger_html(records(env), lang, titles(env))
        node.replace_self(nodes.raw("", html, format="html"))


def add_scripts(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any],
                doctree: nodes.document | None) -> None:
    """Scripts of cards and of the ledger, on the pages that have them."""
    if 'data-claim="' not in context.get("body", ""):
        return
    if 'class="ledger-page"' in context["body"]:
        app.add_js_file("ledger.js")
    app.add_js_file("guess.js")


def write_files(app: Sphinx, error: Exception | None) -> None:
    """The ledger to download, beside its page."""
    if error or app.builder.format != "html":
        return
    rows = claims.ledger(records(app.env))
    for docname in getattr(app.env, "book_ledger_docs", ()):
        page = Path(app.outdir, docname)
        page.with_suffix(".json").write_text(ledger_files.as_json(rows), encoding="utf-8")
        page.with_suffix(".csv").write_text(ledger_files.as_csv(rows), encoding="utf-8-sig")  # Excel needs the mark


def setup(app: Sphinx) -> ExtensionMetadata:
    """Connect."""
    app.add_node(LedgerNode)
    app.add_directive("claims-ledger", ClaimsLedger)
    app.connect("doctree-read", collect)
    app.connect("env-purge-doc", forget)
    app.connect("env-updated", check)
    app.connect("doctree-resolved", fill)
    app.connect("html-page-context", add_scripts)
    app.connect("build-finished", write_files)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
