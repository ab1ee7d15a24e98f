"""The verdict map: one cell for each claim, whoever draws it."""

import re

from claim_samples import Tags, reported

from helpers.claims import report
from helpers.claims.entries import load
from helpers.claims.reports import completed
from helpers.claims.verdict_map import map_html


def rows(*reports):
    done = {shown.record["id"]: completed(shown.record) for shown in reports}
    return [(entry, done.get(id)) for id, entry in load().items()]


def cells(html):
    """Claim → (classes, address, what is said of it)."""
    return {attributes["data-claim"]: (attributes["class"].split()[1:], attributes["href"], attributes["aria-label"])
            for tag, attributes in Tags(html).seen if "map-cell" in attributes.get("class", "")
            and tag == "a"}


def test_a_cell_shows_verdict_and_control_and_leads_to_the_ledger(invented):
    found = cells(map_html(rows(reported(), report("X02", {"same": 4})), "en"))
    assert found["X01"][:2] == (["map-holds", "map-solid"], "ledger.html#X01")
    assert found["X02"][0] == ["map-holds", "map-pale"]
    assert found["X01"][2] == "X01: Heads look near. holds, learned; untrained networks do not meet it"


def test_what_random_weights_do_too_is_hollow(invented):
    found = cells(map_html(rows(reported(untrained={"near": 0.1, "gap": 1})), "ko"))
    assert found["X01"][0] == ["map-holds", "map-hollow"] and "학습하지 않은 신경망도 충족" in found["X01"][2]
    assert found["X02"][0] == ["map-open", "map-pale"]


def test_counts_keep_learning_architecture_and_arithmetic_apart(invented):
    html = map_html(rows(reported(), report("X02", {"same": 4})), "en")
    assert re.findall(r"<strong>(\d+)</strong> (\w+)", html) == [("1", "learning"), ("0", "architecture"), ("1", "arithmetic")]
    html = map_html(rows(reported(trained={"near": 0.9})), "en")
    assert "✗ fails 1" in html and "not measured yet 1" in html


def test_chapters_have_their_titles_where_they_are_known(invented):
    assert ">Chapter 17</a>" in map_html(rows(), "en")
    assert ">17. CKA</a>" in map_html(rows(), "en", {"17_cka": "17. CKA"})
