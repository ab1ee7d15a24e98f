"""The measurements of a run give the numbers of the metrics."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from helpers import attention_distance, cka, localization
from helpers.claims import scores
from helpers.inputs.photos import photos
from helpers.paper.choice import Choice
from helpers.paper.networks import find_networks, read_spec
from paper_toys import SETTINGS, read


def test_numbers_are_those_of_the_metrics(place, results):
    described, _ = read_spec(place / "spec.yml")
    networks = find_networks(["toy_vit", "toy_cnn"], described)
    vit, cnn = (network.load() for network in networks.values())
    sets = [photos(place / "photos", model) for model in (vit, cnn)]
    order = Choice(sets[0], SETTINGS).order.view(4, 10)
    parts, for_cnn = ([torch.stack([every[int(i)][0] for i in order[part::2].flatten()]) for part in range(2)]
                      for every in sets)
    distance = [attention_distance(vit, part) for part in parts]
    found = read(results / "attention.toy_vit.json")
    mean = np.mean([one.pixels for one in distance], axis=0)
    np.testing.assert_allclose(found["arrays"]["pixels"], mean, rtol=1e-3)
    lowest = [one.pixels[:2].min() / one.uniform for one in distance]
    assert found["numbers"]["lowest_nearest"]["value"] == pytest.approx(np.mean(lowest), rel=1e-3)
    pairs = [cka(vit, x, cnn, other_images=y, batch_size=8) for x, y in zip(parts, for_cnn, strict=True)]
    found = read(results / "similarity.toy_vit.toy_cnn.json")
    np.testing.assert_allclose(found["arrays"]["cross"], np.mean([p.cross for p in pairs], 0), atol=2e-3)
    low_high = np.mean([scores.low_high(p.other) for p in pairs])
    assert found["numbers"]["low_high 1"]["value"] == pytest.approx(low_high, abs=2e-3)


def test_hit_rates_are_those_of_all_images_together(place, results):
    (vit,) = (network.load() for network in find_networks(["toy_vit"], read_spec(place / "spec.yml")[0]).values())
    every = photos(place / "photos", vit)
    order = Choice(every, SETTINGS).order.view(4, 10)
    parts = [torch.stack([every[int(i)][0] for i in order[part::2].flatten()]) for part in range(2)]
    maps = np.mean([localization(vit, part, "blocks.3", batch_size=8).maps for part in parts], axis=0)
    interior = [5, 6, 9, 10]  # of 4×4 tokens
    expected = np.mean([maps[token].argmax() == token for token in interior])
    assert read(results / "localization.toy_vit.json")["numbers"]["last hit_rate"]["value"] == expected
