"""Every page of both languages loads, over HTTP below a sub-path and from a disk, and asks no other host."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LANGUAGES = ("en", "ko")
CODE = [["div.highlight"]]  # thousands of coloured words, the same on all pages: measured on one


def pages(site: Path, language: str) -> list[str]:
    """Names of the pages of one language."""
    return sorted(path.name for path in (site / language).glob("*.html"))


@pytest.fixture(scope="session")
def chapters(site: Path) -> list[str]:
    """Pages made from notebooks."""
    names = [path.stem + ".html" for path in (ROOT / "notebooks" / "en").glob("*.ipynb")]
    assert names, "no notebook in notebooks/en"
    return sorted(names)


def test_both_languages_have_the_same_pages(site):
    assert pages(site, "en") == pages(site, "ko")


@pytest.mark.parametrize("language", LANGUAGES)
def test_pages_load_without_trouble(site, address, visit, language):
    visitor, formulas = visit(), {}
    for name in pages(site, language):
        page = visitor.open(f"{address}/{language}/{name}")
        assert page.locator("html").get_attribute("lang") == language, name
        assert page.locator("h1").first.inner_text().strip(), name
        formulas[name] = page.locator("mjx-container").count()
        assert page.locator("mjx-merror").count() == 0, f"{language}/{name} has a formula that cannot be set"
    assert formulas["17_cka.html"] > 0
    assert not visitor.troubles, "\n".join(visitor.troubles)


@pytest.mark.parametrize("language", LANGUAGES)
def test_pages_load_from_a_disk(site, visit, language):
    visitor = visit(own="file://")
    for name in pages(site, language):
        visitor.open((site / language / name).as_uri())
    assert not visitor.troubles, "\n".join(visitor.troubles)


@pytest.mark.parametrize("language", LANGUAGES)
def test_phone_width_needs_no_sideways_scrolling(site, address, visit, language):
    visitor = visit(viewport={"width": 390, "height": 844})
    for name in pages(site, language):
        page = visitor.open(f"{address}/{language}/{name}")
        wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert wide <= 0, f"{language}/{name} is {wide} px wider than a phone"


@pytest.mark.parametrize(("scheme", "dark"), [("light", False), ("dark", True)])
def test_colours_follow_the_reader(site, address, visit, chapters, scheme, dark):
    page = visit(color_scheme=scheme).open(f"{address}/ko/{chapters[0]}")
    red = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0]")
    assert (int(red) < 80) == dark


def test_notebooks_can_be_launched_and_downloaded(site, address, visit, chapters):
    page = visit().open(f"{address}/ko/{chapters[0]}")
    links = page.locator(".article-header-buttons a").evaluate_all("all => all.map(a => a.href)")
    notebook = chapters[0].replace(".html", ".ipynb")
    for host in ("https://colab.research.google.com/", "https://mybinder.org/"):
        assert any(x.startswith(host) and x.endswith(f"notebooks/ko/{notebook}") for x in links), host
    download = next(x for x in links if x.endswith(f"_sources/{notebook}"))
    assert page.request.get(download).ok


# ------------------------------------------------------------------------------------------ accessibility


@pytest.mark.parametrize(("language", "scheme"), [("en", "light"), ("ko", "dark")])  # each page and each theme once
def test_axe_finds_no_serious_violation(site, address, visit, axe, language, scheme):
    visitor, found = visit(color_scheme=scheme), []
    for name in pages(site, language):
        page = visitor.open(f"{address}/{language}/{name}")
        page.add_script_tag(content=axe.read_text(encoding="utf-8"))
        part = {"exclude": CODE if name != "17_cka.html" else []}
        result = page.evaluate("part => axe.run(part, {resultTypes: ['violations']})", part)
        for violation in result["violations"]:
            if violation["impact"] in ("serious", "critical"):
                found += [f"{name}: {violation['id']}: {node['html'][:160]}" for node in violation["nodes"]]
    assert not found, "\n".join(found)
