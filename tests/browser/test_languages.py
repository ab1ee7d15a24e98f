"""The reader's language: chosen at the root, switched in place, searched. What every page says is in test_pages.py."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

HEADING_AT_TOP = """() => {
  const all = [...document.querySelectorAll("article.bd-article :is(h1, h2, h3)")];
  return all.findLastIndex(h => h.getBoundingClientRect().top < innerHeight * 0.25);
}"""


@pytest.fixture(scope="session")
def chapter() -> str:
    """A page made from a notebook."""
    return min(path.stem for path in (ROOT / "notebooks" / "en").glob("*.ipynb")) + ".html"


@pytest.mark.parametrize(("locale", "expected"), [("ko-KR", "ko"), ("en-GB", "en"), ("fr-FR", "en")])
def test_root_follows_the_browser(address, visit, locale, expected):
    page = visit(locale=locale).open(f"{address}/index.html")
    page.wait_for_url(f"**/{expected}/index.html")


def test_choice_is_remembered(address, visit):
    page = visit(locale="en-GB").open(f"{address}/en/index.html")
    page.locator("a.language-switch").click()
    page.wait_for_url("**/ko/index.html")
    page.goto(f"{address}/")
    page.wait_for_url("**/ko/index.html")


def test_wrong_address_leads_home(address, visit):
    page = visit().open(f"{address}/ko/no/such/page.html")
    page.locator("a[data-home^=ko]").click()
    page.wait_for_url(f"{address}/ko/index.html")


@pytest.mark.parametrize(("here", "there"), [("en", "ko"), ("ko", "en")])
def test_switch_keeps_page_and_place(address, visit, chapter, here, there):
    page = visit().open(f"{address}/{here}/{chapter}")
    sections = page.locator("article.bd-article :is(h2, h3)")
    for number in (1, sections.count() // 2, sections.count() - 1):
        page.goto(f"{address}/{here}/{chapter}", wait_until="load")
        page.evaluate("window.setFormulas?.()")
        sections.nth(number).evaluate("h => h.scrollIntoView({block: 'start', behavior: 'instant'})")
        before = page.evaluate(HEADING_AT_TOP)
        box = page.locator("a.language-switch").bounding_box()  # click() itself would scroll the page first
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.wait_for_url(re.compile(f"/{there}/{chapter}(#(?!place)|$)"))
        assert page.evaluate(HEADING_AT_TOP) == before


def test_switch_stays_at_the_top(address, visit, chapter):
    page = visit().open(f"{address}/en/{chapter}")
    page.locator("a.language-switch").click()
    page.wait_for_url(f"**/ko/{chapter}")
    assert page.evaluate("scrollY") == 0


def test_alternates_name_both_languages(address, visit, chapter):
    page = visit().open(f"{address}/ko/{chapter}")
    links = page.locator("link[rel=alternate][hreflang]").evaluate_all("all => all.map(l => [l.hreflang, l.href])")
    found = dict(links)
    assert set(found) == {"ko", "en", "x-default"}
    assert found["en"].endswith(f"/en/{chapter}") and found["ko"].endswith(f"/ko/{chapter}")


@pytest.mark.parametrize("language", ["en", "ko"])
def test_head_describes_the_page(address, visit, chapter, language):
    page = visit().open(f"{address}/{language}/{chapter}")
    description = page.locator("meta[name=description]").get_attribute("content")
    assert len(description) >= 25
    assert page.locator("meta[property='og:title']").get_attribute("content") in page.title()
    assert page.locator("meta[property='og:image']").get_attribute("content").endswith("cover.png")
    assert ("다" in description) == (language == "ko")


# ------------------------------------------------------------------------------------------------- search


def results(page) -> list[str]:
    """Names of the pages that the search page lists."""
    page.locator("#search-results p.search-summary:not(:empty)").wait_for()
    return page.locator("#search-results ul.search > li > a").evaluate_all(
        "all => all.map(a => a.getAttribute('href').split('?')[0].split('#')[0])"
    )


@pytest.mark.parametrize("word", ["표현", "특징", "유사도", "어텐션"])
def test_korean_words_are_found_inside_longer_words(site, address, visit, word):
    page = visit().open(f"{address}/ko/search.html?q={word}")
    found = set(results(page))
    holding = set()
    for path in (site / "ko").glob("*.html"):
        article = re.search(r"<article.*?</article>", path.read_text(encoding="utf-8"), re.DOTALL)
        text = re.sub(r"<(script|style).*?</\1>|<[^>]+>", "", article[0], flags=re.DOTALL) if article else ""
        if re.search(f"[가-힣]{word}|{word}[가-힣]", text):
            holding.add(path.name)
    assert holding, f"no page of the book has {word} inside a longer word"
    assert holding <= found


def test_english_words_are_found_on_the_korean_site(address, visit):
    page = visit().open(f"{address}/ko/search.html?q=CKA")
    assert "17_cka.html" in results(page)


def test_search_works_from_a_disk(site, visit):
    visitor = visit(own="file://")
    page = visitor.open((site / "ko" / "search.html").as_uri() + "?q=CKA")
    assert "17_cka.html" in results(page)
    assert not visitor.troubles


@pytest.mark.parametrize(("lang", "word"), [("en", "equivariance"), ("ko", "등변성")])
def test_a_search_for_equivariance_leads_to_its_chapter(address, visit, lang, word):
    page = visit().open(f"{address}/{lang}/search.html?q={word}")
    assert results(page)[0] == "01_inductive_bias.html"
