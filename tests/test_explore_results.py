"""Explorers of results from Python: the page gets the numbers that the results hold, and wrong input is refused."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
import traitlets

from helpers import CKA, AttentionDistance, attention_distance, cka, norm_ratio, without_skip
from helpers.explore import cka_explorer, scale_explorer, skip_explorer

QUIET = {"progress": False}


@pytest.fixture(autouse=True)
def book_build(monkeypatch):
    monkeypatch.setenv("BOOK_STATIC", "1")


@pytest.fixture
def pair(vit, resnet, images) -> CKA:
    return cka(vit, images, resnet, batch_size=12, **QUIET)


def unpacked(packed: dict) -> np.ndarray:
    """What `unpack` in parts.js reads."""
    codes = np.frombuffer(packed["data"], "<u2").reshape(packed["shape"])
    values = packed["low"] + packed["step"] * codes.astype(float)
    return np.where(codes == packed.get("undefined", -1), np.nan, values)


def rounded(values, digits: int = 3) -> np.ndarray:
    return np.vectorize(lambda value: float(f"{value:.{digits}f}"))(values)


# --- cka --------------------------------------------------------------------------------------------------------------


def test_cka_maps_are_those_of_the_figure(pair, vit, images):
    every = cka(vit, images, layers="all", batch_size=12, **QUIET)
    w = cka_explorer({"ViT × ResNet": pair}, {"ViT": every}, row="layer2.0", column="blocks.1")
    assert w.about["taps"] == {"blocks": ["ViT × ResNet", "ViT", "ResNet"], "all": ["ViT"]}
    drawn = {"blocks ViT × ResNet": pair.cross.T, "blocks ViT": pair.within, "blocks ResNet": pair.other}
    for name, matrix in (drawn | {"all ViT": every.within}).items():
        np.testing.assert_allclose(unpacked(w.parts[name]["values"]), rounded(matrix), atol=1e-12, err_msg=name)
        assert w.about["sizes"][name] == list(matrix.shape)
    assert (w.row, w.column) == (1, 1)
    drawn = pair.plot()[1]
    assert [label.get_text() for label in drawn.get_yticklabels()] == w.shown["rows"]
    assert [label.get_text() for label in drawn.get_xticklabels()] == w.shown["columns"]


def test_a_change_of_map_keeps_the_cell_inside(pair, vit, images):
    w = cka_explorer({"ViT × ResNet": pair}, {"ViT": cka(vit, images, layers="all", batch_size=12, **QUIET)}, row=3)
    w.pair = "ViT"
    assert (w.row, w.column) == (2, 0)  # the ViT has three blocks
    w.taps, w.row = "all", 8
    w.taps = "blocks"
    assert (w.pair, w.row) == ("ViT", 2)


def test_undefined_cka_stays_undefined(pair):
    matrix = pair.within.copy()
    matrix[1, :] = matrix[:, 1] = np.nan
    w = cka_explorer({"ViT": CKA(matrix, pair.layers, 24, 12)})
    np.testing.assert_array_equal(np.isnan(unpacked(w.parts["blocks ViT"]["values"])), np.isnan(matrix))


def test_wrong_cka_results_are_refused(pair):
    alone = CKA(pair.within, pair.layers, 24, 12)
    for wrong, error, message in [
        ({}, ValueError, "needs results of cka"),
        ({"ViT": pair}, ValueError, "'ViT' is a result for two models: name it 'first × second'"),
        ({"ViT × ResNet": alone}, ValueError, "'ViT × ResNet' is a result for one model: its name has no ×"),
        ({"ViT": pair.within}, TypeError, "'ViT' is a ndarray, not a result of cka(model, images, …)"),
        ({"ViT": replace(alone, layers=["one"])}, ValueError, "CKA of shape (3, 3) does not fit 1 × 1 layer names"),
    ]:
        with pytest.raises(error, match=re.escape(message)):
            cka_explorer(wrong)
    for state, message in [
        ({"pair": "ViT × resnet"}, "did you mean 'ViT × ResNet'?"),
        ({"row": 4}, "from 0 (layer1.0) to 3 (layer4.0)"),
        ({"taps": "all"}, "taps must be one of 'blocks', but it is 'all'"),
    ]:
        with pytest.raises(traitlets.TraitError, match=re.escape(message)):
            cka_explorer({"ViT × ResNet": pair}, **state)


# --- skip -------------------------------------------------------------------------------------------------------------


def networks(vit, images):
    alone = {block: cka(without_skip(vit, block), images, batch_size=12, **QUIET) for block in (0, 2)}
    intact = (cka(vit, images, batch_size=12, **QUIET), 0.75)
    return intact, {block: (result, 0.5 + block / 10) for block, result in alone.items()}


def test_skip_curves_are_the_norm_ratios(vit, resnet, images):
    intact, cut = networks(vit, images)
    ratio, convolutions = norm_ratio(vit, images, **QUIET), norm_ratio(resnet, images, **QUIET)
    w = skip_explorer({"ViT": ratio, "ResNet": convolutions}, intact, {2: cut[2]}, cut, variant="cut", block=0)
    curves = {(c["model"], c["branch"], c["tokens"]): unpacked(c["values"]) for c in w.about["curves"]}
    expected = {
        ("ViT", "attn", "cls"): ratio.attn[:, 0],
        ("ViT", "mlp", "cls"): ratio.mlp[:, 0],
        ("ViT", "attn", "spatial"): ratio.attn[:, 1:].mean(1),
        ("ViT", "mlp", "spatial"): ratio.mlp[:, 1:].mean(1),
        ("ResNet", "conv", "blocks"): convolutions.blocks,
    }
    assert curves.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_allclose(curves[name], rounded(values, 2), atol=1e-12, err_msg=str(name))
    assert w.about["blocks"] == {"trained": [-1, 2], "cut": [-1, 0, 2]}
    np.testing.assert_allclose(unpacked(w.parts["cut 0"]["values"]), rounded(cut[0][0].within), atol=1e-12)
    assert w.about["accuracy"] == {"intact": 0.75, "trained 2": 0.7, "cut 0": 0.5, "cut 2": 0.7}
    w.variant = "trained"
    assert w.block == -1  # no such network was trained without the skip of block 0


def test_a_mixer_has_curves_without_a_class_token(mixer, vit, images):
    intact, cut = networks(vit, images)
    w = skip_explorer({"Mixer": norm_ratio(mixer, images, **QUIET)}, intact, cut)
    assert [(c["branch"], c["tokens"]) for c in w.about["curves"]] == [("attn", "spatial"), ("mlp", "spatial")]


def test_wrong_skip_input_is_refused(vit, resnet, images, pair):
    intact, cut = networks(vit, images)
    ratios = {"ResNet": norm_ratio(resnet, images, **QUIET)}
    other = CKA(pair.other, pair.other_layers, 24, 12)
    for arguments, error, message in [
        (({}, intact, cut), ValueError, "needs results of norm_ratio"),
        (({"ViT": 3}, intact, cut), TypeError, "'ViT' is a int, not a result of norm_ratio"),
        ((ratios, (intact[0], 75), cut), ValueError, "the accuracy of the intact network must be a share from 0 to 1"),
        ((ratios, (pair, 0.7), cut), ValueError, "the intact network needs the CKA of one model with itself"),
        ((ratios, intact, {1: (other, 0.5)}), ValueError, "the skip of block 1 has other layers than the intact one"),
    ]:
        with pytest.raises(error, match=re.escape(message)):
            skip_explorer(*arguments)
    with pytest.raises(traitlets.TraitError, match=re.escape("block must be one of -1, 0, 2, but it is 1")):
        skip_explorer(ratios, intact, cut, block=1)


# --- scale ------------------------------------------------------------------------------------------------------------


def test_scale_lines_are_the_diagonal_and_dots_the_distances(vit, resnet, images, pair):
    same = cka(vit, images, without_skip(vit, 1), batch_size=12, **QUIET)
    distance = attention_distance(vit, images, **QUIET)
    w = scale_explorer(
        {"ViT": {1.0: (None, distance, 0.8), 0.1: (same, distance, 0.6)}, "ResNet": {0.03: ([0.25, 0.5], None, 0.4)}},
        layer="blocks.2",
    )
    part = w.parts["ViT"]
    assert part["fractions"] == [0.1, 1.0] and part["accuracy"] == [0.6, 0.8] and part["layers"] == same.layers
    np.testing.assert_allclose(unpacked(part["cka"]), [rounded(same.cross.diagonal()), [np.nan] * 3], atol=1e-12)
    np.testing.assert_allclose(unpacked(part["distances"][0]["pixels"]), rounded(distance.pixels, 2), atol=1e-12)
    assert (w.model, w.fraction, w.layer) == ("ViT", 0.1, 2)
    w.model = "ResNet"
    assert (w.fraction, w.layer) == (0.03, 1)
    assert w.parts["ResNet"]["distances"] == [None]


def test_wrong_scale_input_is_refused(pair, vit, images):
    short = AttentionDistance(np.ones((2, 3)), np.ones((2, 3)), np.ones((2, 3)), 1.0, (4, 4), 3)
    good = ([0.1, 0.2, 0.3], None, 0.5)
    for networks_by_fraction, message in [
        ({}, "needs fractions for each model"),
        ({2.0: good}, "a fraction of the data for ViT must be a share from 0 to 1, but it is 2.0"),
        ({0.1: (good[0], None, 50)}, "the accuracy of ViT, 0.1, must be a share from 0 to 1"),
        ({1.0: (None, None, 0.5)}, "ViT: none of its fractions has a CKA with the full-data network"),
        ({0.1: (pair, None, 0.5)}, "ViT, 0.1: needs the CKA of two networks with the same layers"),
        ({0.1: good, 0.3: ([0.1], None, 0.5)}, "ViT: CKA has 1 layers for 0.3, but 3 for the first"),
        ({0.1: (np.ones((2, 2)), None, 0.5)}, "one value for each layer, got shape (2, 2)"),
        ({0.1: (good[0], short, 0.5)}, "ViT, 0.1: head distances of 2 blocks do not fit CKA of 3 layers"),
    ]:
        with pytest.raises(ValueError, match=re.escape(message)):
            scale_explorer({"ViT": networks_by_fraction})
    with pytest.raises(traitlets.TraitError, match=re.escape("fraction must be one of 0.1, but it is 0.2")):
        scale_explorer({"ViT": {0.1: good}}, fraction=0.2)
