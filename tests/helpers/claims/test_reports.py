"""What may be reported, what decides, and how it reads."""

import json
import re

import numpy as np
import pytest
import torch
from claim_samples import GOOD, reported
from jupyter_client.manager import KernelManager

from bookbuild.kernels import own_sockets
from helpers.claims import Interval, entries, outline, overview, report
from helpers.claims.cards import rendered
from helpers.claims.render import WORDS
from helpers.claims.reports import LIST_MIME, MIME, completed


def outcome(**states):
    done = completed(reported(**states).record)
    return done["verdict"], done["control_verdict"], done["control_holds"]


# ---- the same rule for every network ----------------------------------------------------------------------------


def test_one_rule_decides_for_trained_and_untrained(invented):
    assert outcome() == ("holds", "fails", False)
    assert outcome(trained={"near": 0.4}) == ("partly", "fails", False)
    assert outcome(trained={"gap": Interval(0.5, -0.1, 0.9)}) == ("partly", "fails", False)
    assert outcome(trained={"near": 0.7}) == ("fails", "fails", False)
    assert outcome(untrained={"near": 0.2}) == ("holds", "partly", False)
    assert outcome(untrained={"near": 0.2, "gap": 1}) == ("holds", "holds", True)
    assert outcome(trained={"near": 0.5}, untrained={"near": 0.2}) == ("partly", "partly", True)


def test_changing_the_rule_changes_the_verdict_of_what_was_measured(invented):
    record = reported().record
    invented["X01"]["holds"] = "near < 0.1"
    assert completed(record)["verdict"] == "partly"
    assert WORDS["en"]["partly"] in rendered(record)["text/plain"]


def test_the_untrained_network_can_be_the_yardstick(invented):
    invented["X01"] |= {"holds": "gap.low > untrained.gap"}
    assert outcome() == ("holds", "fails", False)
    assert outcome(untrained={"gap": 0.3})[0] == "partly"  # by the other part of the rule
    draws = {"trained": GOOD["trained"], "a": {"near": 1, "gap": 0.0}, "b": {"near": 1, "gap": 0.4}}
    done = completed(report("X01", draws.__getitem__, untrained=("a", "b"), side=4, off=0).record)
    assert done["verdict"] == "partly"  # 0.1 is not above the mean of the draws, 0.2
    assert done["control"]["en"][1] == ["gap of 4 px", {"value": 0.2, "low": 0.0, "high": 0.4}]


def test_other_training_runs_are_judged_and_shown(invented):
    table = GOOD | {"second seed": {"near": 0.5, "gap": 0.2}}
    shown = report("X01", table.__getitem__, trained=("trained", "second seed"), side=4, off=0)
    done = completed(shown.record)
    assert (done["first_verdict"], [other["verdict"] for other in done["others"]]) == ("holds", ["partly"])
    assert done["verdict"] == "partly"  # of two runs the lesser one
    assert "Other training runs: ◐ nearest head: 0.5" in repr(shown)


def test_untestable_by_rule_and_by_nature(invented):
    invented["X01"]["testable"] = "gap.high > 1"
    assert outcome()[:2] == ("untestable", "untestable")
    invented["X01"]["testable"] = False
    assert completed(report("X01", GOOD["trained"], side=4, off=0).record)["verdict"] == "untestable"


def test_a_claim_that_cannot_hold_is_partly_at_best(invented):
    invented["X01"]["holds"] = False
    assert outcome()[0] == "partly"


def test_numbers_of_a_table_need_no_network(invented):
    assert completed(report("X02", {"same": 4}).record)["verdict"] == "holds"
    invented["X01"]["no_control"] = {"en": "Nothing to train.", "ko": "학습할 것이 없다."}
    shown = reported(judge=lambda state: {"trained": GOOD["trained"]}[state])  # the untrained network is not asked
    assert "Nothing to train." in repr(shown)


# ---- bad input --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("changes", "complaint"), [
    ({"id": "x01"}, "unknown claim 'x01'; the nearest ids are X01"),
    ({"trained": {"farthest": 1}}, "returns 'farthest' for 'trained'; the quantities in 17.yml are near, gap"),
    ({"judge": lambda state: {"near": 1}}, "its rule reads gap, which the judge does not return for 'trained'"),
    ({"judge": GOOD["trained"]}, "the untrained network must be asked too"),
    ({"trained": {"near": float("inf")}}, "'near' of X01, trained is inf"),
    ({"trained": {"near": torch.zeros(3)}}, "'near' of X01, trained is tensor"),
    ({"trained": {"near": [1, 2]}}, "'near' of X01, trained is [1, 2]"),
    ({"trained": {"near": 2.5}}, "'near' of X01, trained is 2.5, outside of its range 0 to 2"),
    ({"facts": {"side": 4}}, "its text speaks of {off}: pass off=… to report"),
])
def test_bad_report_is_refused_with_a_reason(invented, changes, complaint):
    with pytest.raises(ValueError, match=re.escape(complaint)):
        reported(**changes)


def test_what_an_untrained_network_does_too_must_be_explained(invented):
    del invented["X01"]["note"]
    assert completed(reported().record)["note"] is None
    with pytest.raises(ValueError, match="explain in its note"):
        reported(untrained={"near": 0.2, "gap": 1})


# ---- the record and the card ------------------------------------------------------------------------------------


def test_record_keeps_the_numbers_as_json_in_the_order_of_the_entry(invented):
    values = {"gap": np.float32(0.5), "near": torch.tensor(1e-9, dtype=torch.float64)}
    record = json.loads(json.dumps(reported(trained=values)._repr_mimebundle_()[MIME], allow_nan=False))
    assert record["trained"] == [["trained", [["near", 1e-9], ["gap", 0.5]]]]
    assert record["facts"] == {"side": 4, "off": -0.25} and "verdict" not in record


def test_an_interval_stays_inside_its_range_and_what_is_missing_is_a_dash(invented):
    record = reported(trained={"near": Interval(0.1, -0.3, 2.4), "gap": float("nan")}).record
    assert record["trained"][0][1] == [["near", {"value": 0.1, "low": 0, "high": 2}], ["gap", None]]
    assert completed(record)["verdict"] == "partly"
    assert "gap of 4 px: –" in rendered(record)["text/plain"]


def test_an_outline_lists_the_claims_of_chapters_in_both_languages(invented):
    bundle = outline("17")._repr_mimebundle_()
    assert bundle[LIST_MIME] == {"kind": "outline", "ids": ["X01", "X02"]}
    assert bundle["text/html"].count("<li>") == 4 and bundle["text/html"].count('lang="ko"') == 1
    assert "헤드는 가까이 본다." in bundle["text/html"] and "Heads look near." in repr(outline("17"))
    assert "verdict-map" in overview("17")._repr_mimebundle_()["text/html"]


def test_a_notebook_of_the_book_keeps_numbers_and_leaves_the_card_to_the_page(invented, monkeypatch):
    monkeypatch.setenv("BOOK_STATIC", "1")
    shown = reported()
    assert shown._repr_mimebundle_() == {MIME: shown.record, "text/plain": "X01"}
    assert outline("17")._repr_mimebundle_().keys() == {LIST_MIME, "text/plain"}


@pytest.mark.notebooks
def test_second_cell_is_refused_and_the_same_cell_may_run_again():
    with own_sockets() as config:
        manager = KernelManager(kernel_name="python3", config=config)
        manager.start_kernel()
        client = manager.client()
        try:
            client.start_channels()
            client.wait_for_ready(timeout=300)
            code = "from helpers.claims import report; report('R14', {'large': 2, 'small': 1})"
            replies = [run_cell(client, code, cell) for cell in ("first", "first", "second")]
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)
    assert [reply["status"] for reply in replies] == ["ok", "ok", "error"]
    assert "R14 was already reported by another cell" in replies[2]["evalue"]


def run_cell(client, code, cell_id):
    """Execute like JupyterLab, which says which cell it is."""
    content = {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False}
    message = client.session.msg("execute_request", content, metadata={"cellId": cell_id})
    client.shell_channel.send(message)
    while True:
        reply = client.get_shell_msg(timeout=300)
        if reply["parent_header"].get("msg_id") == message["header"]["msg_id"]:
            return reply["content"]


@pytest.mark.parametrize("id", list(entries.invented()))
def test_the_invented_claims_of_chapter_0_are_complete_and_no_ledger_sees_them(id):
    entry = entries.claim(id)
    assert entries.problems(entry) == [] and id not in entries.load()
    card = report(id, lambda state: dict.fromkeys(entry["quantities"], float(state == "trained")))
    assert MIME not in card._repr_mimebundle_() and entry["statement"]["ko"] in repr(card)
