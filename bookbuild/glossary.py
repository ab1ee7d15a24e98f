"""The book's vocabulary (book/glossary.yml): the tables of the glossary page, and wrong words in Korean text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

HEADER = {"en": ("English", "Korean", "First use", "Note"), "ko": ("영어", "한국어", "처음 쓸 때", "비고")}
ALSO_SEEN = {"en": "Also seen: ", "ko": "다른 글의 표기: "}
WRONG = {"en": "Not ", "ko": "쓰지 않는 말: "}
GLOSS = re.compile(r"([가-힣–]+(?: [가-힣–]+)*)\(([A-Za-z][^()]*)\)")


def load(root: Path) -> list[dict[str, Any]]:
    """Entries of book/glossary.yml in the order of the file."""
    return yaml.safe_load((root / "book" / "glossary.yml").read_text(encoding="utf-8"))


def table(entries: list[dict[str, Any]], direction: str, lang: str) -> str:
    """Markdown table from one language to the other ("en-ko" or "ko-en"), with headings and notes in `lang`."""
    source, target = direction.split("-")
    english, korean, first_use, note = HEADER[lang]
    names = {"en": english, "ko": korean}
    rows = [(names[source], names[target], first_use, note), ("---",) * 4]
    for entry in sorted(entries, key=lambda entry: entry[source].strip("[").casefold()):
        rows.append((entry[source], entry[target], entry.get("first_use", ""), remarks(entry, lang)))
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)


def remarks(entry: dict[str, Any], lang: str) -> str:
    """Note of an entry with the words to avoid, as one table cell."""
    avoid = entry.get("avoid", [])
    parts = [entry["note"][lang]] if "note" in entry else []
    parts += [f"{WRONG[lang]}<del>{word['word']}</del>: {word['reason'][lang]}" for word in avoid if word["wrong"]]
    if seen := [word["word"] for word in avoid if not word["wrong"]]:
        parts.append(ALSO_SEEN[lang] + ", ".join(seen))
    return ". ".join(parts)


def wrong_words(entries: list[dict[str, Any]], korean: str) -> Iterator[str]:
    """One sentence for every banned word in a Korean text; struck-out words (<del>…</del>) are quotations."""
    text = re.sub(r"<del>.*?</del>", "", korean, flags=re.DOTALL)
    for entry in entries:
        for word in entry.get("avoid", []):
            pattern = word.get("pattern", re.escape(word["word"]))
            if word["wrong"] and (match := re.search(pattern, text, re.IGNORECASE)):
                yield f"writes “{match[0]}”: {word['reason']['en']}; the right term is {entry['ko']} ({entry['en']})"
    yield from wrong_glosses(entries, text)


def wrong_glosses(entries: list[dict[str, Any]], korean: str) -> Iterator[str]:
    """One sentence for every 한국어(English) whose Korean is not the glossary's word for that English."""
    pairs = [pair for entry in entries for pair in GLOSS.findall(entry.get("first_use", ""))]
    expected = {english.lower(): word for word, english in pairs}
    for word, english in GLOSS.findall(korean.replace("*", "")):
        right = expected.get(english.lower())
        if right and not word.endswith(right):
            yield f"writes “{word}({english})”; the glossary's word for {english} is {right}"
