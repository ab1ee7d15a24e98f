"""Data that a page loads on demand: a book of one notebook, built for real, then read over HTTP and from a disk."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import nbformat
import numpy as np
import pytest
from playwright.sync_api import expect

from bookbuild import build, paths
from helpers import CKA
from helpers.explore import cka_explorer

MOST_INLINE = 1_500_000  # bytes of scripts in one page
VALUES = np.random.default_rng(0).random((5, 5))
PAIR = CKA(VALUES[:3, :3], ["a0", "a1", "a2"], 9, 9, VALUES[3:, 3:], VALUES[:3, 3:], ["b0", "b1"])
TOC = "format: jb-book\nroot: index\nchapters:\n- file: 01_maps\n"


def executed_notebook() -> nbformat.NotebookNode:
    """What the builder would keep of a cell that ends with an explorer."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BOOK_STATIC", "1")
        bundle = cka_explorer({"A × B": PAIR}, row=1, column=2)._repr_mimebundle_()
    output = nbformat.v4.new_output("execute_result", data=bundle, execution_count=1)
    code = nbformat.v4.new_code_cell("cka_explorer(results)", outputs=[output], execution_count=1)
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# 지도"), code], metadata=kernel)


@pytest.fixture(scope="module")
def small_book(tmp_path_factory) -> Path:
    """A site with one Korean chapter, made by the book's own builder, extensions and settings."""
    root = tmp_path_factory.mktemp("book")
    shutil.copy(paths.ROOT / "_config.yml", root)
    shutil.copytree(paths.ROOT / "book", root / "book", ignore=shutil.ignore_patterns("mathjax", "chapters", "pages"))
    notebooks = root / "notebooks" / "ko"
    notebooks.mkdir(parents=True)
    (notebooks / "_toc.yml").write_text(TOC)
    (notebooks / "index.md").write_text("---\nmyst: {html_meta: {description: one chapter}}\n---\n# 책\n")
    executed = executed_notebook()
    paths.executed(root).mkdir(parents=True)
    nbformat.write(executed, paths.executed(root) / "01_maps.ipynb")
    executed.cells[1].outputs = []
    nbformat.write(executed, notebooks / "01_maps.ipynb")
    shutil.copytree(build.build_language(root, "ko"), root / "_site" / "ko")
    (root / "_site" / "404.html").write_text("not here")
    return root / "_site"


def inline_bytes(page: Path) -> int:
    """Size of all scripts that stand in a page."""
    scripts = re.findall(r"<script[^>]*>(.*?)</script>", page.read_text(encoding="utf-8"), re.DOTALL)
    return sum(len(script.encode()) for script in scripts)


def read_maps(page, parts: list[str]) -> None:
    """Both maps of the chapter, of which the second is loaded only when it is asked for."""
    caption = page.locator(".ex-caption")
    expect(caption).to_contain_text(f"A a2, B b1: CKA {PAIR.cross[2, 1]:.3f}.")
    assert len(parts) == 1
    page.get_by_label("모델", exact=True).select_option("B")
    expect(caption).to_contain_text(f"B b1, B b1: CKA {PAIR.other[1, 1]:.3f}.")
    page.get_by_label("모델", exact=True).select_option("A × B")
    expect(caption).to_contain_text("A a1, B b1: CKA 0.")
    assert len(parts) == 2


def test_parts_are_loaded_when_they_are_shown(visit, small_book, serve):
    served = serve(small_book)
    for own, address in [(served, f"{served}/ko/01_maps.html"), ("file://", (small_book / "ko/01_maps.html").as_uri())]:
        visitor, parts = visit(own=own), []
        visitor.page.on("request", lambda r, seen=parts: seen.append(r.url) if "/explorers/" in r.url else None)
        visitor.page.goto(address)
        read_maps(visitor.page, parts)
        assert [trouble for trouble in visitor.troubles if "mathjax" not in trouble] == []  # left out of this book


def test_a_part_that_is_missing_gives_a_sentence(visit, small_book, tmp_path):
    alone = shutil.copytree(small_book / "ko", tmp_path / "ko", ignore=shutil.ignore_patterns("explorers"))
    page = visit(own="file://").page
    page.goto((alone / "01_maps.html").as_uri())
    expect(page.locator(".ex-caption")).to_contain_text("이 화면의 데이터를 불러오지 못했다")
    assert page.locator(".explorer canvas:visible").count() == 0
    shutil.copytree(small_book / "ko/_static/explorers", alone / "_static/explorers")
    page.get_by_label("모델", exact=True).select_option("B")  # the reader may go on, and come back
    expect(page.locator(".ex-caption")).to_contain_text("B b1: CKA 0.")
    page.get_by_label("모델", exact=True).select_option("A × B")
    expect(page.locator(".ex-caption")).to_contain_text("A a1, B b1: CKA 0.")


def test_old_parts_do_not_stay(small_book):
    folder = small_book / "ko/_static/explorers"
    assert len(list(folder.glob("*.js"))) == 3  # A × B, A and B
    assert inline_bytes(small_book / "ko/01_maps.html") < 100_000


def test_no_page_carries_much_data(site):
    pages = [page for language in ("en", "ko") for page in (site / language).glob("*.html")]
    assert pages
    assert {page.name: inline_bytes(page) for page in pages if inline_bytes(page) > MOST_INLINE} == {}
