"""The page of the ledger: a line for each claim, and what the filters ask of it."""

import pytest
from claim_samples import Tags, reported

from helpers.claims import report
from helpers.claims.entries import load
from helpers.claims.ledger_page import ASKED, WORDS, answers, ledger_page
from helpers.claims.reports import completed


def rows(*reports, **more):
    done = {shown.record["id"]: completed(shown.record) | more for shown in reports}
    return [(entry, done.get(id)) for id, entry in load().items()]


def lines(html):
    """Claim → attributes of its line."""
    return {attributes["id"]: attributes for tag, attributes in Tags(html).seen if tag == "details"}


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_every_claim_has_a_line_that_answers_every_filter(invented, lang):
    found = lines(ledger_page(rows(reported()), lang))
    assert list(found) == ["X01", "X02"]
    for attributes in found.values():
        assert all(attributes[f"data-{name}"] for name in ASKED)
    assert (found["X01"]["data-by"], found["X01"]["data-verdict"]) == ("learned", "holds")
    assert found["X02"]["data-verdict"] == "open"


def test_a_line_says_what_stands_behind_it(invented):
    html = ledger_page(rows(reported()), "en")
    for text in ("Holds if “nearest head” &lt; 0.3", "No number.", "Off by −0.2.", "17_cka.html#claim-X01",
                 "nearest head: 0.2"):
        assert text in html, text
    assert WORDS["en"]["missing"].format(17) in html


def test_filters_ask_by_what_it_holds_and_by_scale(invented):
    entry, done = rows(reported(untrained={"near": 0.1, "gap": 1}))[0]
    assert answers(entry, done)["by"] == "other" and answers(entry, done)["scale"] == "lab"
    full = lambda verdict: [{"run": "r", "networks": ["n"], "untrained": [], "trained": {"values": {}, "verdict": verdict}}]
    assert answers(entry, done | {"full_size": full("holds")})["scale"] == "full"
    assert answers(entry, done | {"full_size": full("fails")})["scale"] == "full differs"
    failed = completed(report("X02", {"same": 3}).record)
    assert answers(load()["X02"], failed)["by"] == "not"


def test_the_filters_wait_for_a_script(invented):
    form = next(attributes for tag, attributes in Tags(ledger_page(rows(), "en")).seen if tag == "form")
    assert "hidden" in form
