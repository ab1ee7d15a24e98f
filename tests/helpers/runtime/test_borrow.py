"""A borrowed model: one thread at a time, nothing stale inside, everything as it was afterwards."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import timm
import torch
from torch import nn

from helpers import cka, features, taps
from helpers.runtime.borrow import borrowed

CPU = torch.device("cpu")


def in_threads(*calls) -> list:
    """What the calls give, made at the same time, each in a thread of its own."""
    with ThreadPoolExecutor(len(calls)) as pool:
        return [future.result() for future in [pool.submit(call) for call in calls]]


def order_of_two(first: nn.Module, second: nn.Module) -> list[str]:
    """What happens when a thread wants the second model while another is measuring the first."""
    inside, leave, log = threading.Event(), threading.Event(), []

    def measure_first() -> None:
        with borrowed(first, CPU):
            inside.set()
            leave.wait()
            log.append("first leaves")

    def measure_second() -> None:
        inside.wait()
        with borrowed(second, CPU):
            log.append("second enters")

    threads = [threading.Thread(target=measure) for measure in (measure_first, measure_second)]
    for thread in threads:
        thread.start()
    threads[1].join(timeout=0.2)  # if it need not wait, it is through by then
    leave.set()
    for thread in threads:
        thread.join()
    return log


def test_a_second_thread_waits_for_the_same_model(resnet):
    assert order_of_two(resnet, resnet) == ["first leaves", "second enters"]


def test_models_with_a_part_in_common_wait_for_each_other_and_others_do_not(resnet, vit):
    assert order_of_two(resnet, nn.Sequential(resnet.layer1, nn.ReLU())) == ["first leaves", "second enters"]
    assert order_of_two(resnet, vit) == ["second enters", "first leaves"]


def test_threads_get_the_right_result_and_the_model_back(vit, resnet, images):
    expected = cka(vit, images, resnet, batch_size=8)
    vit.train()
    own = dict(vit.named_parameters())
    found = in_threads(*[lambda: cka(vit, images, batch_size=8).within] * 2,
                       lambda: cka(vit, images, resnet, batch_size=8).within,
                       lambda: cka(resnet, images, vit, batch_size=8).other)  # in other order; none may wait forever
    assert all(np.allclose(one, expected.within, atol=1e-6) for one in found)
    assert all(m.training for m in vit.modules())
    assert all(p is own[name] and p.requires_grad for name, p in vit.named_parameters())


def test_a_thread_may_borrow_what_it_has_borrowed(resnet):
    with borrowed(resnet.train(), CPU), borrowed(resnet, CPU):
        assert not resnet.training
    assert resnet.training


@pytest.fixture
def levit() -> nn.Module:
    """A network that keeps its attention biases in a dictionary for each device, until train() is called."""
    torch.manual_seed(0)
    return timm.create_model("levit_128s", num_classes=5, img_size=64).eval()


def biases(model: nn.Module) -> list[dict]:
    return [m.attention_bias_cache for m in model.modules() if hasattr(m, "attention_bias_cache")]


def test_cached_biases_are_not_stale_and_come_back(levit):
    x = torch.randn(2, 3, 64, 64)
    layer = taps(levit, images=x)[-1]
    levit(x)  # fills the caches
    with torch.no_grad():
        for name, p in levit.named_parameters():
            if "attention_biases" in name:
                p.normal_()
    before = [(cache, dict(cache)) for cache in biases(levit)]
    again = features(levit, x, layer)
    assert all(now is cache and cache == items for now, (cache, items) in zip(biases(levit), before, strict=True))
    levit.train().eval()  # timm's way to clear them
    assert before and before[0][1] and torch.allclose(again, features(levit, x, layer), atol=1e-6)


def test_a_measurement_leaves_no_cache_behind(levit):
    features(levit, torch.randn(2, 3, 64, 64), "stages.0")
    assert biases(levit) and not any(biases(levit))


class Remembers(nn.Module):
    """Keeps plain tensors and lists, one of them shared, and changes them whenever it runs."""

    def __init__(self, known: dict) -> None:
        super().__init__()
        self.linear, self.scale = nn.Linear(4, 4), torch.ones(4)
        self.known, self.seen, self.runs = known, [torch.ones(4)], 0

    def forward(self, x):
        self.runs += 1
        self.last = x
        self.seen.append(x)
        x = self.linear(x) * self.scale * self.seen[0] + self.known["offset"]
        self.known["offset"] = self.known["offset"] + 1
        return x


def test_what_a_model_remembers_moves_along_and_comes_back(simulated):
    offset, known = torch.zeros(4), {}
    known["offset"] = offset
    model = nn.Sequential(Remembers(known), nn.ReLU(), Remembers(known))
    scale, seen = model[0].scale, model[0].seen
    result = features(model, torch.randn(8, 4), "0", device=simulated)
    assert result.shape == (8, 4)
    assert model[0].scale is scale and model[0].seen is seen and len(seen) == 1
    assert model[2].known is known and known == {"offset": offset} and known["offset"] is offset
    assert model[0].runs == 0 and not hasattr(model[0], "last")


class Reads(nn.Module):
    """An LSTM over the rows of an image; torch keeps its weights in a plain list as well."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm, self.out = nn.LSTM(8, 6, batch_first=True), nn.Linear(6, 5)

    def forward(self, x):
        return self.out(self.lstm(x)[0])


def test_weights_that_are_also_in_a_list_are_exchanged_there(simulated):
    model = Reads()
    own = list(model.lstm._flat_weights)
    with borrowed(model, simulated):
        assert {w.device.type for w in model.lstm._flat_weights} == {"simulated"}
        assert all(a is b for a, b in zip(model.lstm._flat_weights, model.lstm.parameters(), strict=True))
    assert all(a is b for a, b in zip(model.lstm._flat_weights, own, strict=True))


@pytest.mark.parametrize("compiled", ["wrapped", "in place"])
def test_a_compiled_model_gives_what_the_plain_one_gives(vit, images, compiled):
    names, expected = taps(vit, "all"), cka(vit, images, layers="all").within
    plain = features(vit, images, "blocks.1")
    try:
        model = vit
        if compiled == "wrapped":
            model = torch.compile(vit, backend="eager")
        else:
            vit.compile(backend="eager")
        model(images)  # compiled before any hook is there
        assert taps(model, "all") == names
        assert np.allclose(cka(model, images, layers="all").within, expected, atol=1e-6)
        assert torch.allclose(features(model, images, "blocks.1"), plain)
    finally:
        torch._dynamo.reset()
