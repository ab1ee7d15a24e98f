"""The book's vocabulary (book/glossary.yml): the tables of the glossary page, and wrong words in Korean text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

HEADER = {"en": ("English", "Korean", "Meaning", "Chapter"), "ko": ("영어", "한국어", "뜻", "장")}
ALSO_SEEN = {"en": "Also seen: ", "ko": "다른 글의 표기: "}
WRONG = {"en": "Not ", "ko": "쓰지 않는 말: "}
GLOSS = re.compile(r"([가-힣–]+(?: [가-힣–]+)*)\(([A-Za-z][^()]*)\)")


def load(root: Path) -> list[dict[str, Any]]:
    """Entries of book/glossary.yml in the order of the file."""
    return yaml.safe_load((root / "book" / "glossary.yml").read_text(encoding="utf-8"))


def table(entries: list[dict[str, Any]], direction: str, lang: str, chapters: dict[str, str]) -> str:
    """Markdown table from one language to the other ("en-ko" or "ko-en"), with what terms mean in `lang`.

    `chapters` says in which chapter an English term is introduced.
    """
    source, target = direction.split("-")
    english, korean, meaning, chapter = HEADER[lang]
    names = {"en": english, "ko": korean}
    rows = [(names[source], names[target], meaning, chapter), ("---",) * 4]
    for entry in sorted(entries, key=lambda entry: entry[source].strip("[").casefold()):
        told = " ".join(filter(None, (entry["definition"][lang], remarks(entry, lang))))
        name = chapters.get(entry["en"])
        rows.append((entry[source], entry[target], told, f"[{int(name[:2])}]({name}.ipynb)" if name else ""))
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)


def glosses(entry: dict[str, Any]) -> list[tuple[str, str]]:
    """Pairs of a Korean and an English word that introduce a term: 표현(representation)."""
    return GLOSS.findall(entry.get("first_use", ""))


def introduced(entries: list[dict[str, Any]], korean: str) -> list[dict[str, Any]]:
    """The entries that a Korean text introduces, each with its word in both languages."""
    text = korean.replace("*", "")
    return [entry for entry in entries if any(f"{word}({english}" in text for word, english in glosses(entry))]


def first_chapters(entries: list[dict[str, Any]], korean: dict[str, str]) -> dict[str, str]:
    """{English term: name of the first chapter, in the order of the names, whose Korean text introduces it}."""
    found: dict[str, str] = {}
    for name, text in sorted(korean.items()):
        for entry in introduced(entries, text):
            found.setdefault(entry["en"], name)
    return found


def remarks(entry: dict[str, Any], lang: str) -> str:
    """Note of an entry and the words to avoid."""
    avoid = entry.get("avoid", [])
    parts = [f"({entry['note'][lang]})"] if "note" in entry else []
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
    pairs = [pair for entry in entries for pair in glosses(entry)]
    expected = {english.lower(): word for word, english in pairs}
    for word, english in GLOSS.findall(korean.replace("*", "")):
        right = expected.get(english.lower())
        if right and not word.endswith(right):
            yield f"writes “{word}({english})”; the glossary's word for {english} is {right}"
