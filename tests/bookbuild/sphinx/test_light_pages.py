"""A page asks for the scripts and styles that its own content needs."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pydata_sphinx_theme
import pytest

from bookbuild.paths import ROOT
from bookbuild.sphinx import light_pages

FILES = ["_static/book.css", "_static/mystnb.abc.css", "_static/sphinx-design.min.css", "_static/copybutton.css"]


def script(filename: str | None, body: str = "") -> SimpleNamespace:
    return SimpleNamespace(filename=filename, attributes={"body": body} if body else {})


SCRIPTS = [script("_static/book.js"), script("mathjax/tex-chtml-full.js"), script(None, "window.MathJax = {}"),
           script("_static/togglebutton.js"), script(None, "var togglebuttonSelector = '.toggle';")]


def kept(body: str) -> set[str]:
    """Names of the files that stay, and the inline scripts by their text."""
    context = {"body": body, "css_files": FILES, "script_files": SCRIPTS}
    light_pages.keep_what_is_used(None, "page", "page.html", context, None)
    scripts = {file.filename or file.attributes["body"] for file in context["script_files"]}
    return {Path(name).name for name in {*context["css_files"], *scripts}}


def test_plain_text_needs_the_books_own_files_only():
    assert kept("<p>Text</p>") == {"book.css", "book.js"}


@pytest.mark.parametrize(("body", "added"), [
    ('<div class="cell docutils"></div>', {"mystnb.abc.css"}),
    ("<pre>code</pre>", {"copybutton.css"}),
    ('<span class="math notranslate nohighlight">x</span>', {"tex-chtml-full.js", "window.MathJax = {}"}),
    ('<div class="sd-card"></div>', {"sphinx-design.min.css"}),
    ('<div class="toggle"></div>', {"togglebutton.js", "var togglebuttonSelector = '.toggle';"}),
])
def test_what_stands_on_a_page_brings_its_files(body, added):
    assert kept(body) == {"book.css", "book.js", *added}


def test_icons_have_no_font_and_no_script():
    head = ('<link href="a/fontawesome/6/css/all.min.css" rel="stylesheet" /><script src="a/fontawesome/6/js/all.js">'
            '</script><link href="book.css" rel="stylesheet">')
    assert light_pages.without_icon_loaders(head) == '<link href="book.css" rel="stylesheet">'


def theme_drawings() -> str:
    (found,) = Path(pydata_sphinx_theme.__file__).parent.rglob("fontawesome/*/js/all.min.js")
    return found.read_text(encoding="utf-8")


def test_every_icon_of_our_templates_is_drawn():
    style = light_pages.icon_style(theme_drawings())
    written = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "book" / "_templates").glob("*.html"))
    for name in ("bars", "list", "magnifying-glass"):
        assert f"fa-{name}" in written and f".fa-{name} {{ --icon: url(" in style
    assert len(style) < 20_000


def test_an_icon_that_the_theme_lacks_is_named():
    with pytest.raises(ValueError, match="no icon angle-down"):
        light_pages.icon_style("{}")
