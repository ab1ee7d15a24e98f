"""Claims: what may be reported, how it reads, and that the ledger is what the notebooks say."""

import json
import re
from html.parser import HTMLParser

import nbformat
import numpy as np
import pytest
import torch
import yaml
from jupyter_client.manager import KernelManager
from kernels import own_sockets

from helpers import claims
from helpers.claims.render import WORDS, number_text, source_text, value_text
from sample_book import ROOT

NOTE = {"en": "A property of the measure.", "ko": "척도의 성질이다."}


def good(id="R02", **changes):
    """A report that is accepted, with changes."""
    facts = {"measured": 0.25, "control": 0.5, "control_holds": False, "verdict": "holds"}
    return claims.report(id, **facts | changes)


def executed(*reports, name="17_cka.ipynb"):
    """Records collected from a notebook with one markdown cell and one code cell for each report."""
    cells = [nbformat.v4.new_markdown_cell("# Title")]
    for report in reports:
        bundle = report._repr_mimebundle_()
        cells.append(nbformat.v4.new_code_cell("report(…)", outputs=[nbformat.v4.new_output("display_data", bundle)]))
    notebook = nbformat.v4.new_notebook(cells=cells)
    return claims.collect(json.loads(nbformat.writes(notebook)), name)


# ------------------------------------------------------------------------------------------------- claims.yml


def test_every_claim_is_complete():
    assert len(claims.load()) == 92
    chapters = {entry["file"] for part in toc()["parts"] for entry in part["files"]}
    for entry in claims.load().values():
        assert set(entry) == {"id", "chapter", "paper", "section", "kind", "statement", "paper_value", "test"}
        assert re.fullmatch(r"[BVR]\d\d", entry["id"])
        assert entry["chapter"] in chapters, entry["id"]
        assert entry["kind"] in ("E", "T", "D", "E/T"), entry["id"]
        assert all(set(entry[part]) == {"en", "ko"} for part in ("statement", "paper_value", "test")), entry["id"]


def test_place_in_the_paper_reads_korean_in_korean():
    for entry in claims.load().values():
        place = source_text(entry, "ko").split(" · ")[0].removeprefix(WORDS["ko"][entry["paper"]])
        assert not re.search(r"[A-Za-z]{2,}", place), place


def toc():
    return yaml.safe_load((ROOT / "book" / "toc.yml").read_text(encoding="utf-8"))


def test_ids_are_those_of_the_two_papers():
    expected = [f"{letter}{n:02d}" for letter, last in (("B", 6), ("V", 38), ("R", 48)) for n in range(1, last + 1)]
    assert list(claims.load()) == expected


def test_book_and_package_share_one_file():
    link = ROOT / "book" / "claims.yml"
    assert link.resolve() == (ROOT / "src" / "helpers" / "claims.yml").resolve()


# ------------------------------------------------------------------------------------------------- the report


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"id": "R2"}, "unknown claim 'R2'; the nearest ids are R02"),
        ({"id": "X99"}, "unknown claim 'X99'"),
        ({"verdict": "true"}, "unknown verdict 'true'; one of holds, partly, fails, untestable"),
        ({"control": None, "control_holds": None}, "measure the untrained network too"),
        ({"control_holds": None}, "say whether the untrained network satisfies the claim too"),
        ({"control_holds": True}, "explain in note"),
        ({"measured": float("nan")}, "measured of R02 is nan"),
        ({"measured": {"drift": [1, 2]}}, "'drift' in measured of R02"),
        ({"measured": torch.zeros(3)}, "measured of R02 is tensor"),
        ({"interval": (0.5, 0.1)}, "must be (low, high)"),
        ({"note": {"en": "Only English."}}, "note must be"),
        ({"note": {"en": "Text.", "ko": ""}}, "note must be"),
    ],
)
def test_bad_report_is_refused_with_a_reason(changes, complaint):
    with pytest.raises(ValueError, match=re.escape(complaint)):
        good(**changes)


def test_arithmetic_and_untestable_claims_need_no_control():
    assert claims.claim("V02")["kind"] == "D"
    claims.report("V02", measured=88.55, verdict="holds")
    claims.report("R02", measured="–", verdict="untestable")
    claims.report("R02", measured=1, verdict="holds", control_reason={"en": "No weights.", "ko": "가중치가 없다."})


@pytest.mark.parametrize(("control", "outcome", "holds"), [
    ("holds", "holds", True), ("holds", "partly", True), ("partly", "holds", False), ("fails", "fails", False)])
def test_a_control_counts_if_it_earns_no_less(control, outcome, holds):
    text = {"en": "Why.", "ko": "까닭."}
    report = good(control_holds=None, control_verdict=control, verdict=outcome, note=text)
    assert report.record["control_holds"] is holds


def test_korean_names_of_values():
    report = good(measured={"first": 1, "last": 2}, control={"first": 3, "last": 4}, korean=["첫째", "끝"])
    assert report.record["measured"] == {"en": [["first", 1], ["last", 2]], "ko": [["첫째", 1], ["끝", 2]]}
    assert report.record["control"]["ko"] == [["첫째", 3], ["끝", 4]]
    with pytest.raises(ValueError, match=r"2 values \(first, last\) and 1 Korean names"):
        good(measured={"first": 1, "last": 2}, korean=["첫째"])


@pytest.mark.parametrize(
    ("holds", "partly", "name"),
    [(True, False, "holds"), (True, True, "partly"), (False, True, "fails"), (False, False, "fails"),
     (None, False, "untestable")],
)
def test_verdict_names(holds, partly, name):
    assert claims.verdict(holds, partly=partly) == name


def test_record_keeps_the_facts_as_json():
    report = good(
        measured={"rotation": torch.tensor(1e-9, dtype=torch.float64), "scale": np.float32(0.5), "n": np.int64(7)},
        interval=(0.1, 0.9),
        control_holds=np.bool_(True),
        note=NOTE,
    )
    record = json.loads(json.dumps(report._repr_mimebundle_()[claims.MIME], allow_nan=False))
    assert record["measured"] == [["rotation", 1e-9], ["scale", 0.5], ["n", 7]]
    assert (record["interval"], record["control_holds"], record["note"]) == ([0.1, 0.9], True, NOTE)


def test_card_tells_both_languages_everything():
    bundle = good(measured={"drift": 0.04567}, control_holds=True, note=NOTE, interval=(-0.1, 0.2))._repr_mimebundle_()
    for text in (bundle["text/html"], bundle["text/plain"]):
        for lang, interval in (("en", "interval −0.1 to 0.2"), ("ko", "구간 −0.1~0.2")):
            entry, words = claims.claim("R02"), WORDS[lang]
            parts = [entry["statement"][lang], entry["paper_value"][lang], words["holds"], words["no evidence"]]
            assert all(part in text for part in [*parts, NOTE[lang], interval]), (lang, text)
        assert "drift: 0.0457" in text and "✓" in text


def card_says(lang: str = "en", **report) -> set[str]:
    """Which of the two sentences about the untrained network a card has."""
    html = good(**report)._repr_mimebundle_()["text/html"]
    return {key for key in ("no evidence", "before") if WORDS[lang][key] in html}


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_card_does_not_doubt_what_training_brought(lang):
    assert card_says(lang, control_holds=False) == card_says(lang, control_holds=False, verdict="fails") == set()
    assert card_says(lang, control_holds=True, note=NOTE) == {"no evidence"}


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_card_tells_that_training_took_something_away(lang):
    assert card_says(lang, control_holds=True, verdict="fails") == {"before"}
    assert card_says(lang, control_verdict="partly", verdict="fails") == {"before"}
    assert card_says(lang, control_verdict="fails", verdict="fails") == set()


class Tags(HTMLParser):
    """Checks that tags are closed in order and remembers what it saw."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen = [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        self.seen.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_card_is_sound_html_and_escapes_what_it_is_told():
    evil = "<script>alert('&')</script>"
    report = good(measured={evil: evil}, control=evil, note={"en": evil, "ko": evil})
    seen = Tags(report._repr_mimebundle_()["text/html"]).seen
    assert "script" not in {tag for tag, _ in seen}
    assert [attributes["lang"] for _, attributes in seen if attributes.get("class") == "claim-text"] == ["en", "ko"]
    assert seen[0][1] == {"class": "claim claim-holds", "id": "claim-R02"}


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.8912, "0.891"), (3.2e-07, "3.2e−7"), (1e-9, "1e−9"), (10240, "10,240"), (0.0, "0"), (-0.5, "−0.5"),
     (12345.6, "12,346"), (100.0, "100")],
)
def test_numbers_are_short(value, text):
    assert number_text(value) == text


def test_values_may_be_bilingual_at_any_level():
    value = {"en": [["drift", 0.5]], "ko": [["변화", 0.5]]}
    assert (value_text(value, "en"), value_text(value, "ko")) == ("drift: 0.5", "변화: 0.5")
    assert value_text([["stable", True], ["who", {"en": "all", "ko": "모두"}]], "ko") == "stable: 예 · who: 모두"


@pytest.mark.notebooks
def test_second_cell_is_refused_and_the_same_cell_may_run_again():
    with own_sockets() as config:
        manager = KernelManager(kernel_name="python3", config=config)
        manager.start_kernel()
        client = manager.client()
        try:
            client.start_channels()
            client.wait_for_ready(timeout=300)
            code = "from helpers.claims.report import report; report('V02', measured=1, verdict='holds')"
            replies = [run_cell(client, code, cell) for cell in ("first", "first", "second")]
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)
    assert [reply["status"] for reply in replies] == ["ok", "ok", "error"]
    assert "V02 was already reported by another cell" in replies[2]["evalue"]


def run_cell(client, code, cell_id):
    """Execute like JupyterLab, which says which cell it is."""
    content = {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False}
    message = client.session.msg("execute_request", content, metadata={"cellId": cell_id})
    client.shell_channel.send(message)
    while True:
        reply = client.get_shell_msg(timeout=300)
        if reply["parent_header"].get("msg_id") == message["header"]["msg_id"]:
            return reply["content"]


# ------------------------------------------------------------------------------------------------- the ledger


def test_ledger_has_every_claim_in_order_with_its_record():
    rows = claims.ledger(executed(good("R03", verdict="fails"), good("R02")))
    assert [entry["id"] for entry, _ in rows] == list(claims.load())
    found = {entry["id"]: record for entry, record in rows if record}
    assert set(found) == {"R02", "R03"} and found["R03"]["where"] == "17_cka.ipynb, cell 2"


def test_claim_reported_twice_names_both_places():
    records = executed(good()) + executed(good(), name="18_more.ipynb")
    places = r"18_more\.ipynb, cell 2: claim R02 was already reported by 17_cka\.ipynb, cell 2"
    with pytest.raises(ValueError, match=places):
        claims.ledger(records)


def test_unknown_claim_in_an_output_names_the_place():
    records = executed(good())
    records[0]["id"] = "R99"
    with pytest.raises(ValueError, match=r"17_cka\.ipynb, cell 2: claim 'R99' is not in claims\.yml"):
        claims.ledger(records)


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_ledger_page_shows_verdicts_links_and_what_is_missing(lang):
    page = claims.ledger_html(executed(good(control_holds=True, note=NOTE)), lang)
    words, other = WORDS[lang], WORDS["ko" if lang == "en" else "en"]
    seen = Tags(page).seen
    assert sum(tag == "tr" for tag, _ in seen) == 92 + 3
    assert sum(tag == "table" for tag, _ in seen) == 3
    links = [attributes["href"] for tag, attributes in seen if tag == "a"]
    assert links == ["17_cka.html#claim-R02"]
    assert page.count(words["no evidence"]) == 1
    assert words["planned"].format(18) in page and words["missing"].format(17) in page
    assert other["planned"].format(18) not in page
    assert re.search(rf"{words['holds']}</span> 1</li>", page) and re.search(rf"{words['open']}</span> 91</li>", page)


def test_ledger_as_text_from_the_command_line(tmp_path, monkeypatch, capsys):
    bundle = good(measured=0.125)._repr_mimebundle_()
    cell = nbformat.v4.new_code_cell("report(…)", outputs=[nbformat.v4.new_output("display_data", bundle)])
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), tmp_path / "17_cka.ipynb")
    monkeypatch.setattr("sys.argv", ["claims", str(tmp_path / "17_cka.ipynb")])
    claims.main()
    printed = capsys.readouterr().out.splitlines()
    assert next(line for line in printed if line.startswith("R02")).endswith("[0.125]")
    assert printed[-1] == "not measured yet 91 · holds 1"


def test_command_line_says_what_to_do_without_notebooks(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["claims"])
    with pytest.raises(SystemExit, match="run `make book` first"):
        claims.main()


def test_an_overview_shows_the_verdicts_of_its_build():
    shown = claims.overview(["17", "18"])._repr_html_()
    assert shown.count("verdict-open") >= 2 * 9 and "#claim-" not in shown
    weak = {"measured": 1, "control": 1, "control_holds": True, "note": {"en": "wiring", "ko": "구조"}}
    outcomes = {"R02": "fails", "R04": "holds"}
    records = [claims.report(id, verdict=verdict, **weak).record for id, verdict in outcomes.items()]
    korean = claims.fill_verdicts(f"<p>before</p>{shown}<p>after</p>", records, "ko")
    assert korean.startswith("<p>before</p>") and korean.endswith("<p>after</p>")
    assert re.search(r'"17_cka.html#claim-R02"><span class="verdict verdict-fails"[^>]*>✗&nbsp;R02</span></a>', korean)
    assert re.search(r'#claim-R04"><span class="verdict verdict-holds"[^>]*재현됨[^>]*>✓&nbsp;R04°</span>', korean)
    assert "#claim-R20" not in korean and "chapter" not in re.sub(r"<[^>]*>", "", korean)


def test_the_map_of_chapters_shows_verdicts():
    place = '<span class="chapter-verdicts" data-chapter="{}">'
    assert claims.shows_verdicts(place.format(17)) and not claims.shows_verdicts("<span>")
    record = good().record
    filled = claims.fill_verdicts(place.format(17), [record], "en")
    assert filled.startswith(place.format(17)) and '"17_cka.html#claim-R02"' in filled and "R03" in filled
    assert claims.fill_verdicts(place.format("00"), [record], "en") == place.format("00")


def test_an_outline_lists_the_claims_of_chapters_in_both_languages():
    shown = claims.outline(["18", "19"])
    assert shown.ids == tuple(f"R{i:02}" for i in range(4, 15))
    html = shown._repr_html_()
    assert html.count("<li>") == 22 and html.count('lang="ko"') == 1
    assert claims.load()["R04"]["statement"]["ko"] in html and claims.load()["R04"]["statement"]["en"] in repr(shown)
    with pytest.raises(ValueError, match="no claims in chapter 99"):
        claims.outline("99")
