"""Minibatches of one source or two: cut anew on every pass, merged when short, refused when they do not fit."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from cka_reference import brute_force, outputs_of
from helpers import cka


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
