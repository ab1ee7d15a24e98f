"""What Sphinx reads: the pages and notebooks of a language, the notebooks with the outputs of their executed copies."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat

from helpers.claims import cards
from helpers.claims.reports import LIST_MIME, MIME
from helpers.paper.stored import evidence

from . import paths, svg
from .execute import code_of
from .paths import ROOT, BuildError


def stage(root: Path, language: str, folder: Path, only: str | None = None) -> None:
    """Write `folder`: all that notebooks/<language> holds, or `only` one notebook.

    What has not changed is not touched: Sphinx reads again what was written again, and nothing else.
    """
    folder.mkdir(parents=True, exist_ok=True)
    texts = dict(_staged_texts(root, language, folder, only))
    for path in folder.iterdir():
        if path.is_file() and path.name not in texts:
            path.unlink()
    for name, text in texts.items():
        write_if_changed(folder / name, text)


def write_if_changed(path: Path, text: str) -> None:
    """Write a file, unless it says the same already."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8", newline="\n")


def _staged_texts(root: Path, language: str, folder: Path, only: str | None) -> Iterator[tuple[str, str]]:
    to_root = Path(os.path.relpath(root, folder)).as_posix()
    for path in sorted(paths.notebooks(root, language).iterdir()):
        if not path.is_file() or only not in (None, path.stem):
            continue
        if path.suffix == ".ipynb":
            text = nbformat.writes(with_outputs(path, read_executed(root, path.name)))
        else:
            text = path.read_text(encoding="utf-8")
        yield path.name, text.replace("](../../", f"]({to_root}/")  # pictures of book/, seen from another folder


def read_executed(root: Path, name: str) -> nbformat.NotebookNode:
    """The executed notebook `name`, with the cards of its claims as they are written today."""
    path = paths.executed(root) / name
    if not path.exists():
        raise BuildError(f"{name} has not been executed: make book")
    notebook = nbformat.read(path, as_version=4)
    full_size = evidence(ROOT / "results")
    reported = {data[MIME]["id"]: data[MIME] for data in _data(notebook) if MIME in data}
    for number, cell in enumerate(notebook.cells, 1):
        try:
            for output in cell.get("outputs", ()):
                _write_card_anew(output, reported, full_size)
        except (KeyError, ValueError) as error:
            raise BuildError(f"{name}, cell {number}: its card of a claim cannot be written: {error}") from error
    return notebook


def _data(notebook: nbformat.NotebookNode) -> Iterator[dict[str, Any]]:
    """What the outputs of a notebook hold, by type."""
    return (output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", ()))


def _write_card_anew(output: nbformat.NotebookNode, reported: dict[str, Any], full_size: dict[str, Any]) -> None:
    """A claim's words and its rule may have changed since its numbers were measured; a forest shows all `reported`."""
    data = output.get("data", {})
    if MIME in data:
        data.update(cards.rendered(data[MIME], full_size))
    if LIST_MIME in data:
        data.update(cards.rendered_list(data[LIST_MIME], reported, full_size))


def with_outputs(path: Path, executed: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The notebook at `path` with another one's outputs; their code must be the same."""
    notebook = nbformat.read(path, as_version=4)
    if code_of(notebook) != code_of(executed):
        raise BuildError(f"{paths.relative(path)}: its code differs from the English notebook; run `make notebooks`")
    mine, theirs = ([cell for cell in nb.cells if cell.cell_type == "code"] for nb in (notebook, executed))
    for cell, source in zip(mine, theirs, strict=True):
        cell.outputs, cell.execution_count = copy.deepcopy(source.outputs), source.execution_count
        for number, output in enumerate(cell.outputs):
            _draw_on_page(output, f"plot-{cell.id[:2]}-{cell.id.rsplit('-', 1)[-1]}-{number}", described(cell))
    return notebook


def _draw_on_page(output: nbformat.NotebookNode, name: str, text: str) -> None:
    """A figure becomes part of its page, where it follows the theme."""
    data = output.get("data", {})
    if drawing := data.pop("image/svg+xml", None):
        data.pop("image/png", None)
        data["text/html"] = svg.figure(drawing, name, text)


def described(cell: nbformat.NotebookNode) -> str:
    """The alternative text of a cell's figure."""
    return str(cell.metadata.get("mystnb", {}).get("image", {}).get("alt", ""))
