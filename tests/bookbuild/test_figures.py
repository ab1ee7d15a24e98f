"""The page of figures and tables: nothing of either paper is missing, and every row says where or why not."""

from __future__ import annotations

import re

import pytest
import yaml

from bookbuild import figures
from bookbuild.paths import ROOT
from bookbuild.source import SourceError

FIGURES = {"vit": {"": 14}, "raghu": {"": 13, "B": 1, "C": 6, "D": 4, "E": 2, "F": 3, "G": 2, "H": 2}}
TABLES = {"vit": 9, "raghu": 0}


def named(item: str) -> list[str]:
    """Fig. C.1–C.3 → Fig. C.1, Fig. C.2, Fig. C.3"""
    word, rest = item.split(" ", 1)
    found = []
    for part in rest.split(", "):
        first, _, last = part.partition("–")
        letter, low = re.fullmatch(r"(?:([A-H])\.)?(\d+)", first).groups()
        high = int(last.rpartition(".")[2]) if last else int(low)
        found += [f"{word} {letter + '.' if letter else ''}{n}" for n in range(int(low), high + 1)]
    return found


@pytest.mark.parametrize("paper", ["vit", "raghu"])
def test_every_figure_and_table_has_one_row(paper):
    rows = [name for row in figures.load(ROOT)[paper] for name in named(row["item"])]
    dotted = lambda letter: f"{letter}." if letter else ""
    expected = [f"Fig. {dotted(letter)}{n}" for letter, last in FIGURES[paper].items() for n in range(1, last + 1)]
    assert rows == expected + [f"Table {n}" for n in range(1, TABLES[paper] + 1)]


def test_chapters_are_those_of_the_contents():
    contents = yaml.safe_load((ROOT / "book" / "toc.yml").read_text(encoding="utf-8"))
    known = {entry["file"] for part in contents["parts"] for entry in part["files"]}
    assert {name for rows in figures.load(ROOT).values() for row in rows for name in row.get("chapters", [])} <= known


def test_a_row_says_where_or_why_not(tmp_path):
    (tmp_path / "book").mkdir()
    text = "vit:\n- {item: Fig. 1, what: {en: a, ko: b}}\n"
    (tmp_path / "book" / "coverage.yml").write_text(text, encoding="utf-8")
    with pytest.raises(SourceError, match=r"Fig\. 1 needs `what` and either"):
        figures.load(tmp_path)


def test_the_table_links_written_chapters_and_announces_others():
    what = {"en": "a", "ko": "가"}
    row = {"item": "Fig. 3", "what": what, "chapters": ["04_vit_why", "10_data"], "here": {"en": "b", "ko": "나"}}
    none = {"item": "Table 9", "what": what, "why": {"en": "c", "ko": "다"}}
    table = figures.table([row, none], {"04_vit_why": None}, "ko").splitlines()
    assert table[2] == "| 그림 3 | 가 | [4](04_vit_why.ipynb), 10 | 준비 중 |"
    assert table[3] == "| 표 9 | 가 | – | 다시 만들지 않음: 다 |"
    both = {"04_vit_why": None, "10_data": None}
    assert figures.table([row], both, "en").endswith("| [4](04_vit_why.ipynb), [10](10_data.ipynb) | b |")
