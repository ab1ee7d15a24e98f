"""A chapter in one picture."""

import pytest
from claim_samples import reported

from helpers.claims import forest, report
from helpers.claims.entries import load
from helpers.claims.forest_plot import forest_html
from helpers.claims.reports import LIST_MIME, completed


@pytest.mark.parametrize(("lang", "open_", "number"), [("en", "not reported yet", "nearest head"),
                                                       ("ko", "아직 보고되지 않음", "최소")])
def test_a_line_for_each_claim_with_its_number_and_verdict(invented, lang, open_, number):
    done = completed(reported().record)
    html = forest_html([(entry, done if id == "X01" else None) for id, entry in load().items()], lang)
    assert html.count("data-claim=") == 2 and html.count("<svg role") == 1
    assert open_ in html and number in html and "verdict-holds" in html


def test_in_a_kernel_it_draws_what_has_been_reported(invented):
    shown = lambda: forest("17")._repr_mimebundle_()["text/html"]
    assert "<svg role" not in shown()
    reported()
    assert shown().count("<svg role") == 2  # one in each language
    report("X02", {"same": 3})
    assert "verdict-fails" in shown()


def test_in_the_build_it_leaves_its_place_to_the_page(invented, monkeypatch):
    monkeypatch.setenv("BOOK_STATIC", "1")
    bundle = forest("17")._repr_mimebundle_()
    assert bundle == {LIST_MIME: {"kind": "forest", "ids": ["X01", "X02"]}, "text/plain": "X01, X02"}


def test_an_unknown_chapter_is_named():
    with pytest.raises(ValueError, match="no claims in chapter 99; give two digits"):
        forest("99")
