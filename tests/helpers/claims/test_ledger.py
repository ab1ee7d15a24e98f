"""The ledger is what the notebooks say."""

import json
import re

import nbformat
import pytest
from claim_samples import Tags, reported

from helpers.claims import cards, ledger, overview, report
from helpers.claims.render import WORDS


def notebook(*reports):
    """One markdown cell, then one code cell for each report."""
    cells = [nbformat.v4.new_markdown_cell("# Title")]
    for shown in reports:
        bundle = shown._repr_mimebundle_()
        cells.append(nbformat.v4.new_code_cell("report(…)", outputs=[nbformat.v4.new_output("display_data", bundle)]))
    return nbformat.v4.new_notebook(cells=cells)


def executed(*reports, name="17_cka.ipynb"):
    """Records collected from a notebook as it lies on the disk."""
    return ledger.collect(json.loads(nbformat.writes(notebook(*reports))), name)


def test_ledger_has_every_claim_in_order_with_its_record(invented):
    rows = ledger.ledger(executed(report("X02", {"same": 4})))
    assert [(entry["id"], record and record["verdict"]) for entry, record in rows] == [("X01", None), ("X02", "holds")]
    assert rows[1][1]["where"] == "17_cka.ipynb, cell 2"


def test_claim_reported_twice_names_both_places(invented):
    records = executed(reported()) + executed(reported(), name="18_more.ipynb")
    places = r"18_more\.ipynb, cell 2: claim X01 was already reported by 17_cka\.ipynb, cell 2"
    with pytest.raises(ValueError, match=places):
        ledger.ledger(records)


def test_unknown_claim_in_an_output_names_the_place(invented):
    records = executed(reported())
    records[0]["id"] = "R99"
    with pytest.raises(ValueError, match=r"17_cka\.ipynb, cell 2: claim 'R99' is in no chapter's file"):
        ledger.ledger(records)


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_ledger_page_shows_verdicts_links_and_what_is_missing(invented, lang):
    invented["X02"]["chapter"] = "18_more"
    page = ledger.ledger_html(executed(reported(untrained={"near": 0.1, "gap": 1})), lang, {"17_cka": "17. Title"})
    links = [attributes["href"] for tag, attributes in Tags(page).seen if tag == "a"]
    assert {"17_cka.html#claim-X01", "ledger.html#X02", "ledger.csv", "ledger.json"} <= set(links)
    assert WORDS[lang]["by architecture"] in page and ">17. Title</a>" in page


def test_ledger_as_text_from_the_command_line(invented, tmp_path, monkeypatch, capsys):
    nbformat.write(notebook(report("X02", {"same": 4})), tmp_path / "17_cka.ipynb")
    monkeypatch.setattr("sys.argv", ["claims", str(tmp_path / "17_cka.ipynb")])
    ledger.main()
    printed = capsys.readouterr().out.splitlines()
    assert next(line for line in printed if line.startswith("X02")).endswith("[cells that agree: 4]")
    assert printed[-1] == "not measured yet 1 · holds 1"


def test_command_line_says_what_to_do_without_notebooks(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["claims"])
    with pytest.raises(SystemExit, match="run `make book` first"):
        ledger.main()


def test_an_overview_shows_the_verdicts_of_its_build(invented):
    shown = overview("17")._repr_mimebundle_()["text/html"]
    assert shown.count("map-open") >= 2 * 2 and ledger.shows_verdicts(shown) and not ledger.shows_verdicts("<div>")
    records = executed(reported(untrained={"near": 0.1, "gap": 1}), report("X02", {"same": 3}))
    korean = ledger.fill_verdicts(f"<p>before</p>{shown}<p>after</p>", records, "ko")
    assert korean.startswith("<p>before</p>") and korean.endswith("<p>after</p>")
    assert korean.count("map-fails map-pale") == 2 and korean.count("map-holds map-hollow") == 2
    assert "Chapter" not in re.sub(r"<[^>]*>", "", korean)


def test_a_map_that_names_no_chapters_shows_all(invented):
    place = '<div class="verdict-map" data-chapters=""></div><!--end of map-->'
    filled = ledger.fill_verdicts(f"{place}<p>after</p>", executed(reported()), "en")
    assert "ledger.html#X01" in filled and "ledger.html#X02" in filled and filled.endswith("<p>after</p>")


def test_one_record_makes_card_forest_map_and_ledger_line(invented):
    """A value that changes changes all four."""
    def drawn(near):
        shown = reported(trained={"near": near})
        (record,) = records = executed(shown)
        whole = ledger.ledger_html(records, "en")
        forest = cards.rendered_list({"kind": "forest", "ids": ["X01"]}, {"X01": shown.record})["text/html"]
        return cards.rendered(shown.record)["text/html"], forest, whole.partition("ledger-lines")[0], whole, record["verdict"]

    good, bad = drawn(0.2), drawn(0.9)
    assert (good[-1], bad[-1]) == ("holds", "fails")
    for before, after in zip(good[:-1], bad[:-1], strict=True):
        assert "holds" in before and "-fails" in after and "-fails" not in before.partition("map-legend")[0]
    for before, after in zip((good[0], good[1], good[3]), (bad[0], bad[1], bad[3]), strict=True):
        assert "trained 0.2" in before and "trained 0.9" in after and "trained 0.2" not in after
