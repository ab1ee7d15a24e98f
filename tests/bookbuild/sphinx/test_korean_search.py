"""Korean words are found inside longer ones; English words are not cut."""

from __future__ import annotations

import pytest

from bookbuild.sphinx.korean_search import SearchKorean


@pytest.fixture(scope="session")
def korean():
    return SearchKorean({})


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("표현은", "표현"),
        ("비유사도를", "유사도"),
        ("셀프어텐션의", "어텐션"),
        ("특징맵", "특징"),
        ("층마다", "층"),
        ("CKA는", "CKA"),
    ],
)
def test_words_are_indexed_inside_longer_words(korean, text, word):
    assert word in korean.split(text)
    assert korean.word_filter(korean.stem(word))


def test_english_is_not_cut(korean):
    assert korean.split("minibatch CKA") == ["minibatch", "CKA"]
    assert korean.stem("representations") == korean.stem("representation")
