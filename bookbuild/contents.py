"""The book's contents: the map of chapters on the first page and Jupyter Book's tables of contents."""

from __future__ import annotations

import re
from typing import Any

import yaml

from .source import Source, SourceError

PLANNED = {"en": "in preparation", "ko": "준비 중"}
SECTIONS = {"en": r"^Mirrors (.+?) of \w+ et al\., \[[^]]*\]\([^)]*\)", "ko": r"^\w+ 외, \[[^]]*\]\([^)]*\)의 (.+)"}


def chapter_map(contents: dict[str, Any], sources: dict[str, Source], lang: str) -> str:
    """All parts and chapters as Markdown lists: what a chapter mirrors, minutes, what it needs.

    Chapters that are not written are named, not linked.
    """
    parts = []
    for part in contents["parts"]:
        items = [_item(entry, sources.get(entry["file"]), lang) for entry in part["files"]]
        parts.append("\n".join([f"**{part[lang]}**", "", *items]))
    return "\n\n".join(parts)


def _item(entry: dict[str, Any], source: Source | None, lang: str) -> str:
    title = re.sub(r"^(\d+)\.", r"\1\\.", entry[lang])  # not a numbered list inside the list
    if source is None:
        return f"- {title} ({PLANNED[lang]})"
    item = f"- [{title}]({source.path.stem}{source.suffix})"
    if source.suffix != ".ipynb":
        return item
    return f"{item}\\\n  {' · '.join(about(source, lang))}"


def about(source: Source, lang: str) -> list[str]:
    """What a chapter mirrors, how long it takes and what it needs: the italic line below its title."""
    line = next((" ".join(part.split()) for part in source.blocks[0].text[lang].split("\n\n")[1:2]), "")
    parts = line.strip("*").split(" · ")
    if not (line.startswith("*") and line.endswith("*") and len(parts) == 3):
        wanted = "*what it mirrors · minutes · what it needs*"
        raise SourceError(f"{source.path}: below the {lang} title should stand {wanted}, not {line!r}")
    named = re.search(SECTIONS[lang], parts[0])
    return [named[1] + parts[0][named.end():] if named else parts[0], *parts[1:]]


def toc_text(contents: dict[str, Any], sources: dict[str, Source], lang: str, folder: str = "") -> str:
    """Jupyter Book's table of contents with the files that exist."""
    parts = []
    for part in contents["parts"]:
        if files := [{"file": folder + entry["file"]} for entry in part["files"] if entry["file"] in sources]:
            parts.append({"caption": part[lang], "chapters": files})
    toc = {"format": "jb-book", "root": folder + contents["root"], "parts": parts}
    header = "# Written by `make notebooks` from book/toc.yml.\n"
    return header + yaml.safe_dump(toc, allow_unicode=True, sort_keys=False)
