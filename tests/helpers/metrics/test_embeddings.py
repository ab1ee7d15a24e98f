"""What the input layer holds: components, frequencies and positions, against references worked out by hand."""

import numpy as np
import pytest
import torch
from sklearn.decomposition import PCA
from timm.models.vision_transformer import VisionTransformer

from helpers import load_model
from helpers.metrics.embeddings import (
    PositionSimilarity,
    low_frequency_share,
    position_similarity,
    principal_components,
)


def test_components_are_those_of_scikit_learn():
    filters = torch.randn(40, 3, 2, 4, generator=torch.Generator().manual_seed(0))
    directions, shares = principal_components(filters)
    reference = PCA(24).fit(filters.flatten(1).double().numpy())
    np.testing.assert_allclose(shares, reference.explained_variance_ratio_, rtol=1e-9)
    cosines = np.abs((directions.flatten(1).numpy() * reference.components_).sum(1))
    np.testing.assert_allclose(cosines, 1, rtol=1e-9)
    assert directions.shape == (24, 3, 2, 4)


def test_components_have_a_fixed_sign_and_no_empty_direction():
    few = torch.randn(5, 3, 4, 4, generator=torch.Generator().manual_seed(1))
    directions, shares = principal_components(few)
    assert len(directions) == 4 and shares.sum() == pytest.approx(1)  # five centred filters span four directions
    assert (directions.flatten(1).amax(1) == directions.flatten(1).abs().amax(1)).all()


@pytest.mark.parametrize(("wave", "share"), [(0, 1), (1, 1), (2, 0), (3, 0)])
def test_a_single_wave_is_low_or_high(wave, share):
    line = torch.cos(torch.pi * (torch.arange(4) + 0.5) * wave / 4)
    pattern = line.expand(1, 3, 4, 4)
    assert low_frequency_share(pattern) == pytest.approx([share], abs=1e-12)
    assert low_frequency_share(pattern.mT) == pytest.approx([share], abs=1e-12)


def test_noise_has_a_quarter_of_its_energy_at_low_frequencies():
    noise = torch.randn(4000, 3, 4, 4, generator=torch.Generator().manual_seed(0))
    assert low_frequency_share(noise).mean() == pytest.approx(0.25, abs=0.005)


def similarity_of(function, grid=(8, 8)):
    """A table of cosines from a function of steps down and across."""
    place = np.indices(grid).reshape(2, -1)
    down, across = np.abs(place[:, :, None] - place[:, None])
    return PositionSimilarity(function(down, across).astype(float), grid)


def test_cosine_that_only_knows_distance_shows_no_rows():
    found = similarity_of(lambda down, across: 1 - np.hypot(down, across) / 20)
    assert found.spearman() == pytest.approx(-1)
    assert found.contrast() == pytest.approx(0, abs=1e-6) == found.contrast(exact=True)


def test_rows_and_columns_stand_out_by_what_was_added():
    bonus = 0.2
    found = similarity_of(lambda down, across: -np.hypot(down, across) + bonus * (down * across == 0))
    assert found.contrast() == pytest.approx(bonus, abs=1e-6)
    assert found.contrast(exact=True) == pytest.approx(bonus, abs=1e-6)


def test_plain_means_would_be_deceived():
    """Nearness alone lifts the mean of rows and columns; the contrast does not mistake it for structure."""
    found = similarity_of(lambda down, across: np.exp(-np.hypot(down, across)))
    place = np.indices((8, 8)).reshape(2, -1)
    line = (place[:, :, None] == place[:, None]).any(0)
    other = ~np.eye(64, dtype=bool)
    plain = found.cosines[line & other].mean() - found.cosines[~line].mean()
    assert plain > 0.09 and -0.01 < found.contrast() <= 0  # interpolating a convex fall errs against structure


@pytest.mark.parametrize("exact", [False, True])
def test_contrast_pair_by_pair(exact):
    rng = np.random.default_rng(0)
    found = PositionSimilarity(rng.random((49, 49)), (7, 7))
    places = rng.integers(49, size=30)
    steps = [[(abs(i // 7 - j // 7), abs(i % 7 - j % 7)) for j in range(49)] for i in places]
    outside: dict[float, list[float]] = {}
    for i, row in zip(places, steps, strict=True):
        for j, (a, b) in enumerate(row):
            if a and b:
                outside.setdefault(round(float(np.hypot(a, b)), 6), []).append(found.cosines[i, j])
    at = sorted(outside)
    mean = [np.mean(outside[d]) for d in at]
    gaps = [
        found.cosines[i, j] - np.interp(a + b, at, mean)
        for i, row in zip(places, steps, strict=True)
        for j, (a, b) in enumerate(row)
        if (a == 0) != (b == 0) and ((a + b) in outside if exact else a + b >= 2)
    ]
    assert found.contrast(places, exact=exact) == pytest.approx(np.mean(gaps))


def test_cosines_leave_out_the_class_token():
    model = VisionTransformer(img_size=32, patch_size=8, embed_dim=12, depth=1, num_heads=2)
    found = position_similarity(model)
    table = torch.nn.functional.normalize(model.pos_embed[0, 1:].detach().double(), dim=1)
    np.testing.assert_allclose(found.cosines, table @ table.T, atol=1e-7)
    assert found.grid == (4, 4) and repr(found) == "PositionSimilarity(4×4 places)"


def test_a_start_from_sines_knows_places_and_a_random_one_does_not():
    sines, random = (position_similarity(load_model(name, trained=False)) for name in ("vit_cls", "vit_pos_learn"))
    assert sines.spearman() < -0.8
    assert abs(random.spearman()) < 0.05 and abs(random.contrast()) < 0.02
