"""On a GPU a launch costs more than a small product: how many kernels a minibatch takes, counted without a GPU."""

from __future__ import annotations

import pytest
import torch

from benchmarks.kernels import A100, counted
from helpers import attention_distance, cka, taps
from helpers.metrics.similarity import gram, u_centre


def test_kernels_and_synchronisations_of_cka_per_minibatch(vit, resnet):
    """A change that goes back to a kernel for each slice, or waits for the device at each layer, fails here."""
    vit, resnet = vit.to("meta"), resnet.to("meta")
    n = 64
    measure = lambda k: lambda: cka(vit, torch.zeros(1, 3, 32, 32).expand(k * n, -1, -1, -1), resnet, layers="all",
                                    batch_size=n, device="meta", progress=False)
    one, two = counted(measure(1)), counted(measure(2))
    layers = len(taps(vit, "all", torch.zeros(1, 3, 32, 32))) + 4
    added = len(two.kernels) - len(one.kernels)
    bare = counted(lambda: (vit(torch.zeros(n, 3, 32, 32, device="meta")),
                            resnet(torch.zeros(n, 3, 32, 32, device="meta"))))
    assert added - len(bare.kernels) <= 5 * layers + 50
    assert len(two.waits) - len(one.waits) <= 1


def test_kernels_of_attention_distance(vit):
    vit = vit.to("meta")
    measure = lambda k: lambda: attention_distance(vit, torch.zeros(1, 3, 32, 32).expand(k * 64, -1, -1, -1),
                                                   batch_size=64, device="meta", progress=False)
    one, two = counted(measure(1)), counted(measure(2))
    bare = counted(lambda: vit(torch.zeros(64, 3, 32, 32, device="meta")))
    assert len(two.kernels) - len(one.kernels) - len(bare.kernels) <= 3 * 20
    assert len(two.waits) == len(one.waits)


@pytest.mark.parametrize("columns", [5, 8192, 20011, 3 * 6304])
@pytest.mark.parametrize("n", [6, 512])
def test_grams_in_few_kernels_are_the_same(simulated, columns, n):
    x = torch.randn(n, columns, generator=torch.Generator().manual_seed(0)) + 3
    exact = (x.double() - x.double().mean(0)) @ (x.double() - x.double().mean(0)).T
    found = gram(x.to(simulated), centred=True).cpu()
    assert torch.allclose(found, exact, atol=1e-6 * float(exact.abs().max()))


def test_several_grams_are_centred_at_once_as_one_by_one():
    k = torch.randn(3, 6, 6, dtype=torch.float64)
    assert torch.equal(u_centre(k), torch.stack([u_centre(one) for one in k]))


def test_the_model_knows_that_a_launch_takes_time():
    counter = counted(lambda: torch.zeros(4, device="meta") + 1)
    assert counter.seconds(A100) == pytest.approx(5e-6 * len(counter.kernels))
