"""Values and places in words, in both languages."""

from helpers.claims.entries import load
from helpers.claims.render import WORDS, source_text, value_text


def test_values_may_be_bilingual_at_any_level():
    value = {"en": [["drift", 0.5]], "ko": [["변화", 0.5]]}
    assert (value_text(value, "en"), value_text(value, "ko")) == ("drift: 0.5", "변화: 0.5")
    assert value_text([["stable", True], ["who", {"en": "all", "ko": "모두"}]], "ko") == "stable: 예 · who: 모두"
    assert value_text(None, "en") == "–"


def test_every_claim_names_paper_place_and_evidence():
    for entry in load().values():
        for lang, words in WORDS.items():
            assert source_text(entry, lang).startswith(words[entry["paper"]])
            assert source_text(entry, lang).endswith(words[f"evidence {entry['evidence']}"])
