"""The page that lists every figure and table of both papers, from book/coverage.yml."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from .contents import PLANNED
from .source import OTHER, Source, SourceError

HEADS = {"en": ("In the paper", "shows", "chapter", "here"), "ko": ("논문에서", "내용", "장", "이 책에서")}
WORDS = {"ko": {"Fig.": "그림", "Table": "표"}}
NONE = {"en": "not reproduced: {}", "ko": "다시 만들지 않음: {}"}


def load(root: Path) -> dict[str, list[dict[str, Any]]]:
    """{paper: rows}; a row that says neither where nor why is refused."""
    path = root / "book" / "coverage.yml"
    papers = yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else {}
    for rows in papers.values():
        for row in rows:
            texts = [row["what"], row["here"] if row.get("chapters") else row.get("why", {})]
            if any(set(text) != set(OTHER) for text in texts):
                raise SourceError(f"{path}: {row['item']} needs `what` and either `chapters` with `here` or `why`, "
                                  "in both languages")
    return papers


def table(rows: list[dict[str, Any]], sources: dict[str, Source], lang: str) -> str:
    """Markdown table; what stands in a chapter that is not written yet is announced as such."""
    lines = [HEADS[lang], ["---"] * 4, *(_cells(row, sources, lang) for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _cells(row: dict[str, Any], sources: dict[str, Source], lang: str) -> list[str]:
    item = re.sub("|".join(map(re.escape, WORDS.get(lang, {}))) or "$^", lambda word: WORDS[lang][word[0]], row["item"])
    names = row.get("chapters", [])
    if not names:
        return [item, row["what"][lang], "–", NONE[lang].format(row["why"][lang])]
    links = [f"[{int(name[:2])}]({name}.ipynb)" if name in sources else str(int(name[:2])) for name in names]
    written = all(name in sources for name in names)
    return [item, row["what"][lang], ", ".join(links), row["here"][lang] if written else PLANNED[lang]]
