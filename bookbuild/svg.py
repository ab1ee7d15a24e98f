"""Figures of a notebook as elements of its page: they follow the theme, and pieces of a wide one can be stacked.

bookbuild/drawing.py draws them, with text as text. Here they lose their own fonts and colours of the page, get names
that are unique on it, and are cut into pieces that a narrow page can wrap like words.
"""

from __future__ import annotations

import json
import math
import re
from html import escape
from itertools import pairwise

PX = 96 / 72  # CSS pixels of a point
LEGIBLE = 9.0  # CSS pixels: no text becomes smaller, rather the figure scrolls
# What stands for a colour of the page or of its theme; book.css has the values for light and dark pages.
THEME = {
    "#000000": "currentColor", "#262626": "currentColor", "#fefefe": "var(--plot-paper)",
    "#666666": "var(--pst-color-text-muted)",
    "#0072b2": "var(--plot-0)", "#c8501e": "var(--plot-1)", "#00785a": "var(--plot-2)", "#a3417a": "var(--plot-3)",
    "#7d5f00": "var(--plot-4)", "#5b6270": "var(--plot-5)",
}
COLOUR = re.compile(r"#[0-9a-f]{6}\b")
FONT = re.compile(r"font-family: [^;\"]+;? ?|(font: (?:italic |bold |normal |[1-9]00 )*[\d.]+px )[^;\"]+")
SIZE = re.compile(r"font(?:-size)?: (?:italic |bold |normal |[1-9]00 )*([\d.]+)px")
ID = re.compile(r'\bid="([^"]+)"')


def figure(drawing: str, name: str, described: str) -> str:
    """HTML of a drawing; `name` is its own on the page, `described` says what it shows."""
    cuts = json.loads(found[1])["cuts"] if (found := re.match(r"<!-- (\{.*?\}) -->", drawing)) else []
    width, height = (float(value) for value in re.findall(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', drawing)[0])
    shrinks_to = min(1.0, LEGIBLE / (smallest_text(drawing) * PX))
    body = themed(own_names(inside(drawing), name))
    edges = [0.0, *cuts, width]
    pieces = []
    for number, (left, right) in enumerate(pairwise(edges)):
        content = f'<g id="{name}">{body}</g>' if number == 0 else f'<use href="#{name}"/>'
        natural = (right - left) * PX
        pieces.append(f'<svg viewBox="{left:g} 0 {right - left:g} {height:g}" style="--natural: {natural:.0f}px; '
                      f'--least: {natural * shrinks_to:.0f}px; --share: {natural:.0f}">{content}</svg>')
    label = f'role="img" aria-label="{escape(described)}"' if described else 'role="img"'
    return f'<div class="plot" {label}>{"".join(pieces)}</div>'


def smallest_text(drawing: str) -> float:
    """Points of the smallest text, not counting exponents; endless when there is no text."""
    texts = re.findall(r"<text .*?</text>", drawing, flags=re.DOTALL)
    sizes = [[float(size) for size in SIZE.findall(text)] for text in texts]
    return min((max(of_text) for of_text in sizes if of_text), default=math.inf)


def inside(drawing: str) -> str:
    """What stands between <svg> and </svg>, without the drawing's metadata and its style for everything."""
    body = drawing[drawing.index(">", drawing.index("<svg ")) + 1 : drawing.rindex("</svg>")]
    body = re.sub(r"<metadata>.*?</metadata>|<style [^>]*>.*?</style>|<!--.*?-->", "", body, flags=re.DOTALL)
    body = re.sub(r"\s*\n\s*", "\n", body.replace("xlink:href", "href"))
    return re.sub(r"<defs>\s*</defs>\s*", "", body)


def own_names(body: str, name: str) -> str:
    """Names of this drawing alone; those that nothing refers to are dropped."""
    used = set(re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', body))
    wanted = {one for pair in used for one in pair if one}
    body = ID.sub(lambda found: f'id="{name}-{found[1]}"' if found[1] in wanted else "", body)
    return re.sub(r'(url\(#|href="#)', rf"\g<1>{name}-", body)


def themed(body: str) -> str:
    """Colours and fonts of the page instead of the drawing's; pictures inside stay as they are."""
    parts = re.split(r'("data:[^"]*")', body)
    for i in range(0, len(parts), 2):
        text = FONT.sub(lambda found: f"{found[1]}var(--pst-font-family-base)" if found[1] else "", parts[i])
        parts[i] = COLOUR.sub(lambda found: THEME.get(found[0], found[0]), text)
    return "".join(parts)
