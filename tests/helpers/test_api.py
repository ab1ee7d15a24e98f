"""The page about helpers documents names that exist, and the examples in their docstrings are true."""

from __future__ import annotations

import doctest
import inspect
import re
from pathlib import Path

import pytest

import helpers

PAGE = Path(__file__).resolve().parents[2] / "book" / "pages" / "api.md"
ENTRY = re.compile(r"\.\. auto(?:function|class):: helpers\.(\w+)$", re.MULTILINE)
DOCUMENTED = ENTRY.findall(PAGE.read_text(encoding="utf-8"))
FUNCTIONS = [name for name in dict.fromkeys(DOCUMENTED) if inspect.isfunction(getattr(helpers, name))]
MEASURING = [name for name in FUNCTIONS if not name.startswith(("load_", "list_"))]


def test_the_page_documents_names_that_exist_in_both_languages():
    names = set(DOCUMENTED)
    assert sorted(DOCUMENTED) == sorted([*names, *names]) and names <= set(helpers.__all__)
    in_tables = re.findall(r"^\| `(\w+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(in_tables) == sorted(FUNCTIONS * 2)


def test_every_metric_that_sees_images_is_on_the_page():
    """Measurements with a result of their own; small formulas need no entry."""
    measuring = {name for name in helpers.__all__ if inspect.isfunction(getattr(helpers, name))
                 and "progress" in inspect.signature(getattr(helpers, name)).parameters}
    assert measuring and measuring <= set(DOCUMENTED)


@pytest.fixture(scope="module")
def names() -> dict:
    """What the page says its examples begin with."""
    (code, _) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    namespace = {name: getattr(helpers, name) for name in FUNCTIONS}
    exec(code, namespace)
    return namespace


@pytest.mark.parametrize("name", MEASURING)
def test_examples_are_true(names, name):
    (example,) = doctest.DocTestFinder(recurse=False).find(getattr(helpers, name), name, globs=dict(names))
    assert example.examples, f"{name} has no example"
    report: list[str] = []
    failed, _ = doctest.DocTestRunner(verbose=False).run(example, out=report.append)
    assert not failed, "".join(report)
