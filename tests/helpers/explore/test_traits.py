"""Traits that depend on one another: refused when wrong, fitted when the data change."""

from __future__ import annotations

import re

import pytest
import traitlets

from explorer_samples import LAYERS, Layered
from helpers.explore.base import show


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"model": "vitt"}, "model must be one of 'vit', 'resnet', but it is 'vitt'; did you mean 'vit'?"),
        ({"model": 3}, "model must be one of 'vit', 'resnet', but it is 3"),
        ({"layer": 99}, "layer must be a whole number from 0 (blocks.0) to 2 (blocks.2) or one of these names"),
        ({"layer": "blocks.7"}, "but it is 'blocks.7'; did you mean 'blocks."),
        ({"layer": -1}, "but it is -1"),
        ({"layer": True}, "but it is True"),
        ({"model": "resnet", "layer": 1}, "layer must be a whole number from 0 (stages.0) to 0 (stages.0)"),
        ({"model": "wrong", "layer": 1}, "model must be one of"),
        ({"token": 4}, "token must be a whole number from 0 to 3, but it is 4"),
        ({"token": "4"}, "token must be a whole number from 0 to 3, but it is '4'"),
    ],
)
@pytest.mark.parametrize("static", ["0", "1"])
def test_unknown_layers_and_names_are_refused(state, message, static, monkeypatch):
    monkeypatch.setenv("BOOK_STATIC", static)
    with pytest.raises(traitlets.TraitError, match=re.escape(message)):
        show(Layered, about=LAYERS, **state)


@pytest.mark.parametrize("static", ["0", "1"])
def test_a_layer_that_the_new_model_lacks_becomes_its_last(static, monkeypatch):
    monkeypatch.setenv("BOOK_STATIC", static)
    w = show(Layered, about=LAYERS)
    assert (w.model, w.layer, w.token) == ("vit", 0, 3)
    w.layer = "blocks.2"
    assert w.layer == 2
    w.model = "resnet"
    assert w.layer == 0
    with pytest.raises(traitlets.TraitError, match="blocks"):
        w.model, w.layer = "vit", 3
    assert (w.model, w.layer) == ("vit", 0)


def test_the_page_may_change_model_and_layer_at_once(live_kernel):
    w = show(Layered, about=LAYERS, model="resnet")
    w.set_state({"layer": 2, "model": "vit"})
    assert (w.model, w.layer) == ("vit", 2)
