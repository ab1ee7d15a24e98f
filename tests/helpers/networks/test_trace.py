"""One image through a model: which modules run, when, and how many rows they give."""

from __future__ import annotations

import torch
from torch import nn

from helpers.networks.trace import first_tensor, trace, uncompiled


def test_modules_are_entered_and_left_in_order():
    model = nn.Sequential(nn.Linear(4, 4), nn.Sequential(nn.ReLU()))
    order = trace(model, torch.randn(3, 4))
    assert sorted(order, key=order.get) == [("", "in", 0), ("0", "in", 0), ("0", "out", 0), ("1", "in", 0),
                                            ("1.0", "in", 0), ("1.0", "out", 0), ("1", "out", 0), ("", "out", 0)]
    assert set(order.rows.values()) == {1}  # of one image, whatever the batch


def test_calls_of_a_shared_module_are_told_apart_by_where_they_happen():
    shared = nn.Linear(4, 4)
    model = nn.Sequential(nn.Sequential(shared, nn.ReLU()), nn.Sequential(shared, shared))
    order = trace(model, torch.randn(2, 4))
    assert order.calls("0.0") == order.calls("1.1") == 3 and order.calls("0.1") == 1
    assert order.inside("0", 0, "0.0") == ("0.0", "out", 0)
    assert order.inside("1", 0, "1.0") == ("0.0", "out", 1) and order.inside("1", 0, "1.0", nth=1) == ("0.0", "out", 2)
    assert order.inside("1", 0, "0.1") is None


class HalvesInPlace(nn.Module):
    def forward(self, x):
        return x.mul_(0.5)


def test_the_image_that_is_traced_stays_as_it_is():
    x = torch.ones(2, 4)
    trace(HalvesInPlace(), x)
    assert (x == 1).all()


def test_the_model_inside_a_compiled_one(vit):
    assert uncompiled(torch.compile(vit)) is vit and uncompiled(vit) is vit


def test_the_first_tensor_of_what_a_module_gives():
    x = torch.ones(1)
    assert first_tensor(x) is x and first_tensor((None, x)) is x and first_tensor({"x": x}) is None
