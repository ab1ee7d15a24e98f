"""Variance of channels against plain formulas; CKA of standardised channels against channels divided by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from helpers import channel_variance, cka, features, minibatch_cka
from helpers.metrics.channels import Moments


def test_variance_is_that_over_the_images_of_minibatches(vit, resnet, images):
    for model, layer, positions in ((vit, "blocks.1", 0), (resnet, "layer2.0", (1, 2))):
        x = features(model, images[:7], layer).double()
        found = channel_variance(model, images[:7], [layer], batch_size=4)  # batches of four and of three
        squares = sum((part - part.mean(0)).square().sum(0) for part in x.split(4))
        np.testing.assert_allclose(found.variance[layer], (squares / (3 + 2)).mean(positions), rtol=1e-4)
        everything = tuple(i for i in range(x.dim()) if i != (2 if layer == "blocks.1" else 1))
        np.testing.assert_allclose(found.largest[layer], x.abs().amax(everything), rtol=1e-5)
        assert found.n_images == 7


def test_moments_of_parts_are_those_of_the_whole():
    x = torch.randn(9, 5, 3) + 100
    moments = Moments()
    for part in x.split(4):
        moments.add(part, axis=2)
    np.testing.assert_allclose(moments.deviation(), x.double().std((0, 1), correction=0), rtol=1e-4)


def test_what_differs_between_positions_only_is_no_variance():
    """Class tokens and corners may be far from all others, in every image alike: no Gram matrix sees that."""
    x = torch.arange(6.0)[None, None, :, None].expand(8, 3, 6, 6) + 0.01 * torch.randn(8, 3, 6, 6)
    found = channel_variance(nn.Sequential(nn.Conv2d(3, 2, 1, bias=False)), x, ["0"])
    assert found.variance["0"].max() < 0.01


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
