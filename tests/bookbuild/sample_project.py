"""A repository of two tiny notebooks and what they use, for tests of the executor."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat

METRIC = '"""Metrics."""\n\n\ndef double(x):\n    """Twice."""\n    return 2 * x  # simple\n'
CLAIMS = """\
chapter: 01_uses
R01:
  statement: {en: It grows., ko: 자란다.}
  quantities: {low: {en: lowest}, high: {en: highest}}
  holds: low < high
"""
FILES = {
    "requirements.lock": "torch==2.14.1\n",
    "src/sample/__init__.py": "",
    "src/sample/metric.py": METRIC,
    "src/sample/other.py": "CONSTANT = 1\n",
    "src/sample/data.txt": "3",
    "src/sample/weights/a.txt": "",
    "src/helpers/claims/01.yml": CLAIMS,
}
USES = """\
import sys
from pathlib import Path
src = Path("../../src").resolve()
sys.path.insert(0, str(src))
from sample.metric import double
""", """\
number = int((src / "sample" / "data.txt").read_text())
claims = (src / "helpers" / "claims" / "01.yml").read_text()
print(double(number), len(list((src / "sample" / "weights").iterdir())))
"""
OTHER = ("import os, sys; sys.path.insert(0, '../../src'); import sample.other; print(os.environ['BOOK_STATIC'])",)


def write_notebook(path: Path, *code: str) -> Path:
    """A notebook of a title and these cells, with ids that do not change."""
    cells = [nbformat.v4.new_markdown_cell("# Title", id="title")]
    cells += [nbformat.v4.new_code_cell(text, id=f"cell-{number}") for number, text in enumerate(code)]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), path)
    return path


def write_twins(root: Path, name: str, *code: str) -> None:
    """The same notebook in both languages."""
    for language in ("en", "ko"):
        write_notebook(root / "notebooks" / language / f"{name}.ipynb", *code)


def write_project(root: Path) -> Path:
    """01_uses reads a module, a file, a folder and claims; 02_other a module of its own."""
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    write_twins(root, "01_uses", *USES)
    write_twins(root, "02_other", *OTHER)
    return root


def elsewhere(function, *arguments, **options):
    """Playwright keeps an event loop in the main thread of a test session; a build runs one of its own."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function, *arguments, **options).result()
