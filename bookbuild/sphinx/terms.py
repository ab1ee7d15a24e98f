"""What a term means, where a chapter first uses it: shown to a mouse that rests on it, to a key, and to a tap.

The Korean text of a chapter says which terms it introduces, as 표현(representation); both languages explain
the same ones.
"""

from __future__ import annotations

import re
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import nbformat
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

from .. import glossary, paths

NOT_IN = (nodes.title, nodes.literal, nodes.math, nodes.reference, nodes.raw, nodes.literal_block, nodes.thead)
Entry = dict[str, Any]


@cache
def introduced(root: Path, name: str) -> list[Entry]:
    """The terms that a chapter introduces."""
    path = paths.notebooks(root, "ko") / f"{name}.ipynb"
    if not path.exists():
        return []
    cells = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown"]
    return glossary.introduced(glossary.load(root), "\n\n".join(cells))


def words(entry: Entry, lang: str) -> re.Pattern[str]:
    """Finds a term in a text: in Korean where it is introduced, in English wherever it stands."""
    pairs = glossary.glosses(entry)
    if lang == "ko":
        glossed = (rf"(?<![가-힣]){re.escape(word)}(?=\({re.escape(english)})" for word, english in pairs)
        return re.compile("|".join(glossed))
    forms = sorted({form for _, english in pairs for form in english.split(", ")}, key=len, reverse=True)
    return re.compile("|".join(rf"\b{re.escape(form)}(?:s|es)?\b" for form in forms), re.IGNORECASE)


def explain(doctree: nodes.Element, entries: list[Entry], lang: str) -> None:
    """Explain each term at its first place in the text."""
    texts = [text for text in doctree.findall(nodes.Text) if _is_prose(text)]
    for number, entry in enumerate(entries):
        pattern = words(entry, lang)
        for i, text in enumerate(texts):
            if found := pattern.search(text.astext()):
                texts[i : i + 1] = _split(text, found, number, entry["definition"][lang])
                break


def _is_prose(text: nodes.Text) -> bool:
    node, in_paragraph = text.parent, False
    while node is not None:
        if isinstance(node, NOT_IN):
            return False
        in_paragraph |= isinstance(node, nodes.paragraph)
        node = node.parent
    return in_paragraph


def _split(text: nodes.Text, found: re.Match[str], number: int, meaning: str) -> list[nodes.Text]:
    """Put the explained word between what stands before and behind it; returns these two."""
    before, after = nodes.Text(text.astext()[: found.start()]), nodes.Text(text.astext()[found.end() :])
    place = text.parent.index(text)
    text.parent[place : place + 1] = [before, nodes.raw("", html(found[0], number, meaning), format="html"), after]
    return [before, after]


def html(word: str, number: int, meaning: str) -> str:
    """The word with its meaning, which styles keep out of sight until it is asked for."""
    tip = f'<span class="term-meaning" role="tooltip" id="term-{number}">{escape(meaning)}</span>'
    return f'<dfn class="term" tabindex="0" aria-describedby="term-{number}">{escape(word)}{tip}</dfn>'


def explain_terms(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Explain the terms of a chapter."""
    source = Path(app.env.doc2path(docname))
    if source.suffix == ".ipynb" and app.builder.format == "html":
        explain(doctree, introduced(Path(app.config.book_root), source.stem), app.config.language)


def setup(app: Sphinx) -> ExtensionMetadata:
    """Connect."""
    app.connect("doctree-resolved", explain_terms)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
