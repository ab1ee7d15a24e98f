"""The styles of a page in one file: each request costs a phone a tenth of a second before anything is seen."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

SHEET = re.compile(r'[ \t]*<link\b(?=[^>]*rel="stylesheet")[^>]*href="([^":?]*_static/)([^"?]+\.css)[^"]*"[^>]*>\n?')


def join_stylesheets(site: Path) -> None:
    """Give every page of `site` one style, named by what it says; pages with the same styles share a file."""
    names: dict[tuple[str, ...], str] = {}
    for page in sorted(site.glob("*.html")):
        html = page.read_text(encoding="utf-8")
        sheets = tuple(name for _, name in SHEET.findall(html))
        if len(sheets) > 1:
            if sheets not in names:
                names[sheets] = write_joined(sheets, site / "_static")
            page.write_text(with_one(html, names[sheets]), encoding="utf-8")


def with_one(html: str, name: str) -> str:
    """The page with this style where its first one stood."""
    first = SHEET.search(html)
    assert first is not None
    link = f'<link rel="stylesheet" href="{first[1]}{name}">\n'
    return html[: first.start()] + link + SHEET.sub("", html[first.start() :])


def write_joined(sheets: tuple[str, ...], static: Path) -> str:
    """Write these styles as one file, in their order; returns its name."""
    text = "\n".join(style(static / name) for name in sheets)
    name = f"site-{hashlib.sha256(text.encode()).hexdigest()[:12]}.css"
    (static / name).write_text(text, encoding="utf-8")
    return name


def style(path: Path) -> str:
    """A style with those that it imports, without comments and needless space."""
    text = path.read_text(encoding="utf-8").replace('@charset "UTF-8";', "")
    text = re.sub(r'@import "([^"]+)";', lambda found: style(path.parent / found[1]), text)
    return re.sub(r"\s*\n\s*", "\n", re.sub(r"/\*(?!!).*?\*/", "", text, flags=re.DOTALL))
