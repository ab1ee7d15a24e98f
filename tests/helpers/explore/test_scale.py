"""The explorer of data and model scale."""

from __future__ import annotations

import re

import numpy as np
import pytest
import traitlets

from explorer_samples import rounded, unpacked
from helpers import AttentionDistance, attention_distance, cka, without_skip
from helpers.explore import scale_explorer

pytestmark = pytest.mark.usefixtures("book_build")

def test_scale_lines_are_the_diagonal_and_dots_the_distances(vit, resnet, images, pair):
    same = cka(vit, images, without_skip(vit, 1), batch_size=12)
    distance = attention_distance(vit, images)
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
