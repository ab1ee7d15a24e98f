"""Predict first: cards stay closed until the reader has guessed; the score stays in the browser."""

from __future__ import annotations

import pytest
from page_survey import PHONE

CARDS = "18_representation_structure.html"


def card(page, id="R07"):
    """The card of a claim in the page's language."""
    lang = page.evaluate("document.documentElement.lang")
    return page.locator(f"#claim-{id} .claim-text[lang={lang}]")


def switch_on(page):
    page.get_by_role("switch").check()


@pytest.mark.parametrize(("language", "mode"), [("en", "Guess before you look"), ("ko", "먼저 맞혀 보기")])
def test_it_is_off_until_asked_for(address, visit, language, mode):
    page = visit().open(f"{address}/{language}/{CARDS}")
    assert card(page).locator(".claim-answer").is_visible() and page.locator(".guess-form").count() == 0
    assert not page.get_by_role("switch", name=mode).is_checked()
    switch_on(page)
    assert not card(page).locator(".claim-answer").is_visible()
    assert card(page).locator(".claim-rule").is_visible()


def test_a_card_opens_by_keyboard_after_a_guess_and_says_whether_it_was_right(address, visit):
    page = visit().open(f"{address}/en/{CARDS}")
    switch_on(page)
    verdict, control = page.locator("#claim-R07").evaluate("x => [x.dataset.verdict, x.dataset.control]")
    form = card(page).locator(".guess-form")
    form.locator("input[value=holds]").focus()
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")  # yes, random weights too
    form.locator("button").focus()
    page.keyboard.press("Enter")
    said = card(page).locator(".guess-said")
    assert card(page).locator(".claim-answer").is_visible() and said.evaluate("x => x === document.activeElement")
    texts = said.inner_text()
    assert ("it holds (right)" in texts) == (verdict == "holds")
    assert ("yes, they too (right)" in texts) == (control == "yes")
    assert not card(page, "R08").locator(".claim-answer").is_visible()


def test_nothing_opens_before_both_questions_are_answered(address, visit):
    page = visit().open(f"{address}/ko/{CARDS}")
    switch_on(page)
    form = card(page).locator(".guess-form")
    form.locator("input[value=fails]").check()
    form.locator("button").click()
    assert not card(page).locator(".claim-answer").is_visible()


def test_neither_forest_nor_map_nor_ledger_gives_it_away(address, visit):
    visitor = visit()
    page = visitor.open(f"{address}/en/{CARDS}")
    switch_on(page)
    assert page.locator(".forest [data-claim=R07] svg >> visible=true").count() == 0
    page = visitor.open(f"{address}/en/ledger.html")
    assert page.locator("#R07 .verdict >> visible=true").count() == 0
    cell = page.locator(".map-cell[data-claim=R07]")
    assert cell.get_attribute("title") == "R07"


def test_the_score_is_kept_and_shown_in_the_ledger_and_in_29(address, visit):
    visitor = visit()
    page = visitor.open(f"{address}/en/{CARDS}")
    switch_on(page)
    for id in ("R07", "R08"):
        form = card(page, id).locator(".guess-form")
        form.locator("input[value=holds]").check()
        form.locator("input[value=no]").check()
        form.locator("button").click()
    for place in ("ledger.html", "29_discussion.html"):
        page = visitor.open(f"{address}/en/{place}")
        table = page.locator(".guess-score table >> visible=true")
        rows = table.locator("tbody tr").all_inner_texts()
        assert rows[0].startswith("18") and rows[-1].startswith("All") and " of " in rows[-1]
    page.locator(".guess-score button >> visible=true").click()
    assert page.locator(".guess-score table").count() == 0


def test_on_a_phone_the_questions_fit(address, visit):
    page = visit(viewport=PHONE).open(f"{address}/ko/{CARDS}")
    switch_on(page)
    assert card(page).locator(".guess-form").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_without_scripts_cards_are_open(address, visit):
    page = visit(java_script_enabled=False).page
    page.goto(f"{address}/en/{CARDS}")
    assert card(page).locator(".claim-answer").is_visible() and page.get_by_role("switch").count() == 0
