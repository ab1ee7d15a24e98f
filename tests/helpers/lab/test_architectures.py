"""The lab's networks: every variant learns, and options are spelt rightly."""

from __future__ import annotations

import pytest
import torch

from helpers.lab.architectures import settings
from helpers.lab.runs import recipes, untrained


@pytest.mark.parametrize("name", [name for name in recipes() if "pos" in name or "noskip" in name or name == "hybrid"])
def test_every_variant_learns_with_all_its_parameters(name):
    model = untrained(name)
    model(torch.randn(2, 3, 32, 32, generator=torch.Generator().manual_seed(0))).square().sum().backward()
    assert not [key for key, p in model.named_parameters() if p.grad is None]


def test_a_misspelt_option_of_a_network_is_refused():
    with pytest.raises(ValueError, match="A vit has no option widht; there are width, depth"):
        settings(kind="vit", widht=96)
