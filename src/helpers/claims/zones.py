"""Where on a quantity's number line a claim's rule is met: the region that a chart shades.

    nearest < 0.3                    nearest: up to 0.3
    abs(far - 1) <= 0.1              far: 0.9 to 1.1
    gap.low > untrained.gap          gap: from the untrained network's value on
    min(a, b) >= 0.5                 a and b: from 0.5 on

What a rule compares is constant when it is a number, something of the untrained network, or a quantity that `fixed`
gives because every network has the same. A comparison of two quantities shades nothing: the rule itself stands there.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from functools import reduce

from . import rules
from .rules import Value

Span = tuple[float, float]
Zone = tuple[Span, ...]  # parts of the number line, in order
Zones = dict[str, Zone]
EVERYWHERE: Zone = ((-math.inf, math.inf),)


def zones(rule: str, fixed: Mapping[str, Value] | None = None, untrained: Mapping[str, Value] | None = None) -> Zones:
    """Quantity → where its value (or the end of its interval) must lie for this rule, as far as that can be said."""
    found = _Zones(fixed or {}, untrained or {}).of(rules.parse(rule))
    return {name: zone for name, zone in found.items() if zone != EVERYWHERE}


def overlap(a: Zone, b: Zone) -> Zone:
    """What lies in both."""
    parts = ((max(p[0], q[0]), min(p[1], q[1])) for p in a for q in b)
    return tuple(sorted(part for part in parts if part[0] <= part[1]))


def union(a: Zone, b: Zone) -> Zone:
    """What lies in one of them, touching parts joined."""
    joined: list[Span] = []
    for low, high in sorted({*a, *b}):
        if joined and low <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], high)
        else:
            joined.append((low, high))
    return tuple(joined)


class _Zones:
    """Zones of a rule's tree."""

    def __init__(self, fixed: Mapping[str, Value], untrained: Mapping[str, Value]) -> None:
        self.fixed, self.untrained = fixed, untrained

    def of(self, node: ast.expr) -> Zones:
        """Of a condition: all of `and` must be met; of `or` only what every part says of one and the same quantity."""
        if isinstance(node, ast.BoolOp):
            parts = [self.of(part) for part in node.values]
            if isinstance(node.op, ast.And):
                return reduce(_both, parts)
            names = set().union(*parts)
            return reduce(_either, parts) if len(names) == 1 and all(parts) else {}
        if isinstance(node, ast.Compare):
            terms = [node.left, *node.comparators]
            steps = zip(terms, node.ops, terms[1:], strict=False)
            return reduce(_both, (self._compared(*step) for step in steps))
        return {}

    def _compared(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Zones:
        a, b = self._constant(left), self._constant(right)
        if a is not None and b is not None and self.fixed:  # the rule asks about a constant
            return _Zones({}, self.untrained)._compared(left, op, right)
        if (a is None) == (b is None):
            return {}
        side, level, above = (left, b, ast.Gt | ast.GtE) if a is None else (right, a, ast.Lt | ast.LtE)
        assert level is not None
        if isinstance(op, ast.Eq):
            return self._solved(side, level, level)
        if isinstance(op, ast.NotEq):
            return {}
        return self._solved(side, level, math.inf) if isinstance(op, above) else self._solved(side, -math.inf, level)

    def _constant(self, node: ast.expr) -> float | None:
        """The number that an expression has for every network; None where there is none."""
        reads = set(rules.reads(node))
        if any(name not in (self.untrained if control else self.fixed) for name, control in reads):
            return None
        value = rules.number(node, self.fixed, self.untrained)
        return float(value) if isinstance(value, bool | int | float) else None

    def _solved(self, node: ast.expr, low: float, high: float) -> Zones:
        """Where the one quantity of an expression may lie if the expression is to lie between low and high."""
        if isinstance(node, ast.Name):
            return {node.id: ((low, high),)}
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            return {node.value.id: ((low, high),)}
        if isinstance(node, ast.UnaryOp):
            return self._solved(node.operand, -high, -low)
        if isinstance(node, ast.BinOp):
            return self._solved_sum(node, low, high)
        if isinstance(node, ast.Call):
            return self._solved_call(node, low, high)
        return {}

    def _solved_sum(self, node: ast.BinOp, low: float, high: float) -> Zones:
        a, b = self._constant(node.left), self._constant(node.right)
        if isinstance(node.op, ast.Add) and (a is None) != (b is None):
            other, known = (node.left, b) if a is None else (node.right, a)
            return self._solved(other, low - known, high - known) if known is not None else {}
        if isinstance(node.op, ast.Sub) and b is not None:
            return self._solved(node.left, low + b, high + b)
        if isinstance(node.op, ast.Sub) and a is not None:
            return self._solved(node.right, a - high, a - low)
        if isinstance(node.op, ast.Mult) and (known := b if a is None else a) and known > 0:
            return self._solved(node.left if a is None else node.right, low / known, high / known)
        if isinstance(node.op, ast.Div) and b and b > 0:
            return self._solved(node.left, low * b, high * b)
        return {}

    def _solved_call(self, node: ast.Call, low: float, high: float) -> Zones:
        name, first = node.func.id, node.args[0]  # type: ignore[attr-defined]
        if name == "abs" and high < math.inf and low <= 0:
            return self._solved(first, -high, high)
        if name == "abs" and high == math.inf and low > 0:
            return _either(self._solved(first, low, math.inf), self._solved(first, -math.inf, -low))
        if name == "round":
            half = 0.5 * 10 ** -int(self._constant(node.args[1]) or 0) if len(node.args) > 1 else 0.5
            return self._solved(first, low - half, high + half)
        if (name, high) == ("min", math.inf) or (name, low) == ("max", -math.inf):
            known = [self._constant(part) for part in node.args]
            return reduce(_both, (self._solved(part, low, high)
                                  for part, value in zip(node.args, known, strict=True) if value is None))
        return {}


def _both(a: Zones, b: Zones) -> Zones:
    return {name: overlap(a.get(name, EVERYWHERE), b.get(name, EVERYWHERE)) for name in {**a, **b}}


def _either(a: Zones, b: Zones) -> Zones:
    return {name: union(a[name], b[name]) for name in a if name in b}
