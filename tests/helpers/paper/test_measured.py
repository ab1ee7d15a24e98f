"""Stored full-size numbers come back as the results that a chapter draws."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.claims import scores
from helpers.paper import measured
from helpers.paper.measured import full_size, untrained
from paper_toys import SETTINGS, read


@pytest.fixture
def toy(results, monkeypatch):
    """The toy run in the place of the package's own."""
    monkeypatch.setattr(measured, "RESULTS", results.parent)
    measured._read.cache_clear()
    yield results
    measured._read.cache_clear()


def test_cka_is_as_it_was_measured(toy):
    found = full_size("similarity", "toy_vit", "toy_cnn", run="toy")
    stored = read(toy / "similarity.toy_vit.toy_cnn.json")
    np.testing.assert_allclose(found.cross, np.array(stored["arrays"]["cross"], float))
    low_high = scores.structure(found)["low_high_vit"]
    assert low_high == pytest.approx(stored["numbers"]["low_high_vit"]["value"], abs=2e-3)
    assert found.only(scores.is_block).within.shape == (4, 4) and found.n_images == 40


def test_untrained_draws_are_other_numbers(toy):
    pixels = lambda draw: full_size("attention", "toy_vit", draw=draw, run="toy")["pixels"]
    trained, first, second = map(pixels, (None, 0, 1))
    assert trained.shape == (4, 4) and not np.allclose(trained, first) and not np.allclose(first, second)


def test_places_have_their_scores(toy):
    places = full_size("localization", "toy_vit", "toy_cnn", run="toy")
    assert places["vit"].layer == "blocks.3" and 0 <= places["vit"].hit_rate <= 1
    assert places["contrast"].shape == (4,)
    assert places["contrast"][-1] == pytest.approx(places["vit"].contrast, abs=1e-3)  # a mean, so parts do not matter


def test_every_untrained_draw_is_found(toy):
    draws = untrained("attention", "toy_vit", run="toy")
    np.testing.assert_array_equal(draws[1]["pixels"], full_size("attention", "toy_vit", draw=1, run="toy")["pixels"])
    assert len(draws) == SETTINGS["draws"]
    assert untrained("attention", "vit_b16", run="toy") == []


def test_what_is_not_there_is_named_beside_what_is(toy):
    with pytest.raises(ValueError, match=r"no attention.vit_b16; it has attention.toy_cnn"):
        full_size("attention", "vit_b16", run="toy")
    with pytest.raises(ValueError, match="left out: does not apply"):
        full_size("attention", "toy_cnn", run="toy")
    with pytest.raises(ValueError, match=r"no heat\.toy_vit; it has accuracy, attention"):
        full_size("heat", "toy_vit", run="toy")


def test_the_packages_run_has_what_chapters_draw():
    for vit in ("vit_ti16", "deit_ti16"):
        assert full_size("attention", vit)["pixels"].shape == (12, 3)
        assert full_size("similarity", vit, "resnet50_v1").cross.shape[0] > 80
