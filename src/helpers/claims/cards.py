"""What is seen of a report: cards, outlines and overviews, by the claims' present words and rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .entries import LANGUAGES, Entry, claim
from .render import card_html, card_text, outline_html, overview_html
from .reports import completed


def rendered(record: dict[str, Any]) -> dict[str, Any]:
    """Card of a record as HTML and as text, by the claims' present words and rules."""
    entry, done = claim(record["id"]), completed(record)
    return {"text/html": card_html(entry, done),
            "text/plain": "\n".join(card_text(entry, done, lang) for lang in LANGUAGES)}


def rendered_list(record: Mapping[str, Any]) -> dict[str, Any]:
    """An outline or overview as HTML and as text."""
    entries = [claim(id) for id in record["ids"]]
    if record["kind"] == "outline":
        html = outline_html(entries)
    else:
        rows: list[tuple[Entry, dict | None]] = [(entry, None) for entry in entries]
        html = "".join(f'<div class="bi" lang="{lang}">{overview_html(rows, lang)}</div>' for lang in LANGUAGES)
    lines = [f"{entry['id']} {entry['statement'][lang]}" for lang in LANGUAGES for entry in entries]
    return {"text/html": html, "text/plain": "\n".join(lines)}
