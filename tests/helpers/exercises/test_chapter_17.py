"""The checks of chapter 17 recognise the usual slips."""

import pytest
import torch
from slips import refused

from helpers.metrics.similarity import hsic0, hsic1


@pytest.mark.parametrize("wrong,hint", [
    (lambda k, l: hsic0(k, l), "biased"),
    (lambda k, l: hsic1(k, l) * 12 * 9, "n(n−3)"),
    (lambda k, l: k.nonexistent, "AttributeError"),
    (lambda k, l: torch.tensor(3.0), "three terms"),
    (lambda k, l: None, "returns nothing"),
])  # fmt: skip
def test_hsic1_names_the_slip(wrong, hint):
    assert refused("17.hsic1", wrong, hint)
