"""Features of one layer are what a hook of our own sees, in the order of the images."""

import pytest
import torch

from helpers import features
from helpers.metrics.features import answers, widened


def test_features_equal_a_hook_of_our_own(vit, images):
    seen = []
    handle = vit.blocks[1].register_forward_hook(lambda module, inputs, output: seen.append(output))
    with torch.no_grad():
        vit(images)
    handle.remove()
    assert torch.allclose(features(vit, images, "blocks.1", batch_size=7), seen[0], atol=1e-5)


def test_several_layers_come_from_one_pass_in_execution_order(vit, images):
    calls = []
    handle = vit.patch_embed.register_forward_hook(lambda *_: calls.append(1))
    tables = features(vit, images, ["blocks.2", "blocks.0"], batch_size=24)
    handle.remove()
    assert list(tables) == ["blocks.0", "blocks.2"] and len(calls) <= 2  # one to find the layers, one to read them
    assert torch.equal(tables["blocks.2"], features(vit, images, "blocks.2"))


def test_an_unknown_layer_is_refused(vit, images):
    with pytest.raises(ValueError, match=r"no layer 'blocks\.9'"):
        features(vit, images, "blocks.9")


def test_answers_are_the_classes_of_the_highest_logits(resnet, images):
    resnet.train()  # BatchNorm would look at the other images of a minibatch
    found = answers(resnet, images, batch_size=5)
    assert resnet.training
    with torch.no_grad():
        assert torch.equal(found, resnet.eval()(images).argmax(1)) and len(found.unique()) > 1


@pytest.mark.parametrize("broken", [float("nan"), float("inf"), -float("inf")])
def test_activations_that_are_not_finite_are_refused(vit, images, broken):
    vit.blocks[1].mlp.fc2.bias.data[3] = broken
    with pytest.raises(ValueError, match=r"NaN or Inf in the activations of 'blocks\.1'"):
        features(vit, images, ["blocks.0", "blocks.1"])


def test_neighbourhoods_become_channels_until_the_widths_are_alike():
    maps = torch.arange(2 * 3 * 4 * 4.0).reshape(2, 3, 4, 4)
    wide = widened(maps, torch.zeros(2, 12, 2, 2))
    assert wide.shape == (2, 12, 2, 2)
    assert wide[1, 4:8, 1, 0].tolist() == maps[1, 1, 2:4, 0:2].flatten().tolist()
    assert torch.equal(widened(maps, torch.zeros(2, 11, 2, 2)), maps)  # not wider than `like`
