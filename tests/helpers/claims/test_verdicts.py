"""Five verdicts, one rule, and what they say about learning."""

import pytest
from claim_samples import GOOD

from helpers.claims import Interval, report
from helpers.claims.reports import completed
from helpers.claims.verdicts import VERDICTS, at_full_size, decide, headline, judged, middle, pooled
from helpers.networks.states import untrained_draws

FAR = {"near": 0.9, "gap": 0.0}


def entry(**parts):
    return {"kind": "learned", "quantities": {"near": {}, "gap": {}}} | parts


# ---- one rule ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("low", "high", "verdict"), [
    (0.2, 0.4, "holds"), (0.05, 0.4, "partly"), (-0.1, 0.4, "inconclusive"), (-0.3, -0.1, "fails"),
])
def test_an_interval_with_both_answers_is_inconclusive(low, high, verdict):
    rule = entry(holds="gap.low > 0.1", partly="gap.low > 0", inconclusive="gap.high > 0")
    assert decide(rule, {"gap": Interval((low + high) / 2, low, high)}) == verdict


def test_testable_is_asked_first_and_holds_before_partly():
    rule = entry(testable="near > 0", holds="gap > 1", partly="gap > 0", inconclusive="gap > -1")
    assert [decide(rule, {"near": near, "gap": gap}) for near, gap in [(0, 2), (1, 2), (1, 1), (1, 0), (1, -1)]] == [
        "untestable", "holds", "partly", "inconclusive", "fails"]


def test_no_difference_needs_a_margin():
    rule = entry(margin=2, holds="-margin < gap.low and gap.high < margin", inconclusive="-margin < gap < margin")
    outcome = lambda low, high: decide(rule, {"gap": Interval((low + high) / 2, low, high)})
    assert [outcome(-1, 1), outcome(-9, 9), outcome(3, 4)] == ["holds", "inconclusive", "fails"]


def test_the_middle_verdict_of_an_even_number_is_the_lesser():
    assert middle(["holds", "fails", "partly"]) == "partly"
    assert middle(["holds", "inconclusive"]) == "inconclusive" and middle([]) is None
    assert VERDICTS == ("holds", "partly", "inconclusive", "fails", "untestable")


def test_several_draws_are_pooled_to_mean_and_range():
    assert pooled([{"near": 1, "gap": None}, {"near": 3, "gap": None}]) == {"near": Interval(2, 1, 3), "gap": None}


# ---- what was learned -------------------------------------------------------------------------------------------


def record(invented, *, runs=1, draws=(FAR,), **change):
    invented["X01"] |= change
    table = {"trained": GOOD["trained"]} | {f"seed {i}": GOOD["trained"] for i in range(1, runs)}
    controls = {"untrained" if i == 0 else f"untrained {i}": draw for i, draw in enumerate(draws)}
    judge = (table | controls).__getitem__
    return completed(report("X01", judge, trained=tuple(table), untrained=tuple(controls), side=4, off=0).record)


def test_an_effect_is_learned_if_no_draw_of_random_weights_shows_it(invented):
    done = record(invented, runs=3, draws=[FAR] * 5)
    assert (done["learned"], done["runs"], done["draws"], done["one_run"]) == ("learned", 3, 5, False)
    assert [control["state"] for control in done["control_states"]] == list(untrained_draws())
    assert done["control_states"][0]["values"] == FAR and done["primary"] == "near" and done["full_size"] == []


def test_one_draw_that_earns_it_too_makes_it_architecture(invented):
    done = record(invented, draws=[FAR, FAR, {"near": 0.1, "gap": 1}])
    assert (done["learned"], done["control_verdict"], done["control_holds"]) == ("architecture", "fails", True)


def test_fewer_than_three_training_runs_are_said(invented):
    assert record(invented, runs=2)["one_run"]
    assert not record(invented, runs=2, kind="architecture")["one_run"]
    assert not record(invented, holds="near < 0", partly="near < 0.1")["one_run"]  # nothing that it could rest on


def test_what_needs_no_network_is_arithmetic_and_what_fails_is_nothing(invented):
    assert completed(report("X02", {"same": 4}).record)["learned"] == "arithmetic"
    assert completed(report("X02", {"same": 3}).record)["learned"] is None
    reason = {"en": "They are all random.", "ko": "모두 무작위다."}
    assert record(invented, kind="architecture", no_control=reason)["learned"] == "architecture"


def test_the_headline_counts_by_what_a_claim_holds(invented):
    records = [record(invented), record(invented, draws=[{"near": 0.1, "gap": 1}]), record(invented, holds="near < 0",
               partly="near < 0.1"), completed(report("X02", {"same": 4}).record)]
    assert headline(records) == {"learned": 1, "architecture": 1, "arithmetic": 1}


# ---- stored numbers ---------------------------------------------------------------------------------------------


def test_full_size_is_judged_by_the_same_rule(invented):
    found = at_full_size("X01", "first", ["vit_b16"], GOOD["trained"], [FAR, {"near": 0.2}])
    assert found["trained"] == {"values": GOOD["trained"], "verdict": "holds"} and found["networks"] == ["vit_b16"]
    assert [draw["verdict"] for draw in found["untrained"]] == ["fails", None]  # the second lacks a number of the rule
    assert at_full_size("X01", "first", ["vit_b16"], None, [])["trained"] is None


def test_a_rule_with_the_untrained_network_as_its_yardstick_waits_for_it():
    rule = entry(holds="gap > untrained.gap")
    assert judged(rule, [{"gap": 1}], []).verdict is None
    assert judged(rule, [{"gap": 1}], [{"gap": 0}, {"gap": 3}]).verdict == "fails"
