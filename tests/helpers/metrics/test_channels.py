"""Variance of channels against plain formulas; CKA of standardised channels against channels divided by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from helpers import channel_variance, cka, features, minibatch_cka


def test_variance_is_that_of_all_images_and_positions(vit, resnet, images):
    for model, layer, others in ((vit, "blocks.1", (0, 1)), (resnet, "layer2.0", (0, 2, 3))):
        x = features(model, images, layer).double()
        found = channel_variance(model, images, [layer], batch_size=3)  # batches of unequal size
        np.testing.assert_allclose(found.variance[layer], x.var(others, correction=0), rtol=1e-5)
        np.testing.assert_allclose(found.largest[layer], x.abs().amax(others), rtol=1e-6)
        assert found.n_images == len(images)


class Loud(nn.Module):
    """Adds a channel that is a thousand times as strong as the others, and one that never changes."""

    def forward(self, x):
        return torch.stack([1000 * x.mean((1, 2, 3)), torch.full((len(x),), 7.0), *x[:, :2].mean((2, 3)).T], 1)


def test_a_loud_channel_is_found():
    x = torch.randn(32, 3, 4, 4)
    table = channel_variance(nn.Sequential(Loud()), x, ["0"]).to_frame()
    assert table.loc["0", "channel"] == 0 and table.loc["0", "share"] > 0.99
    assert table.loc["0", "even share"] == 0.25


@pytest.mark.parametrize("layer, others", [("blocks.2", (0, 1)), ("blocks.0.mlp_hidden", (0, 1))])
def test_standardised_cka_is_that_of_divided_channels(vit, resnet, images, layer, others):
    ours = cka(vit, images, resnet, layers=[layer], other_layers=["layer3.0"], standardise=True, batch_size=8)
    x, y = features(vit, images, layer), features(resnet, images, "layer3.0")
    x = x / x.std(others, correction=0)
    y = y / y.std((0, 2, 3), correction=0)[:, None, None]
    assert ours.cross[0, 0] == pytest.approx(minibatch_cka(x, y, batch_size=8), abs=1e-5)


def test_standardised_cka_does_not_know_the_scale_of_channels(images):
    scale = torch.tensor([1e-3, 1.0, 1e3])[:, None, None]
    plain, scaled = nn.Sequential(nn.Identity(), nn.Conv2d(3, 3, 1)), nn.Sequential(nn.Identity(), nn.Conv2d(3, 3, 1))
    scaled.load_state_dict(plain.state_dict())
    with torch.no_grad():
        scaled[1].weight *= scale[..., None]
        scaled[1].bias *= scale[:, 0, 0]
    both = [cka(plain, images, other, layers=["1"], other_layers=["1"], standardise=yes, batch_size=8).cross[0, 0]
            for other, yes in ((scaled, True), (scaled, False))]
    assert both[0] == pytest.approx(1, abs=1e-5) and both[1] < 0.99


def test_a_constant_channel_says_nothing():
    x = torch.randn(16, 3, 4, 4)
    found = cka(nn.Sequential(Loud()), x, layers=["0"], standardise=True, batch_size=16)
    assert found.within[0, 0] == pytest.approx(1)
