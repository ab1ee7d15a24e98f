"""The explorer of tokens: maps and probes."""

from __future__ import annotations

import numpy as np
import pytest
import traitlets

from explorer_samples import unpacked
from helpers import (
    Localization,
    probe,
)
from helpers.explore import token_explorer

pytestmark = pytest.mark.usefixtures("book_build")

RNG = np.random.default_rng(0)


def made_map(rows: int = 3, columns: int = 3, layer: str = "blocks.0") -> Localization:
    return Localization(RNG.random((rows * columns, rows, columns)), layer, 16)


def made_probe(*shape: int):
    """A real probe on features that are partly noise."""
    labels = np.arange(24) % 3
    features = RNG.normal(size=(24, *shape, 4)) + labels.reshape(-1, *[1] * (len(shape) + 1))
    return probe(features[:12], labels[:12], features[12:], labels[12:])


def test_tokens_hold_the_maps_and_the_accuracies():
    maps = {"ViT": [made_map(), made_map(layer="blocks.1")], "ResNet": made_map(2, 2, "layer4.2")}
    probes = {"ViT": {"token": made_probe(2, 9), "[CLS]": made_probe(2)}, "ResNet": {"token": made_probe(3, 4)}}
    w = token_explorer(maps, probes, names={"[CLS]": {"en": "[CLS]", "ko": "[CLS] 토큰"}})
    assert (w.token, w.depth, w.view) == (4, 1, "similarity")
    for packed, result in zip(w.parts["ViT"]["maps"], maps["ViT"], strict=True):
        np.testing.assert_allclose(unpacked(packed), result.maps, atol=5.1e-4)
    accuracy = unpacked(w.parts["ResNet"]["probes"]["token"])
    np.testing.assert_allclose(accuracy, probes["ResNet"]["token"].accuracy, atol=5.1e-4)
    assert w.about["models"]["ViT"]["lines"] == {"[CLS]": {"en": "[CLS]", "ko": "[CLS] 토큰"}}
    assert w.about["models"]["ResNet"]["chance"] == pytest.approx(1 / 3)


def test_tokens_work_without_probes():
    w = token_explorer({"ViT": made_map()})
    with pytest.raises(traitlets.TraitError, match="view must be one of 'similarity', but it is 'probe'"):
        w.view = "probe"
    with pytest.raises(traitlets.TraitError, match="token must be a whole number from 0 to 8, but it is 9"):
        w.token = 9


@pytest.mark.parametrize(
    ("maps", "probes", "message"),
    [
        ({}, None, "there is no network"),
        ({"a": []}, None, "there is no network, or one without layers"),
        ({"a": [np.ones((9, 3, 3))]}, None, "'a' must be a result of localization"),
        ({"a": [made_map(), made_map(2, 2, "x")]}, None, r"'a': layer 'x' has a grid \(2, 2\)"),
        ({"a": Localization(np.full((4, 2, 2), np.nan), "x", 8)}, None, "layer 'x' has tokens or patches that never"),
        ({"a": made_map()}, {"b": {}}, "probes has 'b', but maps has only 'a'"),
        ({"a": made_map()}, {}, "probes has no \"token\" for 'a'"),
        ({"a": made_map()}, {"a": {"token": made_probe(2, 4)}}, r"shape \(2, 4\); expected \[layers, 9\]"),
        ({"a": made_map()}, {"a": {"token": made_probe(2, 9), "mean": made_probe(3)}}, r"of 'a' has shape \(3,\)"),
    ],
)
def test_tokens_refuse_what_does_not_fit(maps, probes, message):
    with pytest.raises(ValueError, match=message):
        token_explorer(maps, probes)
