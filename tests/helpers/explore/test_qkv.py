"""The explorer of self-attention from Python: what it accepts and what it hands to the page."""

from __future__ import annotations

import ipywidgets
import numpy as np
import pytest
import torch
import traitlets

from helpers.explore import qkv_explorer


@pytest.mark.parametrize("static", ["0", "1"])
def test_tables_of_any_kind_become_lists(static, monkeypatch):
    monkeypatch.setenv("BOOK_STATIC", static)
    try:
        w = qkv_explorer(np.eye(2), torch.zeros(2, 2), [[1, 2], [3, 4]], step="mix", query=1, scaled=False)
        assert (w.tokens, w.w_q, w.w_k) == ([[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0]] * 2, [[1.0, 2.0], [3.0, 4.0]])
        assert (w.step, w.query, w.scaled) == ("mix", 1, "no")
        w.tokens = [[1, 2], [3, 4]]
        assert w.tokens == [[1.0, 2.0], [3.0, 4.0]]
        with pytest.raises(traitlets.TraitError, match=r"tokens has 2 rows on the page, .* make a new explorer"):
            w.tokens = [[1, 2]] * 3
    finally:
        ipywidgets.Widget.close_all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tokens": [[1, 2]]}, "tokens must be 2 to 5 rows of two numbers"),
        ({"tokens": np.ones((6, 2))}, "tokens must be 2 to 5 rows of two numbers"),
        ({"tokens": [[1, 2, 3], [1, 2, 3]]}, "tokens must be 2 to 5 rows of two numbers"),
        ({"w_q": [[1, 2]]}, "w_q must be 2 rows of two numbers"),
        ({"w_k": "ab"}, "w_k must be 2 rows of two numbers, but it is 'ab'"),
        ({"w_v": [[1, float("nan")], [0, 1]]}, "w_v must hold numbers from −99 to 99"),
        ({"w_v": [[1, 100], [0, 1]]}, "w_v must hold numbers from −99 to 99"),
        ({"step": "sum"}, "step must be one of 'qkv', 'scores', 'softmax', 'mix', but it is 'sum'"),
        ({"query": 3}, "query must be a whole number from 0 to 2"),
    ],
)
def test_what_is_wrong_is_said(arguments, message, monkeypatch):
    monkeypatch.setenv("BOOK_STATIC", "1")
    with pytest.raises(traitlets.TraitError, match=message):
        qkv_explorer(**arguments)
