"""Every printed solution passes its check, in both languages, and every empty stub does not."""

import ast
import re
from itertools import pairwise
from pathlib import Path

import pytest

from bookbuild.source import OTHER, read_source
from helpers.exercises import check, names

CHAPTERS = Path(__file__).resolve().parents[3] / "book" / "chapters"


def exercises():
    """(chapter, imports, stub, {language: solution}) of every cell tagged `exercise`."""
    for path in sorted(CHAPTERS.glob("*.md")):
        blocks = read_source(path).blocks
        code = [block.text["en"] for block in blocks if block.kind == "code"]
        first_cell = ast.parse(code[0]).body
        imports = [ast.unparse(node) for node in first_cell if isinstance(node, (ast.Import, ast.ImportFrom))]
        for block, after in pairwise(blocks):
            if "exercise" in block.metadata["en"].get("tags", []):
                solutions = {lang: re.search(r"```python\n(.*?)```", after.text[lang], re.DOTALL)[1] for lang in OTHER}
                name = re.search(r'check\("([^"]+)"', block.text["en"])[1]
                yield pytest.param("\n".join(imports), block.text["en"], solutions, id=name)


def outcome(imports, code):
    """What a notebook would show for the cell: the value of its last expression."""
    *statements, last = ast.parse(code).body
    namespace = {}
    exec(imports, namespace)
    exec(compile(ast.Module(statements, []), "exercise", "exec"), namespace)
    return eval(compile(ast.Expression(last.value), "exercise", "eval"), namespace)


@pytest.mark.parametrize("imports,stub,solutions", list(exercises()))
def test_solutions_pass_and_stubs_do_not(imports, stub, solutions):
    assert not outcome(imports, stub).ok
    assert solutions["en"] == solutions["ko"]
    assert outcome(imports, solutions["en"]).ok


def test_every_check_is_used_by_a_chapter():
    assert {parameter.id for parameter in exercises()} == set(names())


def test_feedback_is_escaped():
    def raises(k, l):
        raise ValueError("<script>")

    assert "<script>" not in check("17.hsic1", raises)._repr_html_()


@pytest.mark.parametrize(("name", "near"),
                         [("17.hsic", r"17\.hsic1"), ("hsic1", r"17\.hsic1"), ("99.uniform", r"19\.uniform")])
def test_an_unknown_exercise_lists_near_names(name, near):
    with pytest.raises(ValueError, match=f"No exercise called '{name}'; did you mean .*{near}"):
        check(name, 1)


def test_names_are_those_of_all_chapters_in_order():
    chapters = [int(name.partition(".")[0]) for name in names()]
    assert chapters == sorted(chapters) and {1, 17, 19, 29} <= set(chapters)
