"""The claims ledger: verdicts are read from the outputs of executed notebooks, so the page cannot disagree with them."""

from __future__ import annotations

import json
from pathlib import Path

from docutils import nodes
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

from helpers import claims


class LedgerNode(nodes.General, nodes.Element):
    """Stands where the ledger will be, until every notebook has been read."""


class ClaimsLedger(SphinxDirective):
    """```{claims-ledger}``` : all claims with their verdicts."""

    def run(self):
        self.env.book_ledger_pages = {*getattr(self.env, "book_ledger_pages", ()), self.env.docname}
        return [LedgerNode()]


def collect(app, doctree):
    """Remember what this page's notebook reports; myst-nb has just written it, executed, beside the output."""
    docname = app.env.docname
    executed = Path(app.env.mystnb_config.output_folder, f"{docname}.ipynb")
    if "kernelspec" in app.env.metadata[docname] and executed.is_file():
        _store(app.env)[docname] = reported(json.loads(executed.read_text(encoding="utf-8")))


def reported(notebook: dict) -> list[tuple[int, dict]]:
    """(cell number from 1, claim record) for every claim in a notebook's outputs."""
    return [
        (number, output["data"][claims.MIME])
        for number, cell in enumerate(notebook["cells"], start=1)
        for output in cell.get("outputs", [])
        if claims.MIME in output.get("data", {})
    ]


def check(app, env):
    """Stop when a claim is unknown or reported twice; ask for the ledger to be written again."""
    known, seen = claims.load(), {}
    for docname, found in sorted(_store(env).items()):
        for number, record in found:
            here = f"{docname}, cell {number}"
            if record["id"] not in known:
                raise ExtensionError(f"{here}: claim {record['id']!r} is not in book/claims.yml")
            if record["id"] in seen:
                raise ExtensionError(f"{here}: claim {record['id']} was already reported by {seen[record['id']]}")
            seen[record["id"]] = here
    return list(getattr(env, "book_ledger_pages", ()))


def fill(app, doctree, docname):
    """Put the table where the directive stood."""
    for node in list(doctree.findall(LedgerNode)):
        records = [record for found in _store(app.env).values() for _, record in found]
        node.replace_self(nodes.raw("", claims.ledger_html(records, app.config.language), format="html"))


def _store(env) -> dict[str, list[tuple[int, dict]]]:
    if not hasattr(env, "book_claims"):
        env.book_claims = {}
    return env.book_claims


def forget(app, env, docname):
    _store(env).pop(docname, None)


def setup(app):
    app.add_node(LedgerNode)
    app.add_directive("claims-ledger", ClaimsLedger)
    app.connect("doctree-read", collect)
    app.connect("env-purge-doc", forget)
    app.connect("env-updated", check)
    app.connect("doctree-resolved", fill)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
