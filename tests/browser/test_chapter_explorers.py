"""Every explorer of every chapter on the built site: each control moves what the reader sees, and a link keeps it."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest
from explorer_moves import moves
from playwright.sync_api import expect

ROOT = Path(__file__).resolve().parents[2]
CALL = re.compile(r"^(?:\w+ = )?(\w+_explorer)\(", re.MULTILINE)
CALLS = {path.stem: CALL.findall(path.read_text(encoding="utf-8")) for path in (ROOT / "book/chapters").glob("*.md")}
CHAPTERS = sorted(name for name, calls in CALLS.items() if calls)
SIZES = {"desktop": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}
LANGUAGES = ("en", "ko")
DRAWN = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
PICTURES = "node => [...node.querySelectorAll('canvas')].map(canvas => canvas.hidden ? '' : canvas.toDataURL()).join()"


def look(explorer) -> tuple[str, str]:
    """Caption and pictures, once the data are there and the last change is drawn."""
    expect(explorer.get_by_role("button").first).to_be_enabled()
    explorer.page.evaluate(DRAWN)
    caption = explorer.locator(".ex-caption")
    expect(caption).to_contain_text(re.compile(r"\d"))
    expect(caption).not_to_contain_text(re.compile("computing|계산 중"))
    return caption.inner_text(), explorer.evaluate(PICTURES)


@pytest.mark.parametrize(("chapter", "lang", "size"), list(itertools.product(CHAPTERS, LANGUAGES, SIZES)))
def test_controls_table_and_link(visit, address, chapter, lang, size):
    visitor = visit(viewport=SIZES[size])
    page = visitor.open(f"{address}/{lang}/{chapter}.html")
    explorers = page.locator(".explorer")
    expect(explorers).to_have_count(len(CALLS[chapter]))
    for index in range(len(CALLS[chapter])):
        explorer = explorers.nth(index)
        explorer.scroll_into_view_if_needed()
        seen = {look(explorer)}
        for name, act in moves(explorer):
            before = look(explorer)
            act()
            after = look(explorer)
            assert after != before, f"{chapter}: control {name} changes neither picture nor caption"
            seen.add(after)
        assert min(len(set(column)) for column in zip(*seen, strict=True)) > 1, f"{chapter}: nothing moves"
        check_table(explorer)
        check_link(visitor, explorer, index)
    assert visitor.troubles == []


def check_table(explorer) -> None:
    """The numbers behind the picture are there, for the row that is read too."""
    explorer.locator("button[aria-expanded]").click()
    expect(explorer.locator(".ex-table td").nth(1)).to_be_visible()  # filled when the view is drawn again
    cells = explorer.locator(".ex-table td").all_inner_texts()
    assert sum(bool(re.search(r"\d", cell)) for cell in cells) > 1


def check_link(visitor, explorer, index: int) -> None:
    """What the address says opens the same view for another reader."""
    explorer.locator("button:visible", has_text=re.compile("Copy link|링크 복사")).click()
    other = visitor.context.new_page()
    other.goto(visitor.page.url)
    again = other.locator(".explorer").nth(index)
    assert look(again)[0] == explorer.locator(".ex-caption").inner_text()
    other.close()
