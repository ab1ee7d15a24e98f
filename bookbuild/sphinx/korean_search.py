"""Full-text search for a Korean book that also contains English words."""

from __future__ import annotations

import re

from sphinx.application import Sphinx
from sphinx.search.en import SearchEnglish
from sphinx.util.typing import ExtensionMetadata

_RUN = re.compile(r"[가-힣]+|[^\W가-힣]+")  # 'CKA는' is the Latin run 'CKA' and the Hangul run '는'
_LONGEST = 12  # syllables; longer Hangul runs do not occur outside of typing errors


class SearchKorean(SearchEnglish):
    """Index every substring of a Korean word, so that 유사도 finds 비유사도를 as well as 유사도는.

    Particles and compounds glue Korean words together, and Sphinx looks for a part of a word only when the
    part is nowhere a word of its own. English words keep the stemmer of the English search.
    """

    lang = "ko"
    language_name = "Korean"

    def split(self, input: str) -> list[str]:
        """'CKA는 표현의' → CKA, 는, 표, 표현, 표현의, 현, 현의, 의."""
        words: list[str] = []
        for run in _RUN.findall(input):
            words += _substrings(run[:_LONGEST]) if "가" <= run[0] <= "힣" else [run]
        return words

    def word_filter(self, word: str) -> bool:
        """Keep every Hangul string; English words as the English search does."""
        return "가" <= word[:1] <= "힣" or super().word_filter(word)


def _substrings(word: str) -> list[str]:
    return [word[i:j] for i in range(len(word)) for j in range(i + 1, len(word) + 1)]


def setup(app: Sphinx) -> ExtensionMetadata:
    """Connect."""
    app.add_search_language(SearchKorean)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
