"""Terms are explained where a chapter first uses them."""

from __future__ import annotations

import re

import pytest
from docutils import nodes

from bookbuild import glossary
from bookbuild.paths import ROOT
from bookbuild.sphinx import terms

ENTRIES = [entry for entry in glossary.load(ROOT) if entry["en"].startswith(("representation", "centered kernel"))]


def page(*paragraphs: str) -> nodes.Element:
    """A section with a title and paragraphs."""
    section = nodes.section("", nodes.title("", "Representations and CKA"))
    section.extend(nodes.paragraph("", "", nodes.Text(text)) for text in paragraphs)
    return section


def written(section: nodes.Element) -> str:
    """All text of a page, with the HTML of explained terms."""
    return "\n".join(paragraph.astext() for paragraph in section.findall(nodes.paragraph))


@pytest.mark.parametrize(("lang", "text", "word"), [
    ("en", "Two representations and CKA. A representation.", "representations"),
    ("ko", "표현이라는 말. 표현(representation)을 잰다. 표현(representation)", "표현"),
])
def test_a_term_is_explained_once(lang, text, word):
    section = page(text, text)
    terms.explain(section, ENTRIES[:1], lang)
    html = written(section)
    assert html.count("<dfn") == 1 and f">{word}<span" in html and ENTRIES[0]["definition"][lang] in html
    assert re.sub(r"<span.*?</span>|</?dfn[^>]*>", "", html) == f"{text}\n{text}"
    assert lang == "en" or html.startswith("표현이라는 말. <dfn")


def test_titles_code_and_links_are_left_alone():
    section = page()
    section.append(nodes.paragraph("", "", nodes.literal("", "representation"), nodes.reference("", "CKA")))
    terms.explain(section, ENTRIES, "en")
    assert not list(section.findall(nodes.raw))


def test_both_languages_explain_what_the_korean_text_introduces():
    korean = "**표현(representation)** 하나를 잰다."
    assert [entry["en"] for entry in glossary.introduced(glossary.load(ROOT), korean)] == ["representation"]


def test_a_meaning_is_text():
    assert "&lt;b&gt;" in terms.html("CKA", 0, "<b>")
