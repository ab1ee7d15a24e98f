"""Minibatches of one source or two: cut anew on every pass, merged when short, refused when they do not fit."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from cka_reference import brute_force, outputs_of
from helpers import (
    attention_distance,
    cka,
    features,
    head_similarity,
    localization,
    norm_ratio,
    receptive_field,
    taps,
)


def test_passes_cut_the_images_anew_and_agree_with_the_mean_over_partitions(vit, images):
    one, three, again = (cka(vit, images, batch_size=8, passes=k).within for k in (1, 3, 3))
    assert not np.allclose(one, three) and np.array_equal(three, again)
    hidden = outputs_of(vit, ["blocks.0", "blocks.1", "blocks.2"], images)
    orders = [torch.arange(24), *(torch.randperm(24, generator=torch.Generator().manual_seed(k)) for k in (1, 2))]
    stacked = [torch.cat([layer[order] for order in orders]) for layer in hidden]
    assert np.abs(three - brute_force(stacked, stacked, 8)).max() < 1e-6


def test_lists_and_generators_of_batches(vit, images):
    expected = cka(vit, images, batch_size=8).within
    for source in ([images[:8], images[8:16], images[16:]], (batch for batch in images.split(8))):
        assert np.allclose(cka(vit, source, batch_size=8).within, expected)


@pytest.mark.parametrize("n", [0, 1, 3])
def test_too_few_images(vit, images, n):
    with pytest.raises(ValueError, match="no images" if n == 0 else "at least 4"):
        cka(vit, images[:n])
    with pytest.raises(ValueError, match="no images" if n == 0 else "at least 4"):
        cka(vit, DataLoader(TensorDataset(images[:n]), batch_size=2) if n else [])


def test_small_batches_are_refused(vit, images):
    with pytest.raises(ValueError, match="batch_size=3 is too small"):
        cka(vit, images, batch_size=3)
    with pytest.raises(ValueError, match="a batch has 2 images"):
        cka(vit, DataLoader(images, batch_size=2))


def test_shuffling_and_repeating_loaders_are_refused_for_several_passes(vit, images):
    torch.manual_seed(0)
    with pytest.raises(ValueError, match="shuffles"):
        cka(vit, DataLoader(images, batch_size=8, shuffle=True), passes=2)
    with pytest.raises(ValueError, match="same minibatches"):
        cka(vit, DataLoader(images, batch_size=8), passes=2)
    with pytest.raises(ValueError, match="only once"):
        cka(vit, iter([images]), passes=2)
    with pytest.raises(ValueError, match="at least 1"):
        cka(vit, images, passes=0)


def test_paths_are_no_images(vit):
    with pytest.raises(TypeError, match="image tensors"):
        cka(vit, ["a.jpg", "b.jpg"])


def test_two_models_with_different_preprocessing_need_two_sets_of_images(vit, resnet, images):
    vit.pretrained_cfg = {"mean": (0.5, 0.5, 0.5), "std": (0.5, 0.5, 0.5)}
    resnet.pretrained_cfg = {"mean": (0.485, 0.456, 0.406), "std": (0.229, 0.224, 0.225)}
    with pytest.raises(ValueError, match=r"different normalisation.*other_images"):
        cka(vit, images, resnet)
    brighter = images + 0.1
    result = cka(vit, images, resnet, other_images=brighter, batch_size=8)
    assert np.allclose(result.other, cka(resnet, brighter, batch_size=8).within)
    with pytest.raises(ValueError, match="same number of images"):
        cka(vit, images, resnet, other_images=images[:16], batch_size=8)
    with pytest.raises(ValueError, match="shuffles"):
        cka(vit, images, resnet, other_images=DataLoader(images, batch_size=8, shuffle=True))
    with pytest.raises(ValueError, match=r"no images"):
        cka(vit, [], resnet, other_images=[])
    with pytest.raises(ValueError, match="second model"):
        cka(vit, images, other_images=images)


def test_two_models_with_different_image_sizes(vit, images):
    from timm.models.vision_transformer import VisionTransformer

    larger = VisionTransformer(img_size=48, patch_size=8, embed_dim=12, depth=1, num_heads=2)
    with pytest.raises(ValueError, match="different image size"):
        cka(vit, images, larger)
    upsampled = nn.functional.interpolate(images, 48)
    assert cka(vit, images, larger, other_images=upsampled).cross.shape == (3, 1)


class ChangesItsInput(nn.Module):
    """Does its first steps in the memory of the images."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, x):
        return self.model(x.mul_(0.5).sub_(0.3))


class WorksOnACopy(ChangesItsInput):
    def forward(self, x):
        return self.model(x * 0.5 - 0.3)


def test_a_model_that_changes_its_input_changes_no_result(resnet, bit, images):
    before = images.clone()
    layer = "model.layer1.0"
    measured = [lambda m: features(m, images, layer).numpy(), lambda m: cka(m, images, bit).cross,
                lambda m: cka(bit, images, m).cross, lambda m: cka(m, images, bit).other,
                lambda m: norm_ratio(m, images).blocks, lambda m: localization(m, images, layer).maps,
                lambda m: receptive_field(m, images[:2], [layer], channels=2).maps]
    for metric in measured:
        found = [metric(kind(resnet)) for kind in (ChangesItsInput, WorksOnACopy)]
        assert np.allclose(*found, atol=1e-6)
    assert torch.equal(images, before)


@pytest.mark.parametrize("metric", [cka, norm_ratio, receptive_field, attention_distance,
                                    lambda *args, **options: features(*args, "blocks.0", **options),
                                    lambda *args, **options: localization(*args, "blocks.0", **options)],
                         ids=["cka", "norm_ratio", "receptive_field", "attention_distance", "features", "localization"])
def test_arguments_that_cannot_be_meant_are_named(vit, images, metric):
    with pytest.raises(TypeError, match=r"batch_size=16\.0 is no whole number"):
        metric(vit, images, batch_size=16.0)
    with pytest.raises(TypeError, match=r"model must be a network \(torch.nn.Module\), not NoneType"):
        metric(None, images)
    with pytest.raises(TypeError, match="the model comes first, then the images"):
        metric(images, vit)
    with pytest.raises(TypeError, match="images is a network"):
        metric(vit, vit)
    with pytest.raises(TypeError, match="is the class VisionTransformer: pass a network"):
        metric(type(vit), images)


def test_other_arguments_that_cannot_be_meant_are_named(vit, images):
    with pytest.raises(TypeError, match="other must be a network"):
        cka(vit, images, images)
    with pytest.raises(TypeError, match="model must be a network"):
        head_similarity(None, images, vit)
    with pytest.raises(TypeError, match="model must be a network"):
        taps(None)
    with pytest.raises(ValueError, match="passes must be a whole number"):
        cka(vit, images, passes=1.5)


def test_lazy_layers_are_refused_until_they_know_their_size(images):
    model = nn.Sequential(nn.LazyConv2d(4, 3), nn.Flatten(), nn.LazyLinear(5))
    for call in (lambda: cka(model, images), lambda: taps(model, images=images)):
        with pytest.raises(ValueError, match=r"lazy, '0\.weight' has no size yet: run it once"):
            call()
    model(images)
    assert cka(model, images).within.shape == (2, 2)
