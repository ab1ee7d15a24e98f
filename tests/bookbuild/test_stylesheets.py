"""Pages get their styles in one file."""

from __future__ import annotations

import pytest

from bookbuild.stylesheets import join_stylesheets

HEAD = """<head>
  <link rel="stylesheet" type="text/css" href="{up}_static/styles/theme.css?v=1" />
<link href="{up}_static/book.css" rel="stylesheet">
<link rel="icon" href="{up}_static/logo.svg">
</head>"""


@pytest.fixture
def site(tmp_path):
    """Two pages with the same styles, one of which imports another, and a page without."""
    (tmp_path / "_static/styles").mkdir(parents=True)
    (tmp_path / "_static/basic.css").write_text("a { color: red; }\n", encoding="utf-8")
    (tmp_path / "_static/styles/theme.css").write_text('@import "../basic.css";\n/* why */ b { x: y; }')
    (tmp_path / "_static/book.css").write_text("/*! license */ a { color: blue; }", encoding="utf-8")
    for name in ("one", "two"):
        (tmp_path / f"{name}.html").write_text(HEAD.format(up=""), encoding="utf-8")
    (tmp_path / "plain.html").write_text("<p>no style</p>", encoding="utf-8")
    return tmp_path


def test_one_request_brings_all_styles_in_their_order(site):
    join_stylesheets(site)
    (joined,) = (site / "_static").glob("site-*.css")
    text = joined.read_text(encoding="utf-8")
    assert text.index("red") < text.index("b {") < text.index("license") < text.index("blue")
    assert "@import" not in text and "why" not in text
    for name in ("one", "two"):
        html = (site / f"{name}.html").read_text(encoding="utf-8")
        assert html.count("stylesheet") == 1 and f"_static/{joined.name}" in html and "logo.svg" in html


def test_the_name_says_what_it_holds(site):
    join_stylesheets(site)
    before = {path.name for path in (site / "_static").glob("site-*.css")}
    (site / "_static/book.css").write_text("a { color: green; }", encoding="utf-8")
    (site / "one.html").write_text(HEAD.format(up=""), encoding="utf-8")
    join_stylesheets(site)
    assert {path.name for path in (site / "_static").glob("site-*.css")} > before


def test_a_page_without_styles_stays_as_it_is(site):
    join_stylesheets(site)
    assert (site / "plain.html").read_text(encoding="utf-8") == "<p>no style</p>"
