"""Read a bilingual source of the book and say, with file and line, what is wrong with it.

A source is a MyST notebook. Its Markdown blocks come in neighbouring pairs, `+++ {"lang": "en"}` and
`+++ {"lang": "ko"}`; its code cells belong to both languages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jupytext.myst import get_parser, myst_to_notebook
from nbformat import NotebookNode

OTHER = {"en": "ko", "ko": "en"}
MAX_CELLS, MAX_CODE_LINES, MAX_LINE = 40, 250, 88  # a line of code on a page that is 1280 pixels wide
KNOWN_METADATA = {"markdown": {"lang", "tags"}, "code": {"alt", "tags", "mystnb"}}
CODE = re.compile(r"^( *)(`{3,}|~{3,})(?! *\{).*?^\1\2|(?<!\})`[^`\n]+`", re.MULTILINE | re.DOTALL)
SITE_ONLY = re.compile(  # directives, roles, targets and footnotes: a notebook would show them raw
    r"^ *(?:`{3,}|~{3,}) *\{.*|^ *:{3,}.*|^\(.+\)=$|\{[a-z:-]+\}(?=`)|\[\^\w+\]", re.MULTILINE
)
VANISHING = re.compile(r"^(?:[ >]|[-*+] |\d+\. )*%.*", re.MULTILINE)  # also at the start of a list item
IMAGE_WITHOUT_ALT = re.compile(r"!\[\s*\]\([^)]*\)|<img(?![^>]*\balt=\"[^\"])[^>]*>")


class SourceError(Exception):
    """Everything that is wrong with a source, one line per problem."""


@dataclass(frozen=True)
class Block:
    """A pair of prose blocks, or a code cell (the same text in both languages)."""

    kind: str
    line: int
    text: dict[str, str]
    metadata: dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Source:
    """One parsed file of book/chapters or book/pages."""

    path: Path
    description: dict[str, str]
    blocks: list[Block]

    @property
    def suffix(self) -> str:
        """Ending of the generated file: chapters become notebooks, pages stay Markdown."""
        return ".ipynb" if self.path.parent.name == "chapters" else ".md"

    def title(self, lang: str) -> str:
        """Heading that opens the file."""
        return self.blocks[0].text[lang].splitlines()[0].removeprefix("# ")

    def prose(self, lang: str) -> str:
        """All its text in one language, without code."""
        return "\n\n".join(block.text[lang] for block in self.blocks if block.kind == "markdown")

    def twins(self) -> Iterator[tuple[str, str, str]]:
        """Every (place, English, Korean) of the file: description, prose, alternative texts."""
        yield "description", self.description["en"], self.description["ko"]
        for number, block in enumerate(self.blocks, 1):
            text = block.text if block.kind == "markdown" else block.metadata["en"].get("alt")
            if text:
                yield f"block {number} (line {block.line})", text["en"], text["ko"]


def read_source(path: Path) -> Source:
    """Parse and validate one source; raise with all its problems at once."""
    is_chapter = path.parent.name == "chapters"
    try:
        text = path.read_text(encoding="utf-8")
        notebook = myst_to_notebook(text, add_source_map=True)
    except Exception as error:  # not UTF-8, or front matter or metadata that jupytext, YAML or nbformat stumble over
        raise SourceError(f"{path}: {type(error).__name__}: {error}") from error
    # jupytext leaves out blocks without text, so the +++ lines are compared with what it kept
    starts = notebook.metadata.source_map
    breaks = [token.map[1] for token in get_parser().parse(text + "\n") if token.type == "myst_block_break"]
    empty = [line for line in breaks if line not in starts]
    problems = [f"line {line}: empty block; write its text or delete its +++ line" for line in empty]
    if not is_bilingual(notebook.metadata.get("description")):
        problems.append("line 1: the front matter needs description: {en: …, ko: …}, one sentence for search engines")
    lines = text.splitlines()
    cells = [(cell, line_of(cell, lines, start)) for cell, start in zip(notebook.cells, starts, strict=True)]
    for cell, line in cells:
        found = [*cell_problems(cell), *(chapter_cell_problems(cell) if is_chapter else page_cell_problems(cell))]
        problems += [f"line {line}: {problem}" for problem in found]
    blocks, unpaired = paired(cells)
    problems += unpaired or list(whole_problems(blocks, is_chapter))
    if problems:
        raise SourceError("\n".join(f"{path}: {problem}" for problem in problems))
    return Source(path, dict(notebook.metadata.description), blocks)


def line_of(cell: NotebookNode, lines: list[str], start: int) -> int:
    """Number, from 1, of the line that opens a code cell or of the first line of a prose block."""
    if cell.cell_type == "code":
        return start
    return next(number for number, line in enumerate(lines[start:], start + 1) if line.strip())


def paired(cells: list[tuple[NotebookNode, int]]) -> tuple[list[Block], list[str]]:
    """Join neighbouring blocks of both languages, and name those without a neighbour."""
    blocks, problems = [], []
    while cells:
        cell, line = cells.pop(0)
        lang = language_of(cell)
        if cell.cell_type == "code":
            blocks.append(Block("code", line, dict.fromkeys(OTHER, cell.source), dict.fromkeys(OTHER, cell.metadata)))
        elif lang in OTHER and cells and language_of(cells[0][0]) == OTHER[lang]:
            twins = {lang: cell, OTHER[lang]: cells.pop(0)[0]}
            text, metadata = ({key: twins[key][part] for key in OTHER} for part in ("source", "metadata"))
            blocks.append(Block("markdown", line, text, metadata))
        elif lang in OTHER:
            marker = f'+++ {{"lang": "{OTHER[lang]}"}}'
            problems.append(f"line {line}: {lang} block without {OTHER[lang]} twin beside it; write one under {marker}")
    return blocks, problems


def language_of(cell: NotebookNode) -> str | None:
    """What a block says its language is, whatever somebody wrote there."""
    lang = cell.metadata.get("lang")
    return None if lang is None else str(lang)


def is_bilingual(value: object) -> bool:
    """Whether value is {en: text, ko: text}."""
    return isinstance(value, dict) and value.keys() == OTHER.keys() and all(isinstance(v, str) for v in value.values())


def cell_problems(cell: NotebookNode) -> Iterator[str]:
    """What no source may contain."""
    for key in sorted(set(cell.metadata) - KNOWN_METADATA.get(cell.cell_type, set())):
        yield f"unknown metadata {key!r}; a {cell.cell_type} cell may have {sorted(KNOWN_METADATA[cell.cell_type])}"
    if cell.cell_type == "markdown":
        lang = language_of(cell)
        if lang is None:
            yield 'prose without a language; put +++ {"lang": "en"} or {"lang": "ko"} above it'
        elif lang not in OTHER:
            yield f"unknown language {lang!r}; the book has 'en' and 'ko'"
        for image in IMAGE_WITHOUT_ALT.findall(cell.source):
            yield f"image without alternative text: {image}"
        for line in VANISHING.findall(CODE.sub("", cell.source)):
            yield f"a line that starts with % is a comment for MyST and vanishes: {line.strip()[:40]!r}"


def chapter_cell_problems(cell: NotebookNode) -> Iterator[str]:
    """What a notebook in Colab or JupyterLab could not show."""
    if cell.cell_type == "markdown":
        for match in SITE_ONLY.findall(CODE.sub("", cell.source)):
            yield f"{match.strip()!r} works on the site only; use plain Markdown, <details> or a link"
        return
    if not cell.source.strip():
        yield "empty code cell; delete it"
    if "alt" in cell.metadata and not is_bilingual(cell.metadata.alt):
        yield "alt must be {en: …, ko: …}"
    if re.search(r"[가-힣]", cell.source):
        yield "code serves both languages: words belong to claims/NN.yml, names to explore/names.yml"
    if long := next((line for line in cell.source.splitlines() if len(line) > MAX_LINE), None):
        yield f"a line of {len(long)} characters is cut off on the page, which shows {MAX_LINE}: {long.strip()[:40]!r}"


def page_cell_problems(cell: NotebookNode) -> Iterator[str]:
    """What a page, which is not a notebook, cannot hold."""
    if cell.cell_type == "code":
        yield "a page has no code cells; make it a chapter or use a plain ```python block"


def whole_problems(blocks: list[Block], is_chapter: bool) -> Iterator[str]:
    """What only shows in the file as a whole: title and length."""
    titles = [block for block in blocks if block.kind == "markdown" and re.match(r"# \S", block.text["en"])]
    if titles != blocks[:1]:
        yield "the first block, and no other, must start with the title: # …"
    code = "\n".join(block.text["en"] for block in blocks if block.kind == "code")
    lines = sum(bool(line.strip()) for line in code.splitlines())
    if is_chapter and len(blocks) > MAX_CELLS - 2:  # the links and the set-up cell are added
        yield f"{len(blocks) + 2} cells with links and set-up; a notebook has at most {MAX_CELLS}: split or shorten"
    if is_chapter and lines > MAX_CODE_LINES:
        yield f"{lines} lines of code; a notebook has at most {MAX_CODE_LINES}: move some into src/helpers"
