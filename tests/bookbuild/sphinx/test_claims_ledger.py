"""Pages that show verdicts are written again; claims that are unknown or reported twice stop the build."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from docutils import nodes
from sphinx.errors import ExtensionError

from bookbuild.sphinx import claims_ledger
from helpers.claims import overview


def environment(**chapters: tuple[str, ...]) -> SimpleNamespace:
    """A Sphinx environment that has read these chapters, each with a cell that reports these claims."""
    read = {name: [{"id": id, "where": f"{name}, cell 2"} for id in ids] for name, ids in chapters.items()}
    return SimpleNamespace(book_claims=read, book_ledger_pages={"ledger"}, titles={})


def test_a_page_with_an_overview_is_written_again_too():
    shown = overview("18")._repr_mimebundle_()["text/html"]
    document = nodes.container("", nodes.raw("", shown, format="html"))
    assert claims_ledger.shows_verdicts(document)
    assert claims_ledger.shows_verdicts(nodes.container("", claims_ledger.LedgerNode()))
    assert not claims_ledger.shows_verdicts(nodes.container("", nodes.raw("", "<p>claims</p>", format="html")))
    app = SimpleNamespace(env=environment(), config=SimpleNamespace(language="ko"))
    claims_ledger.fill(app, document, "29_discussion")
    assert "아직 재지 않음" in document.astext() and "not measured" not in document.astext()


def test_ledger_is_written_again_when_claims_may_have_changed():
    assert claims_ledger.check(None, environment(a_cka=("R02", "R03"))) == ["ledger"]


def test_claim_reported_twice_stops_the_build():
    env = environment(a_cka=("R02",), b_other=("R03", "R02"))
    with pytest.raises(ExtensionError, match="b_other, cell 2: claim R02 was already reported by a_cka, cell 2"):
        claims_ledger.check(None, env)


def test_unknown_claim_stops_the_build():
    with pytest.raises(ExtensionError, match="a_cka, cell 2: claim 'R99x' is in no chapter's file"):
        claims_ledger.check(None, environment(a_cka=("R99x",)))
