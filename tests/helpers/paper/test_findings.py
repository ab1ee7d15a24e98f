"""Sentences about the package's run: true of its numbers, in both languages."""

from __future__ import annotations

import pytest

from helpers.claims.entries import LANGUAGES
from helpers.claims.reports import completed
from helpers.paper import findings
from helpers.paper.stored import RESULTS, runs_in

RUN = {run.name: run for run in runs_in(RESULTS)}
LAB = {"R10": {"values": {"lowest_nearest": 0.685}}}


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", findings.FINDINGS)
def test_all_five_sentences_are_true_of_the_stored_numbers(name, lang):
    found = findings.texts(RUN[name], {}, lang)
    assert len(found) == len(findings.FINDINGS[name]) == 5
    assert not any("{" in text for text in found)
    assert all(any("가" <= c <= "힣" for c in text) == (lang == "ko") for text in found)


def test_a_sentence_that_is_not_true_is_left_out(monkeypatch):
    run = RUN["trio"]
    (attention,) = [r for r in run.of("attention", True) if r["networks"] == ["vit_ti16"]]
    monkeypatch.setitem(attention["numbers"], "lowest_nearest", 0.9)
    found = findings.texts(run, {}, "en")
    assert len(found) == 4 and not any("uniform distance" in text for text in found)


def test_the_lab_follows_where_it_is_known_and_says_the_same():
    first = lambda records: findings.texts(RUN["trio"], records, "en")[0]
    assert first(LAB) == first({}) + " In the lab the nearest head stays at 0.69: that network is too small."
    assert first({"R10": {"values": {"lowest_nearest": 0.2}}}) == first({})  # no longer too small


def test_numbers_are_read_from_results_arrays_and_claims():
    run, state = RUN["trio"], lambda value: ["A", [["lowest_nearest", value], ["lowest_farthest", 0.9]]]
    record = completed({"id": "R10", "trained": [state(0.2)], "untrained": [state(0.7)], "facts": {}})
    read = lambda *path: findings.read(path, run, {"R10": record})
    assert read("lab", "R10", "lowest_nearest") == 0.2 and read("untrained lab", "R10", "lowest_nearest") == 0.7
    assert read("lab", "R11", "highest_median") is None
    assert read("norms.vit_ti16.resnet50_v1", "ratio mlp CLS", "max") >= read(
        "norms.vit_ti16.resnet50_v1", "ratio mlp CLS", 0)
    assert read("attention.nobody", "lowest_nearest") is None and read("attention.vit_ti16", "no such") is None
