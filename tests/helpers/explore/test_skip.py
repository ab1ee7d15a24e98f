"""The explorer of skip connections."""

from __future__ import annotations

import re

import numpy as np
import pytest
import traitlets

from explorer_samples import rounded, unpacked
from helpers import CKA, cka, norm_ratio, without_skip
from helpers.explore import skip_explorer

pytestmark = pytest.mark.usefixtures("book_build")

def networks(vit, images):
    alone = {block: cka(without_skip(vit, block), images, batch_size=12) for block in (0, 2)}
    intact = (cka(vit, images, batch_size=12), 0.75)
    return intact, {block: (result, 0.5 + block / 10) for block, result in alone.items()}


def test_skip_curves_are_the_norm_ratios(vit, resnet, images):
    intact, cut = networks(vit, images)
    ratio, convolutions = norm_ratio(vit, images), norm_ratio(resnet, images)
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
    w = skip_explorer({"Mixer": norm_ratio(mixer, images)}, intact, cut)
    assert [(c["branch"], c["tokens"]) for c in w.about["curves"]] == [("attn", "spatial"), ("mlp", "spatial")]


def test_wrong_skip_input_is_refused(vit, resnet, images, pair):
    intact, cut = networks(vit, images)
    ratios = {"ResNet": norm_ratio(resnet, images)}
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
