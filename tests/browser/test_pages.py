"""Every page of both languages loads, over HTTP below a sub-path and from a disk, and asks no other host.

A page is opened once at a desk and once on a phone (page_survey.py); each test then looks at one kind of fact.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from page_survey import PHONE, THEME_AT_DESK, THEME_ON_PHONE, Survey, page_names, survey_at_desk, survey_on_phone
from visitor import Visitor

from helpers.claims.entries import invented, load

ROOT = Path(__file__).resolve().parents[2]
LANGUAGES = ("en", "ko")


@pytest.fixture(scope="module")
def at_desk(browser, site, address, axe_if_there) -> Callable[[str], Survey]:
    """at_desk(language) → what all its pages showed over HTTP; they are opened for the first test that asks."""

    @functools.cache
    def survey(language: str) -> Survey:
        visitor = Visitor(browser, address, color_scheme=THEME_AT_DESK[language])
        return survey_at_desk(visitor, address, site, language, axe_if_there)

    return survey


@pytest.fixture(scope="module")
def on_phone(browser, site) -> Callable[[str], Survey]:
    """on_phone(language) → what all its pages showed from a disk."""

    @functools.cache
    def survey(language: str) -> Survey:
        visitor = Visitor(browser, "file://", viewport=PHONE, color_scheme=THEME_ON_PHONE[language])
        return survey_on_phone(visitor, site, language)

    return survey


@pytest.fixture(scope="session")
def chapters() -> list[str]:
    """Pages made from notebooks."""
    names = [path.stem + ".html" for path in (ROOT / "notebooks" / "en").glob("*.ipynb")]
    assert names, "no notebook in notebooks/en"
    return sorted(names)


def test_both_languages_have_the_same_pages(site):
    assert page_names(site, "en") == page_names(site, "ko")


@pytest.mark.parametrize("language", LANGUAGES)
def test_pages_load_without_trouble(at_desk, language):
    survey = at_desk(language)
    for name, shown in survey.pages.items():
        assert shown.language == language, name
        assert shown.heading, name
        assert shown.broken_formulas == 0, f"{language}/{name} has a formula that cannot be set"
    assert survey.pages["17_cka.html"].formulas > 0
    assert not survey.troubles, "\n".join(survey.troubles)


@pytest.mark.parametrize("language", LANGUAGES)
def test_pages_load_from_a_disk(on_phone, language):
    survey = on_phone(language)
    assert survey.pages
    assert not survey.troubles, "\n".join(survey.troubles)


@pytest.mark.parametrize("language", LANGUAGES)
def test_phone_width_needs_no_sideways_scrolling(on_phone, language):
    for name, wide in on_phone(language).pages.items():
        assert wide <= 0, f"{language}/{name} is {wide} px wider than a phone"


def test_korean_chrome_has_no_english(at_desk):
    """Names, tooltips and texts outside the article; program names, file suffixes and keys may be Latin."""
    allowed = re.compile(r"Colab|Binder|Ctrl|PDF|\.(ipynb|md|pdf)|English|ViT|CNN|CKA|vit-cnn-book|\b[A-Z]\b")
    for name, shown in at_desk("ko").pages.items():
        english = {text.strip() for text in shown.around if re.search("[A-Za-z]{2,}", allowed.sub("", text))}
        assert not english, f"{name}: {english}"


@pytest.mark.parametrize("language", LANGUAGES)
def test_ledger_agrees_with_the_cards(at_desk, chapters, language):
    """Every claim card of every chapter stands in the ledger with its verdict, and nothing else does."""
    pages, cards = at_desk(language).pages, {}
    for name in chapters:
        for id, verdicts in pages[name].cards:
            if id not in invented():
                assert len(verdicts) == 1, f"{language}/{name}: the card of {id} shows {verdicts or 'no verdict'}"
                cards[id] = verdicts[0]
    rows = pages["ledger.html"].ledger
    assert cards and {id: verdict for id, verdict in rows if verdict} == cards
    assert [id for id, _ in rows] == list(load())


@pytest.mark.parametrize("language", LANGUAGES)  # each page and each theme once
def test_axe_finds_no_serious_violation(at_desk, axe, language):
    found = [violation for shown in at_desk(language).pages.values() for violation in shown.violations]
    assert not found, "\n".join(found)


# -------------------------------------------------------------------------------------------- one page


@pytest.mark.parametrize(("scheme", "dark"), [("light", False), ("dark", True)])
def test_colours_follow_the_reader(address, visit, chapters, scheme, dark):
    page = visit(color_scheme=scheme).open(f"{address}/ko/{chapters[0]}")
    red = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0]")
    assert (int(red) < 80) == dark


def test_notebooks_can_be_launched_and_downloaded(address, visit, chapters):
    page = visit().open(f"{address}/ko/{chapters[0]}")
    links = page.locator(".article-header-buttons a").evaluate_all("all => all.map(a => a.href)")
    notebook = chapters[0].replace(".html", ".ipynb")
    for host in ("https://colab.research.google.com/", "https://mybinder.org/"):
        assert any(x.startswith(host) and x.endswith(f"notebooks/ko/{notebook}") for x in links), host
    download = next(x for x in links if x.endswith(f"_sources/{notebook}"))
    assert page.request.get(download).ok
