"""What an explorer remembers: numbers, places in a list and choices, read and set from Python and seen by the page.

The limits of a `Number` are fixed; `Index` and `Choice` ask their explorer, so they may depend on its data and on its
other values. All values are in place before such a limit is checked, and when one value changes, those that it made
impossible follow: after `w.model = "resnet"` a layer that only the ViT has becomes the ResNet's last.
"""

from __future__ import annotations

import difflib
import itertools
import math
import numbers
from collections.abc import Callable, Sequence
from typing import Any

import traitlets

SHOWN = {"sync": True, "explorer": True}  # tags of a trait that the page sees


class Number(traitlets.TraitType):
    """A number between `low` and `high`; `whole` ones are integers."""

    def __init__(self, default: float, low: float, high: float, *, whole: bool = True) -> None:
        super().__init__(default_value=default)
        self.low, self.high, self.whole = low, high, whole
        self.tag(**SHOWN)

    def validate(self, obj: Any, value: Any) -> int | float:
        kind = numbers.Integral if self.whole else numbers.Real
        number = float(value) if isinstance(value, kind) and not isinstance(value, bool) else math.nan
        if self.low <= number <= self.high:
            return int(number) if self.whole else number
        what = "a whole number" if self.whole else "a number"
        raise traitlets.TraitError(f"{self.name} must be {what} from {self.low} to {self.high}, but it is {value!r}")


class Dependent(traitlets.TraitType):
    """A value whose limits `options(explorer)` knows; unless given, it is the first of them, or the `last`.

    An explorer defines it after the values that its limits depend on.
    """

    _defined = itertools.count()

    def __init__(self, options: Callable[[Any], Any], *, last: bool = False) -> None:
        super().__init__()
        self.options, self.last, self.order = options, last, next(self._defined)
        self.tag(**SHOWN)

    def _cross_validate(self, obj: Any, value: Any) -> Any:  # called when all values are in place
        try:
            return self.check(obj, value)
        except KeyError:  # the limits hang on another value that is wrong; its own check says so
            return value

    def check(self, obj: Any, value: Any) -> Any:
        """The value as the page gets it, or an error that says what is allowed."""
        raise NotImplementedError

    def nearest(self, obj: Any, value: Any) -> Any:
        """What replaces a value that another change made impossible."""
        raise NotImplementedError

    def fit(self, obj: Any) -> None:
        """Make the value possible again."""
        name = str(self.name)
        value = self.nearest(obj, getattr(obj, name))
        if value != getattr(obj, name):
            setattr(obj, name, value)


class Choice(Dependent):
    """One of the values that `options` lists."""

    def default(self, obj: Any = None) -> Any:
        return None if obj is None else list(self.options(obj))[-1 if self.last else 0]

    def check(self, obj: Any, value: Any) -> Any:
        allowed = list(self.options(obj))
        if value in allowed:
            return allowed[allowed.index(value)]
        known = f"{self.name} must be one of {_listed(allowed)}"
        raise traitlets.TraitError(f"{known}, but it is {value!r}{_hint(value, allowed)}")

    def nearest(self, obj: Any, value: Any) -> Any:
        return value if value in list(self.options(obj)) else self.default(obj)


class Index(Dependent):
    """A place in the list of names (or a count of nameless places) that `options` gives; a name means its place."""

    def default(self, obj: Any = None) -> int:
        return self._count(obj) - 1 if self.last and obj is not None else 0

    def check(self, obj: Any, value: Any) -> int:
        names, last = self.options(obj), self._count(obj) - 1
        named = not isinstance(names, int)
        if named and isinstance(value, str) and value in names:
            return list(names).index(value)
        if isinstance(value, numbers.Integral) and not isinstance(value, bool) and 0 <= int(value) <= last:
            return int(value)
        if not named:
            raise traitlets.TraitError(f"{self.name} must be a whole number from 0 to {last}, but it is {value!r}")
        raise traitlets.TraitError(
            f"{self.name} must be a whole number from 0 ({names[0]}) to {last} ({names[last]}) or one of these names, "
            f"but it is {value!r}{_hint(value, names)}"
        )

    def nearest(self, obj: Any, value: int) -> int:
        return max(0, min(value, self._count(obj) - 1))

    def _count(self, obj: Any) -> int:
        names = self.options(obj)
        return names if isinstance(names, int) else len(names)


def _listed(values: Sequence[Any], most: int = 12) -> str:
    shown = ", ".join(map(repr, values[:most]))
    return shown if len(values) <= most else f"{shown} … ({len(values)} in all)"


def _hint(value: Any, names: Sequence[Any]) -> str:
    near = difflib.get_close_matches(str(value), map(str, names), n=1) if isinstance(value, str) else []
    return f"; did you mean {near[0]!r}?" if near else ""
