"""Before a reader starts the studio, its page has a button and a sentence."""

from __future__ import annotations

import re

import pytest

from bookbuild.sphinx.studio_page import WORDS, html


@pytest.mark.parametrize("language", ["en", "ko"])
def test_nothing_is_loaded_before_the_start(language):
    page = html(language)
    assert not re.search(r"<(script|img|link|iframe)[^>]*(src|href)=", page)
    assert WORDS[language]["start"] in page and "<noscript>" in page
    assert '"../studio/"' in page


def test_both_languages_say_the_same():
    assert WORDS["en"].keys() == WORDS["ko"].keys()
