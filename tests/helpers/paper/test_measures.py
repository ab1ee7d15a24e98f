"""The measurements of a run give the numbers of the metrics."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from helpers import attention_distance, cka, localization
from helpers.claims import rules, scores
from helpers.claims.entries import claim, rule_of
from helpers.inputs.photos import photos
from helpers.paper.choice import Choice
from helpers.paper.measures import LOCAL_GRID
from helpers.paper.networks import find_networks, read_spec
from helpers.paper.page import ROWS
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
    pairs = [cka(vit, x, cnn, layers="all", other_layers="all", other_images=y, batch_size=8)
             for x, y in zip(parts, for_cnn, strict=True)]
    found = read(results / "similarity.toy_vit.toy_cnn.json")
    np.testing.assert_allclose(found["arrays"]["cross"], np.mean([p.cross for p in pairs], 0), atol=2e-3)
    low_high = np.mean([scores.low_high(p.other) for p in pairs])
    assert found["numbers"]["low_high_resnet"]["value"] == pytest.approx(low_high, abs=2e-3)


def test_every_claim_of_the_page_gets_its_own_quantities(results):
    """What a chapter's rule reads, the run measures under the same name, for the trained pair and for every draw."""
    for row in ROWS:
        reads = set().union(*(rules.names(rule) for rule in rule_of(claim(row.claim)).values()))
        files = [path for path in results.glob(f"{row.measure}.*.json") if "numbers" in read(path)]
        assert files, row.measure
        for path in files if row.numbers is None and row.measure != "cuts" else ():  # cut networks are half of R25, R27
            assert reads <= row.values(read(path)).keys(), (row.claim, path.name)


def test_hit_rates_are_those_of_all_images_together(place, results):
    (vit,) = (network.load() for network in find_networks(["toy_vit"], read_spec(place / "spec.yml")[0]).values())
    every = photos(place / "photos", vit)
    order = Choice(every, SETTINGS).order.view(4, 10)
    parts = [torch.stack([every[int(i)][0] for i in order[part::2].flatten()]) for part in range(2)]
    maps = np.mean([localization(vit, part, "blocks.3", LOCAL_GRID, batch_size=8).maps for part in parts], axis=0)
    inner = [row * 7 + column for row in range(1, 6) for column in range(1, 6)]
    expected = np.mean([maps[token].argmax() == token for token in inner])
    found = read(results / "localization.toy_vit.toy_cnn.json")["numbers"]["R28 hit_rate"]["value"]
    assert found == pytest.approx(expected, rel=1e-3)
