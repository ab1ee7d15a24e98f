"""The rule that decides a claim: a small language of comparisons, the same for every network.

    nearest < 0.3 and farthest > 0.85        values
    gap.low > 0                              ends of an interval
    gap.low > untrained.gap                  against the untrained network
    0.25 <= depth <= 0.75 or not leads       chains, or, not; also + − * /, abs, min, max, round

A quantity that has no value here (None) makes its comparison neither true nor false, and a rule must be true to be met.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from .intervals import Interval
from .numerals import number_text

Value = float | bool | str | Interval | None
UNTRAINED = "untrained"
ENDS = ("low", "high")
COMPARE: dict[type, tuple[Callable[[Any, Any], bool], str]] = {
    ast.Lt: (operator.lt, "<"), ast.LtE: (operator.le, "≤"), ast.Gt: (operator.gt, ">"), ast.GtE: (operator.ge, "≥"),
    ast.Eq: (operator.eq, "="), ast.NotEq: (operator.ne, "≠")}  # fmt: skip
ARITHMETIC: dict[type, tuple[Callable[[Any, Any], Any], str]] = {
    ast.Add: (operator.add, "+"), ast.Sub: (operator.sub, "−"), ast.Mult: (operator.mul, "×"),
    ast.Div: (operator.truediv, "÷")}  # fmt: skip
FUNCTIONS: dict[str, Callable[..., Any]] = {"abs": abs, "min": min, "max": max, "round": round}
WORDS = {
    "en": {"and": " and ", "or": " or ", "not": "not ({})", "low": "{}, lower end", "high": "{}, upper end",
           UNTRAINED: "untrained: {}", "name": "“{}”"},
    "ko": {"and": " 그리고 ", "or": " 또는 ", "not": "({})이 아님", "low": "{}의 하한", "high": "{}의 상한",
           UNTRAINED: "학습하지 않은 신경망의 {}", "name": "‘{}’"},
}  # fmt: skip


@cache
def parse(rule: str) -> ast.expr:
    """The rule as a tree; whatever is not part of the language is refused with its text."""
    try:
        tree = ast.parse(rule.strip(), mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"the rule {rule!r} cannot be read: {error.msg}") from error
    for node in ast.walk(tree):
        if not _is_allowed(node):
            raise ValueError(f"the rule {rule!r} may not contain {ast.unparse(node)!r}; it is made of comparisons of "
                             "quantities, and, or, not, + - * /, abs, min, max, round")
    return tree


def _is_allowed(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float | str)
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS and not node.keywords
    if isinstance(node, ast.Attribute):
        whole = isinstance(node.value, ast.Name) or _of_untrained(node.value)
        return (node.attr in ENDS and whole) or _of_untrained(node)
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not | ast.USub)
    known = (ast.Name, ast.Load, ast.BoolOp, ast.And, ast.Or, ast.Not, ast.USub, ast.Compare, ast.BinOp)
    return isinstance(node, known + tuple(COMPARE) + tuple(ARITHMETIC))


def _of_untrained(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == UNTRAINED


def names(rule: str) -> set[str]:
    """Quantities that a rule reads."""
    return {name for name, _ in reads(parse(rule))}


def reads_untrained(rule: str) -> bool:
    """Whether the untrained network is part of the rule."""
    return any(untrained for _, untrained in reads(parse(rule)))


def reads(node: ast.AST) -> Iterator[tuple[str, bool]]:
    """(quantity, whether it is the untrained network's) for everything below a node."""
    if _of_untrained(node):
        yield node.attr, True  # type: ignore[attr-defined]
    elif isinstance(node, ast.Name) and node.id not in FUNCTIONS:
        yield node.id, False
    else:
        for child in ast.iter_child_nodes(node):
            yield from reads(child)


def is_met(rule: str, values: Mapping[str, Value], untrained: Mapping[str, Value] | None = None) -> bool:
    """Whether these values obey the rule."""
    return _truth(parse(rule), values, untrained or {}) is True


def _truth(node: ast.expr, values: Mapping[str, Value], untrained: Mapping[str, Value]) -> bool | None:
    """True, False, or None where a value is missing."""
    if isinstance(node, ast.BoolOp):
        parts = [_truth(part, values, untrained) for part in node.values]
        decisive = isinstance(node.op, ast.Or)
        if decisive in parts:
            return decisive
        return None if None in parts else not decisive
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = _truth(node.operand, values, untrained)
        return None if inner is None else not inner
    if isinstance(node, ast.Compare):
        terms = [number(term, values, untrained) for term in (node.left, *node.comparators)]
        if None in terms:
            return None
        return all(COMPARE[type(op)][0](a, b) for op, a, b in zip(node.ops, terms, terms[1:], strict=False))
    value = number(node, values, untrained)
    if value is None or isinstance(value, bool):
        return value
    raise ValueError(f"{ast.unparse(node)!r} is {value!r}, neither true nor false: compare it with something")


def number(node: ast.expr, values: Mapping[str, Value], untrained: Mapping[str, Value]) -> Any:
    """A number, a truth value or a text; None where it is missing."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return _central(values[node.id])
    if isinstance(node, ast.Attribute):
        if _of_untrained(node):
            return _central(untrained[node.attr])
        whose = untrained if _of_untrained(node.value) else values
        name = node.value.attr if isinstance(node.value, ast.Attribute) else node.value.id  # type: ignore[attr-defined]
        value = whose[name]
        return getattr(value, node.attr) if isinstance(value, Interval) else value
    if isinstance(node, ast.UnaryOp):
        inner = number(node.operand, values, untrained)
        return None if inner is None else -inner
    if isinstance(node, ast.BinOp):
        a, b = (number(side, values, untrained) for side in (node.left, node.right))
        return None if a is None or b is None else ARITHMETIC[type(node.op)][0](a, b)
    if isinstance(node, ast.Call):
        arguments = [number(argument, values, untrained) for argument in node.args]
        return None if None in arguments else FUNCTIONS[node.func.id](*arguments)  # type: ignore[attr-defined]
    return _truth(node, values, untrained)


def _central(value: Value) -> float | bool | str | None:
    return value.value if isinstance(value, Interval) else value


def in_words(rule: str, called: Mapping[str, str], lang: str) -> str:
    """The rule for a reader: quantities by their names, signs as in print."""
    return _words(parse(rule), called, WORDS[lang])


def _words(node: ast.AST, called: Mapping[str, str], words: Mapping[str, str]) -> str:
    say = lambda part: _words(part, called, words)
    if isinstance(node, ast.BoolOp):
        joint = words["and" if isinstance(node.op, ast.And) else "or"]
        return joint.join(f"({say(part)})" if isinstance(part, ast.BoolOp) else say(part) for part in node.values)
    if isinstance(node, ast.Compare):
        signs = [COMPARE[type(op)][1] for op in node.ops]
        others = zip(signs, node.comparators, strict=True)
        return say(node.left) + "".join(f" {sign} {say(term)}" for sign, term in others)
    if isinstance(node, ast.UnaryOp):
        return words["not"].format(say(node.operand)) if isinstance(node.op, ast.Not) else f"−{say(node.operand)}"
    if isinstance(node, ast.BinOp):
        sides = [f"({say(side)})" if isinstance(side, ast.BinOp) else say(side) for side in (node.left, node.right)]
        return f" {ARITHMETIC[type(node.op)][1]} ".join(sides)
    if isinstance(node, ast.Call):
        arguments = ", ".join(map(say, node.args))
        return f"|{arguments}|" if node.func.id == "abs" else f"{node.func.id}({arguments})"  # type: ignore[attr-defined]
    if isinstance(node, ast.Attribute):
        return (words[UNTRAINED].format(words["name"].format(called[node.attr])) if _of_untrained(node)
                else words[node.attr].format(say(node.value)))
    if isinstance(node, ast.Name):
        return words["name"].format(called[node.id])
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else number_text(float(node.value))  # type: ignore[arg-type]
    return ast.unparse(node)
