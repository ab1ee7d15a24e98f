"""The page on how we judge is written again with what the chapters report."""

from types import SimpleNamespace

from docutils import nodes

from bookbuild.sphinx import policy


def test_what_waits_is_filled_with_what_was_reported():
    example, holm = policy.WaitingNode(claims=["R33"]), policy.WaitingNode(claims=[])
    document = nodes.container("", example, holm)
    app = SimpleNamespace(env=SimpleNamespace(book_claims={}), config=SimpleNamespace(language="en"))
    policy.fill(app, document, "how_we_judge")
    assert "Chapter 24 has not been run" in document.astext() and "All 0 such verdicts" in document.astext()


def test_pages_with_judged_claims_are_written_again():
    assert policy.write_again(None, SimpleNamespace(book_policy_pages={"how_we_judge"})) == ["how_we_judge"]
    assert policy.write_again(None, SimpleNamespace()) == []
