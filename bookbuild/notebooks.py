"""Write notebooks/{en,ko} and the tables of contents from book/, or tell where they differ.

book/chapters become notebooks, book/pages become Markdown pages, book/toc.yml becomes three _toc.yml files.
Nothing below notebooks/ is written by hand.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import nbformat
import yaml

from . import figures, folding, glossary, parity, zoo
from .contents import chapter_map, toc_text
from .source import OTHER, Block, Source, SourceError, read_source

MARKER = re.compile(r"<!-- (\w+:[\w-]+) -->")
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
LINKS = {
    "en": "[Open in Colab]({colab}) · [Open in Binder]({binder}) · [Download]({raw}) · [한국어 노트북]({other})",
    "ko": "[Colab에서 열기]({colab}) · [Binder에서 열기]({binder}) · [내려받기]({raw}) · [English notebook]({other})",
}
SETUP = """\
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

if not find_spec("helpers"):  # a clone of the book whose package is not installed
    sys.path += [str(p / "src") for p in (Path.cwd(), *Path.cwd().parents) if (p / "src" / "helpers").is_dir()]
if not find_spec("helpers"):  # opened on its own, as in Colab; the host keeps its torch, numpy and ipywidgets
    lacking = [name for name in ("anywidget", "lazy_loader", "psygnal", "safetensors", "timm") if not find_spec(name)]
    lacking.append("{package}")
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", *lacking], check=True)
    print("Installed:", *lacking)"""


def repository(root: Path) -> tuple[str, str]:
    """Address and branch of the repository, from the only place where they stand."""
    settings = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))["repository"]
    return settings["url"].rstrip("/"), settings["branch"]


def links(address: str, branch: str, lang: str, name: str) -> str:
    """Markdown line that opens the notebook elsewhere; text links, since a badge would be fetched from another host."""
    owner_and_name = address.removeprefix("https://github.com/")
    colab = f"https://colab.research.google.com/github/{owner_and_name}/blob/{branch}/notebooks/{{}}/{name}.ipynb"
    path = f"notebooks/{lang}/{name}.ipynb"
    return LINKS[lang].format(
        colab=colab.format(lang),
        binder=f"https://mybinder.org/v2/gh/{owner_and_name}/{branch}?labpath={quote(path, safe='')}",
        raw=f"https://raw.githubusercontent.com/{owner_and_name}/{branch}/{path}",
        other=colab.format(OTHER[lang]),
    )


def front_matter(source: Source, lang: str) -> dict[str, Any]:
    """Metadata that Sphinx turns into the page's description."""
    return {"myst": {"html_meta": {"description": source.description[lang]}}}


def notebook_text(source: Source, lang: str, address: str, branch: str) -> str:
    """The chapter as a notebook in one language, without outputs, the same bytes every time."""
    name = source.path.stem
    package = f"{address}/archive/refs/heads/{branch}.zip"
    added = [
        Block("markdown", 0, {lang: links(address, branch, lang, name)}, {lang: {}}),
        Block("code", 0, {lang: SETUP.replace("{package}", package)}, {lang: {"tags": ["remove-cell"]}}),
    ]
    ids = [f"{name}-links", f"{name}-setup", *(f"{name}-{number:02d}" for number in range(1, len(source.blocks) + 1))]
    cells = [cell(block, lang, id_) for block, id_ in zip([*added, *source.blocks], ids, strict=True)]
    metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}, "lang": lang, **front_matter(source, lang)}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata=metadata)
    nbformat.validate(notebook)
    return nbformat.writes(notebook, ensure_ascii=False) + "\n"


def cell(block: Block, lang: str, id_: str) -> nbformat.NotebookNode:
    """Notebook cell of a block in one language."""
    metadata = {key: value for key, value in block.metadata[lang].items() if key not in ("lang", "alt")}
    if alt := block.metadata[lang].get("alt"):
        image = {**metadata.get("mystnb", {}).get("image", {}), "alt": alt[lang]}
        metadata["mystnb"] = {**metadata.get("mystnb", {}), "image": image}
    if block.kind == "code" and (folded := folding.label(block.text[lang], metadata.get("tags", []), lang)):
        prompts = dict.fromkeys(("code_prompt_show", "code_prompt_hide"), folded)
        metadata = {**metadata, "tags": [*metadata.get("tags", []), "hide-input"]}
        metadata["mystnb"] = {**metadata.get("mystnb", {}), **prompts}
    new = nbformat.v4.new_code_cell if block.kind == "code" else nbformat.v4.new_markdown_cell
    return new(block.text[lang], metadata=metadata, id=id_)


def page_text(source: Source, lang: str, markers: dict[str, str]) -> str:
    """The page in one language; <!-- name:argument --> markers are replaced by what is derived from data."""

    def replacement(match: re.Match[str]) -> str:
        if match[1] not in markers:
            raise SourceError(f"{source.path}: unknown marker {match[0]}; there are {', '.join(markers)}")
        return markers[match[1]]

    body = "\n\n".join(block.text[lang] for block in source.blocks)
    header = yaml.safe_dump(front_matter(source, lang), allow_unicode=True, sort_keys=False, width=1000)
    return f"---\n{header}---\n\n{MARKER.sub(replacement, body)}\n"


def toc_problems(contents: dict[str, Any], sources: dict[str, Source]) -> list[str]:
    """Sources that the table of contents does not list, or lists under another title."""
    entries = {entry["file"]: entry for part in contents["parts"] for entry in part["files"]}
    unlisted = sources.keys() - entries.keys() - {contents["root"]}
    problems = [f"{sources[name].path}: not listed in book/toc.yml; add it to a part" for name in sorted(unlisted)]
    for name in sorted(sources.keys() & entries.keys()):
        for lang in OTHER:
            title, listed = sources[name].title(lang), entries[name][lang]
            if title != listed:
                problems.append(f"{sources[name].path}: title “{title}” is “{listed}” in book/toc.yml; make them equal")
    return problems


def read_book(root: Path) -> dict[str, Source]:
    """All sources by name; raise with the problems of all files."""
    sources, problems = {}, []
    for path in sorted([*root.glob("book/chapters/*.md"), *root.glob("book/pages/*.md")]):
        try:
            sources[path.stem] = read_source(path)
        except SourceError as error:
            problems.append(str(error))
    if problems:
        raise SourceError("\n".join(problems))
    return sources


def generate(root: Path) -> dict[Path, str]:
    """Every generated file with its text."""
    sources, (address, branch) = read_book(root), repository(root)
    contents = yaml.safe_load((root / "book" / "toc.yml").read_text(encoding="utf-8"))
    if problems := toc_problems(contents, sources):
        raise SourceError("\n".join(problems))
    entries, papers = glossary.load(root), figures.load(root)
    chapters = {name: source for name, source in sources.items() if source.suffix == ".ipynb"}
    places = glossary.first_chapters(entries, {name: source.prose("ko") for name, source in chapters.items()})
    files = {root / "_toc.yml": toc_text(contents, sources, "en", "notebooks/en/")}
    for lang in OTHER:
        folder = root / "notebooks" / lang
        markers = {
            "chapters:map": chapter_map(contents, sources, lang),
            **{f"coverage:{paper}": figures.table(rows, sources, lang) for paper, rows in papers.items()},
            "zoo:table": zoo.table(root, lang),
            "glossary:en-ko": glossary.table(entries, "en-ko", lang, places),
            "glossary:ko-en": glossary.table(entries, "ko-en", lang, places),
        }
        files[folder / "_toc.yml"] = toc_text(contents, sources, lang)
        for name, source in sources.items():
            is_chapter = source.suffix == ".ipynb"
            text = notebook_text(source, lang, address, branch) if is_chapter else page_text(source, lang, markers)
            files[folder / (name + source.suffix)] = text
    return files


def prose_problems(root: Path) -> list[str]:
    """Twins that drifted apart and words the glossary bans, with file and block."""
    entries = glossary.load(root)
    return [problem for source in read_book(root).values() for problem in _problems_of(source, entries, root)]


def _problems_of(source: Source, entries: list[dict[str, Any]], root: Path) -> list[str]:
    problems = []
    for place, en, ko in source.twins():
        found = [*parity.differences(en, ko), *glossary.wrong_words(entries, ko)]
        problems += [f"{source.path.relative_to(root)}: {place}: {problem}" for problem in found]
    return problems


def write_chapter(root: Path, number: str) -> list[str]:
    """Write both notebooks of one chapter, whatever state the others are in; return the problems of its prose."""
    found = sorted(root.glob(f"book/chapters/{number}_*.md"))
    if len(found) != 1:
        raise SourceError(f"There is no chapter {number} in book/chapters; give two digits, such as 18.")
    source, (address, branch) = read_source(found[0]), repository(root)
    for lang in OTHER:
        path = root / "notebooks" / lang / f"{source.path.stem}.ipynb"
        path.write_text(notebook_text(source, lang, address, branch), encoding="utf-8", newline="\n")
    return _problems_of(source, glossary.load(root), root)


def stray_files(root: Path, files: dict[Path, str]) -> list[str]:
    """Files below notebooks/ that no source stands for."""
    found = [path for path in sorted(root.glob("notebooks/**/*")) if path.is_file() and path not in files]
    inside = [path.relative_to(root) for path in found if not {"_build", ".ipynb_checkpoints"} & set(path.parts)]
    return [f"{path}: comes from no file in book/; write its source there or delete it" for path in inside]


def outdated(root: Path, files: dict[Path, str]) -> list[str]:
    """Generated files on disk that differ from their source, with the first place that differs."""
    problems = []
    for path, text in files.items():
        on_disk = path.read_text(encoding="utf-8") if path.exists() else None
        if on_disk != text:
            place = "is missing" if on_disk is None else f"differs from its source at {first_difference(on_disk, text)}"
            problems.append(f"{path.relative_to(root)}: {place}; edit book/, then run `make notebooks`")
    return problems


def first_difference(on_disk: str, expected: str) -> str:
    """The first cell (or line) in which two versions of a file differ."""
    try:
        old, new = (nbformat.reads(text, as_version=4).cells for text in (on_disk, expected))
        unit = "cell"
    except nbformat.reader.NotJSONError:
        old, new, unit = on_disk.splitlines(), expected.splitlines(), "line"
    same = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    if same == len(old) == len(new):
        return "the metadata"
    return f"{unit} {same + 1}"


def run(root: Path, check: bool) -> list[str]:
    """Write the generated files, unless only asked to check; return every problem found."""
    try:
        files, problems = generate(root), prose_problems(root)
    except SourceError as error:
        return str(error).splitlines()
    problems += stray_files(root, files)
    if check:
        return problems + outdated(root, files)
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    return problems
