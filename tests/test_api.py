"""The page about helpers lists every public name, and the examples in its docstrings are true."""

from __future__ import annotations

import doctest
import inspect
import re
from pathlib import Path

import pytest

import helpers

PAGE = Path(__file__).resolve().parents[1] / "book" / "pages" / "api.md"
FUNCTIONS = [name for name in helpers.__all__ if inspect.isfunction(getattr(helpers, name))]
MEASURING = [name for name in FUNCTIONS if not name.startswith(("load_", "list_"))]


def test_every_public_name_is_on_the_page_in_both_languages():
    page = PAGE.read_text(encoding="utf-8")
    listed = re.findall(r"\.\. auto(?:function|class):: helpers\.(\w+)$", page, re.MULTILINE)
    assert sorted(listed) == sorted(helpers.__all__ * 2)
    in_tables = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert sorted(in_tables) == sorted(FUNCTIONS * 2)


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
