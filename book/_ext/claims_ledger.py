"""The claims ledger: read from the outputs of executed notebooks, so that the page cannot disagree with them."""

from __future__ import annotations

from pathlib import Path

import nbformat
from docutils import nodes
from jupyter_cache import get_cache
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

from helpers import claims


class LedgerNode(nodes.General, nodes.Element):
    """Stands where the ledger will be, until every notebook has been read."""


class ClaimsLedger(SphinxDirective):
    """```{claims-ledger}``` : all claims with their verdicts."""

    def run(self):
        return [LedgerNode()]


def shows_verdicts(doctree) -> bool:
    """Whether a page depends on what other pages report."""
    waiting = (claims.shows_verdicts(raw.astext()) for raw in doctree.findall(nodes.raw))
    return any(doctree.findall(LedgerNode)) or any(waiting)


def executed_copy(env, docname: str) -> Path:
    """Where the notebook of a page is kept with its outputs."""
    return Path(env.mystnb_config.output_folder, f"{docname}.ipynb")


def collect(app, doctree):
    """Remember what this page's notebook reports; when a page has been read, its notebook is in the cache."""
    env, docname = app.env, app.env.docname
    if shows_verdicts(doctree):
        env.book_ledger_pages = {*getattr(env, "book_ledger_pages", ()), docname}
    if Path(env.doc2path(docname)).suffix == ".ipynb":
        cache = get_cache(env.mystnb_config.execution_cache_path)
        _, executed = cache.merge_match_into_notebook(nbformat.read(env.doc2path(docname), as_version=4))
        env.book_claims = getattr(env, "book_claims", {}) | {docname: claims.collect(executed, f"{docname}.ipynb")}
        # myst-nb leaves a copy without the outputs here; `make claims` and explorer_parts read the one that has them.
        nbformat.write(executed, executed_copy(env, docname))


def forget(app, env, docname):
    """A page that will be read again or is gone."""
    getattr(env, "book_ledger_pages", set()).discard(docname)
    getattr(env, "book_claims", {}).pop(docname, None)


def records(env) -> list[dict]:
    """What all notebooks report, in their order."""
    return [record for _, found in sorted(getattr(env, "book_claims", {}).items()) for record in found]


def check(app, env):
    """Stop when a claim is unknown or reported twice; ask for the ledger to be written again."""
    try:
        claims.ledger(records(env))
    except ValueError as error:
        raise ExtensionError(str(error)) from error
    return list(getattr(env, "book_ledger_pages", ()))


def fill(app, doctree, docname):
    """Put the table where the directive stood, and verdicts where a page waits for them."""
    for raw in doctree.findall(nodes.raw):
        if claims.shows_verdicts(raw.astext()):
            filled = claims.fill_verdicts(raw.astext(), records(app.env), app.config.language)
            raw.children = [nodes.Text(filled)]
    for node in list(doctree.findall(LedgerNode)):
        node.replace_self(nodes.raw("", claims.ledger_html(records(app.env), app.config.language), format="html"))


def setup(app):
    app.add_node(LedgerNode)
    app.add_directive("claims-ledger", ClaimsLedger)
    app.connect("doctree-read", collect)
    app.connect("env-purge-doc", forget)
    app.connect("env-updated", check)
    app.connect("doctree-resolved", fill)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
