"""The explorer of CKA's bias: its numbers are checked in both of its forms."""

from __future__ import annotations

import json
import re

import anywidget
import numpy as np
import pytest
import traitlets

from helpers.explore import cka_bias_explorer
from helpers.explore.base import module_source


def test_a_live_kernel_gets_a_widget_whose_traits_can_be_set(live_kernel):
    explorer = cka_bias_explorer(n=64)
    assert isinstance(explorer, anywidget.AnyWidget)
    explorer.n, explorer.signal = np.int64(256), 1
    synced = explorer.get_state()
    assert (synced["n"], synced["p"], synced["signal"]) == (256, 1024, 1.0)
    assert synced["_esm"] == module_source(explorer.scripts)
    assert json.dumps({key: synced[key] for key in ("n", "p", "signal", "seed")})  # plain numbers, not numpy's


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 7}, "n must be a whole number from 8 to 1024, but it is 7"),
        ({"n": 12.5}, "n must be a whole number from 8 to 1024, but it is 12.5"),
        ({"p": 5000}, "p must be a whole number from 1 to 4096, but it is 5000"),
        ({"p": "64"}, "p must be a whole number from 1 to 4096, but it is '64'"),
        ({"p": True}, "p must be a whole number from 1 to 4096, but it is True"),
        ({"signal": 1.5}, "signal must be a number from 0 to 1, but it is 1.5"),
        ({"signal": float("nan")}, "signal must be a number from 0 to 1, but it is nan"),
        ({"seed": -1}, "seed must be a whole number from 0 to"),
    ],
)
@pytest.mark.parametrize("static", ["0", "1"])
def test_wrong_arguments_are_refused_in_both_forms(arguments, message, static, monkeypatch):
    monkeypatch.setenv("BOOK_STATIC", static)
    with pytest.raises(traitlets.TraitError, match=re.escape(message)):
        cka_bias_explorer(**arguments)
