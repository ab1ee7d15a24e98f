"""Explorers of results from Python: the page gets the numbers that the results hold, and wrong input is refused."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
import traitlets

from explorer_samples import rounded, unpacked
from helpers import CKA, cka
from helpers.explore import cka_explorer

pytestmark = pytest.mark.usefixtures("book_build")

# --- cka --------------------------------------------------------------------------------------------------------------


def test_cka_maps_are_those_of_the_figure(pair, vit, images):
    every = cka(vit, images, layers="all", batch_size=12)
    w = cka_explorer({"ViT × ResNet": pair}, {"ViT": every}, row="layer2.0", column="blocks.1")
    assert w.about["taps"] == {"blocks": ["ViT × ResNet", "ViT", "ResNet"], "all": ["ViT"]}
    drawn = {"blocks ViT × ResNet": pair.cross.T, "blocks ViT": pair.within, "blocks ResNet": pair.other}
    for name, matrix in (drawn | {"all ViT": every.within}).items():
        np.testing.assert_allclose(unpacked(w.parts[name]["values"]), rounded(matrix), atol=1e-12, err_msg=name)
        assert w.about["sizes"][name] == list(matrix.shape)
    assert (w.row, w.column) == (1, 1)
    drawn = pair.plot()[1]
    numbers = lambda names: [str(i) for i in range(len(names))]  # the figure numbers blocks, the explorer names them
    assert [label.get_text() for label in drawn.get_yticklabels()] == numbers(w.shown["rows"])
    assert [label.get_text() for label in drawn.get_xticklabels()] == numbers(w.shown["columns"])


def test_a_change_of_map_keeps_the_cell_inside(pair, vit, images):
    w = cka_explorer({"ViT × ResNet": pair}, {"ViT": cka(vit, images, layers="all", batch_size=12)}, row=3)
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


# --- scale ------------------------------------------------------------------------------------------------------------
