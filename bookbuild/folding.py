"""Which code cells are folded on the site, so that what stays in sight carries the idea.

Folded are cells that begin with imports, draw, lay out a table, or report a claim; a short cell that defines a function
stays, and so does an exercise. In a notebook that runs, all code is seen.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

LABELS = {
    "setup": {"en": "Code: imports and settings", "ko": "코드: 불러오기와 설정"},
    "code": {"en": "Code", "ko": "코드"},
    "report": {"en": "Code: the claim's test", "ko": "코드: 주장의 시험"},
    "figure": {"en": "Code: the figure", "ko": "코드: 그림"},
    "table": {"en": "Code: the table", "ko": "코드: 표"},
    "explorer": {"en": "Code: the explorer", "ko": "코드: 탐색기"},
}
DRAWING = {"plt", "plots", "sns", "plot", "imshow"}
LAYING_OUT = {"DataFrame", "style", "format", "to_frame", "display", "concat", "Series"}
LONG, SHORT = 4, 14  # lines: fewer are not worth a fold; a definition that is no longer may lay out its result
ALWAYS, NEVER = "fold", "show"  # tags by which an author decides


def label(code: str, tags: list[str], lang: str) -> str | None:
    """What the line says that stands for a folded cell; None for a cell that stays open."""
    found = kind(code, tags)
    return LABELS[found][lang] if found else None


def kind(code: str, tags: list[str]) -> str | None:
    """Why a cell is folded; None when it stays open."""
    if {NEVER, "exercise", "hide-input"} & set(tags):
        return None
    try:
        statements = ast.parse(code).body
    except SyntaxError:  # magics
        return None
    found = _kind(statements, len(code.splitlines()))
    return found or ("code" if ALWAYS in tags else None)


def _kind(statements: list[ast.stmt], lines: int) -> str | None:
    if not statements:
        return None
    if isinstance(statements[0], (ast.Import, ast.ImportFrom)):
        return "setup"
    last = _called(statements[-1])
    if last in ("report", "check"):
        return "report"
    if last in ("explore", "explorer") or last.startswith("explore_"):
        return "explorer" if lines >= LONG else None
    if lines <= SHORT and any(isinstance(one, ast.FunctionDef) for one in statements):
        return None
    used = set(_names(statements))
    if used & DRAWING and lines >= LONG:
        return "figure"
    return "table" if used & LAYING_OUT and lines >= LONG else None


def _called(statement: ast.stmt) -> str:
    """Name of the function that a statement calls; empty when it calls none."""
    if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)):
        return ""
    function = statement.value.func
    return function.id if isinstance(function, ast.Name) else ""


def _names(statements: list[ast.stmt]) -> Iterator[str]:
    """Names and attributes that are used, not defined."""
    for node in (node for statement in statements for node in ast.walk(statement)):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
