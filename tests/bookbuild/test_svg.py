"""Figures as parts of a page: theme, names of their own, pieces, legible text."""

from __future__ import annotations

import re

from bookbuild import svg

DRAWING = """<!-- {"cuts": [150.0]} -->
<?xml version="1.0"?>
<svg xmlns:xlink="http://www.w3.org/1999/xlink" width="300pt" height="100pt" viewBox="0 0 300 100" version="1.1">
 <metadata>made by</metadata>
 <defs><style type="text/css">*{stroke-linejoin: round}</style></defs>
 <g id="figure_1"><path id="m1" style="stroke: #262626"/><use xlink:href="#m1" style="fill: #0072b2"/>
 <g clip-path="url(#p2)"><image xlink:href="data:image/png;base64,#000000AAAA"/></g>
 <text style="font: 9px 'DejaVu Sans', sans-serif; text-anchor: middle">CKA</text>
 <text style="font-size: 12px; font-family: 'DejaVu Sans'">10<tspan style="font-size: 4px">3</tspan></text></g>
 <clipPath id="p2"><rect/></clipPath>
</svg>"""


def test_the_theme_colours_it_and_pictures_inside_stay():
    html = svg.figure(DRAWING, "plot-1", "A line.")
    assert "stroke: currentColor" in html and "fill: var(--plot-0)" in html
    assert "base64,#000000AAAA" in html and "DejaVu" not in html and "<style" not in html and "made by" not in html


def test_names_are_its_own_and_refer_to_something():
    html = svg.figure(DRAWING, "plot-1", "A line.") + svg.figure(DRAWING, "plot-2", "Another.")
    names = re.findall(r'\bid="([^"]+)"', html)
    assert len(names) == len(set(names))
    used = re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', html)
    assert {one for pair in used for one in pair if one} <= set(names)
    assert "figure_1" not in html


def test_pieces_stand_side_by_side_or_below_each_other():
    html = svg.figure(DRAWING, "plot-1", "A line.")
    assert re.findall(r'viewBox="([^"]+)"', html) == ["0 0 150 100", "150 0 150 100"]
    assert html.count('<use href="#plot-1"/>') == 1


def test_no_text_becomes_smaller_than_legible():
    assert svg.smallest_text(DRAWING) == 9  # an exponent is part of its number
    least, natural = (float(re.search(rf"--{name}: (\d+)px", svg.figure(DRAWING, "plot-1", ""))[1])
                      for name in ("least", "natural"))
    assert least == round(natural * svg.LEGIBLE / (9 * svg.PX))


def test_a_drawing_without_text_may_become_any_size():
    html = svg.figure(re.sub(r"<text.*?</text>", "", DRAWING, flags=re.DOTALL), "plot-1", "")
    assert "--least: 0px" in html


def test_it_says_what_it_shows():
    assert 'role="img" aria-label="A &lt;b&gt; &quot;line&quot;."' in svg.figure(DRAWING, "plot-1", 'A <b> "line".')
