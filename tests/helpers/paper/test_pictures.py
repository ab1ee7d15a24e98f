"""Figures of a run."""

from __future__ import annotations

import json
import shutil

import matplotlib.pyplot as plt
import numpy as np
import pytest

from helpers.paper import pictures
from helpers.paper.page import WORDS
from helpers.paper.stored import Results
from paper_toys import read


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def maps(figure) -> list[np.ndarray]:
    return [ax.images[0].get_array() for ax in figure.axes if ax.images and ax.get_label() != "<colorbar>"]


def test_maps_of_a_pair_raw_and_standardised_trained_and_untrained(results):
    shown = maps(pictures.across(Results(results), WORDS["en"]))
    stored = read(results / "similarity.toy_vit.toy_cnn.json")
    cross = pictures.blocks(stored, "cross")
    assert len(shown) == 4 and shown[0].shape == cross.T.shape
    np.testing.assert_allclose(shown[0], cross.T)
    assert not np.allclose(shown[0], shown[1])
    assert len(maps(pictures.within(Results(results), WORDS["en"]))) == 8


def test_what_was_not_measured_stays_empty(results, tmp_path):
    folder = shutil.copytree(results, tmp_path / "toy")
    for path in folder.glob("similarity.*.untrained-*.json"):
        path.unlink()
    assert len(maps(pictures.across(Results(folder), WORDS["en"]))) == 3
    for path in [*folder.glob("similarity.*"), *folder.glob("standardised.*"), *folder.glob("norms.*")]:
        path.unlink()
    run = Results(folder)
    assert pictures.across(run, WORDS["en"]) is None and pictures.curves(run) is None
    assert pictures.figures_html(run, WORDS["en"], pictures.as_picture) == ""


def test_every_vit_has_its_heads_and_curves(results, tmp_path):
    folder = shutil.copytree(results, tmp_path / "toy")
    for measure in ("attention.toy_vit", "norms.toy_vit.toy_cnn"):
        result = read(folder / f"{measure}.json")
        result["networks"][0] = "second"
        (folder / f"{measure.replace('toy_vit', 'second')}.json").write_text(json.dumps(result), encoding="utf-8")
    figure = pictures.curves(Results(folder))
    assert [ax.get_title() for ax in figure.axes] == ["second", "toy_vit", "", ""]
    assert all(len(ax.lines) >= len(pictures.CURVES) for ax in figure.axes[2:])
