"""The ledger in a browser: filters with their state in the address, lines that open, the map that leads to them."""

from __future__ import annotations

import re

import pytest
from page_survey import PHONE

from helpers.claims.entries import load

CARDS = "18_representation_structure.html"


def shown(page) -> list[str]:
    """Claims whose lines are in sight."""
    return page.locator(".ledger-line").evaluate_all("all => all.filter(x => x.checkVisibility()).map(x => x.id)")


@pytest.mark.parametrize("language", ["en", "ko"])
def test_filters_stand_in_the_address_and_count(address, visit, language):
    page = visit().open(f"{address}/{language}/ledger.html")
    assert shown(page) == list(load())
    page.locator("select[name=chapter]").select_option("18")
    assert shown(page) == [id for id, claim in load().items() if claim["chapter"].startswith("18")]
    assert re.search(r"\b6\b", page.locator(".ledger-filters output").inner_text())
    page.locator("input[name=words]").fill("R07")
    assert shown(page) == ["R07"] and page.url.endswith("ledger.html?chapter=18&words=R07")
    page.reload()
    assert shown(page) == ["R07"]
    page.locator("button[type=reset]").click()
    page.wait_for_url("**/ledger.html")
    assert shown(page) == list(load())


@pytest.mark.parametrize("name", ["verdict", "paper", "kind", "by", "scale"])
def test_every_filter_parts_the_claims(address, visit, name):
    page = visit().open(f"{address}/en/ledger.html")
    values = page.locator(f"select[name={name}] option").evaluate_all("all => all.map(x => x.value).filter(Boolean)")
    found = []
    for value in values:
        page.locator(f"select[name={name}]").select_option(value)
        found.append(set(shown(page)))
    assert set().union(*found) <= set(load()) and sum(map(bool, found)) >= 1
    assert not found[0] & found[1]


def test_a_line_opens_by_keyboard_and_leads_to_its_card(address, visit):
    page = visit().open(f"{address}/en/ledger.html")
    line = page.locator("#R07")
    line.locator("summary").focus()
    page.keyboard.press("Enter")
    assert line.get_attribute("open") is not None
    line.locator("a[href*='#claim-R07']").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/{CARDS}#claim-R07")


def test_a_cell_of_the_map_opens_its_line_even_if_it_was_filtered_out(address, visit):
    page = visit().open(f"{address}/en/ledger.html?chapter=01")
    assert "R07" not in shown(page)
    page.locator(".map-cell[data-claim=R07]").click()
    page.locator("#R07[open]").wait_for(state="visible")


@pytest.mark.parametrize("start", ["index.html", "29_discussion.html"])
def test_the_map_elsewhere_leads_to_the_ledger(address, visit, start):
    page = visit().open(f"{address}/en/{start}")
    page.locator(".map-cell[data-claim=R07] >> visible=true").click()
    page.wait_for_url("**/ledger.html#R07")
    assert page.locator("#R07").get_attribute("open") is not None


def test_files_hold_the_claims_of_the_page(address, visit):
    page = visit().open(f"{address}/en/ledger.html")
    found = page.request.get(f"{address}/en/ledger.json").json()
    verdicts = page.locator(".ledger-line").evaluate_all("all => all.map(x => [x.id, x.dataset.verdict])")
    assert [[claim["id"], claim["verdict"] or "open"] for claim in found] == verdicts
    assert page.request.get(f"{address}/en/ledger.csv").text().lstrip("\ufeff").startswith("id,chapter,")


def test_without_scripts_it_is_a_plain_list_that_opens(address, visit):
    page = visit(java_script_enabled=False).page
    page.goto(f"{address}/ko/ledger.html")
    assert not page.locator(".ledger-filters").is_visible()
    assert page.locator(".ledger-line").count() == len(load())
    page.locator("#R07 summary").click()
    assert page.locator("#R07 .ledger-inside").is_visible()


@pytest.mark.parametrize("language", ["en", "ko"])
def test_on_a_phone_an_opened_line_fits(address, visit, language):
    page = visit(viewport=PHONE).open(f"{address}/{language}/ledger.html#R07")
    assert page.locator("#R07 .ledger-inside").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_it_uses_the_whole_width(address, visit):
    page = visit(viewport={"width": 1600, "height": 900}).open(f"{address}/en/ledger.html")
    assert page.locator(".ledger-lines").bounding_box()["width"] > 1100


def test_it_prints_on_ten_pages(address, visit):
    page = visit().open(f"{address}/en/ledger.html")
    page.emulate_media(media="print")
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4"))) <= 10
