"""Explorer of chapter 3: self-attention step by step, with numbers that the reader can change."""

from __future__ import annotations

from typing import Any

import numpy as np
import traitlets

from .base import Explorer, LiveExplorer, show
from .traits import SHOWN, Choice, Index

TOKENS = ((1.0, 0.0), (0.0, 1.0), (1.0, 1.0))
W_Q = ((2.0, 0.0), (0.0, 1.0))
W_K = ((0.5, 1.0), (1.0, -0.5))
W_V = ((1.0, 0.5), (-0.5, 1.0))
MOST_TOKENS, LARGEST = 5, 99


class Table(traitlets.TraitType):
    """Rows of two numbers each, as nested lists; from `fewest` to `most` rows."""

    def __init__(self, default: Any, fewest: int, most: int) -> None:
        super().__init__(default_value=default)
        self.fewest, self.most = fewest, most
        self.tag(**SHOWN)

    def default(self, obj: Any = None) -> list[list[float]]:
        return [list(row) for row in self.default_value]

    def validate(self, obj: Any, value: Any) -> list[list[float]]:
        try:
            table = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            table = np.empty(0)
        rows = f"{self.fewest}" if self.fewest == self.most else f"{self.fewest} to {self.most}"
        if table.ndim != 2 or table.shape[1] != 2 or not self.fewest <= len(table) <= self.most:
            raise traitlets.TraitError(f"{self.name} must be {rows} rows of two numbers, but it is {value!r}")
        if not (np.abs(table) <= LARGEST).all():  # NaN fails the comparison too
            limits = f"from −{LARGEST} to {LARGEST}"
            raise traitlets.TraitError(f"{self.name} must hold numbers {limits}, but it is {value!r}")
        if len(table) != obj.about.get(self.name, len(table)):
            raise traitlets.TraitError(f"{self.name} has {obj.about[self.name]} rows on the page, and {value!r} has "
                                       f"{len(table)}: make a new explorer for another number")
        return table.tolist()


class Qkv(Explorer):
    """Tokens [N, 2] and three matrices [2, 2]; one token asks, and one step is shown."""

    name = "qkv"
    scripts = ("readings.js", "qkv_steps.js", "qkv.js")
    tokens = Table(TOKENS, 2, MOST_TOKENS)
    w_q = Table(W_Q, 2, 2)
    w_k = Table(W_K, 2, 2)
    w_v = Table(W_V, 2, 2)
    step = Choice(lambda self: ("qkv", "scores", "softmax", "mix"))
    query = Index(lambda self: len(self.tokens))
    scaled = Choice(lambda self: ("yes", "no"))


def qkv_explorer(tokens: Any = TOKENS, w_q: Any = W_Q, w_k: Any = W_K, w_v: Any = W_V, *, step: str = "qkv",
                 query: int = 0, scaled: bool = True) -> Explorer | LiveExplorer:
    """Self-attention of a few tokens [N, 2] with matrices [2, 2], step by step: "qkv", "scores", "softmax", "mix".

    The reader changes any number in the page, and everything is computed again there; `scaled` divides by √2.
    """
    explorer: Any = show(Qkv, tokens=tokens, w_q=w_q, w_k=w_k, w_v=w_v, step=step, query=query,
                         scaled="yes" if scaled else "no")
    explorer.about = {"tokens": len(explorer.tokens)}  # as many rows of fields as the page has
    return explorer
