"""The files of claims: complete, in both languages, with rules that can be read."""

import re

import pytest
import yaml

from helpers.claims import entries
from helpers.claims.entries import claim, load, of_chapters, problems
from helpers.claims.render import WORDS, source_text


@pytest.mark.parametrize("id", list(load()))
def test_every_claim_is_complete(id):
    entry = load()[id]
    assert problems(entry) == []
    assert re.fullmatch(r"[BVR]\d\d", id)
    assert entry["paper"] == {"B": "background", "V": "vit", "R": "raghu"}[id[0]]


def test_a_file_is_named_after_its_chapter_and_a_claim_stands_once():
    seen = set()
    for path in entries.HERE.glob("[0-9][0-9].yml"):
        table = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert table.pop("chapter")[:2] == path.stem
        assert not seen & table.keys(), path
        seen |= table.keys()


def test_place_in_the_paper_reads_korean_in_korean():
    for entry in load().values():
        place = source_text(entry, "ko").split(" · ")[0].removeprefix(WORDS["ko"][entry["paper"]])
        assert not re.search(r"[A-Za-z]{2,}", place), place


def test_unknown_ids_and_chapters_are_named():
    with pytest.raises(ValueError, match="unknown claim 'R2'; the nearest ids are R02"):
        claim("R2")
    with pytest.raises(ValueError, match="no claims in chapter 99"):
        of_chapters("99")
    assert of_chapters(["18", "19"]) == tuple(f"R{i:02}" for i in range(4, 15))


@pytest.mark.parametrize(("change", "problem"), [
    ({"holds": "nearest < 1"}, "holds reads 'nearest', which is no quantity of it"),
    ({"partly": "near <"}, "cannot be read"),
    ({"holds": "near.real > 0"}, "may not contain 'near.real'"),
    ({"holds": False, "partly": None}, "no rule"),
    ({"note": {"en": "Only English."}}, "note must be written in both languages"),
    ({"quantities": {"near": {"en": "x"}, "gap": {"en": "x", "ko": "y"}}}, "near must be written in both languages"),
    ({"paper_value": None}, "no paper_value"),
    ({"verdict": "holds"}, "unknown field 'verdict'"),
    ({"kind": "T"}, "kind is 'T', not one of learned, architecture, arithmetic"),
    ({"evidence": "X"}, "evidence is 'X', not one of E, T, D, E/T"),
    ({"primary": None}, "no primary: say which quantity decides first"),
    ({"primary": "far"}, "its primary is 'far', which is no quantity of it"),
    ({"holds": "gap > 0", "partly": None}, "no part of its rule reads its primary, 'near'"),
    ({"inconclusive": "far > 0"}, "inconclusive reads 'far', which is no quantity of it"),
])
def test_what_is_wrong_with_an_entry_is_said(invented, change, problem):
    assert problems(invented["X01"]) == []
    assert any(problem in found for found in problems(invented["X01"] | change))
