"""Localisation: tokens that copy their patch must find it, tokens that know nothing must not."""

from __future__ import annotations

import matplotlib
import numpy as np
import pytest
import torch
from timm.models.vision_transformer import VisionTransformer
from torch import nn

from helpers import localization
from helpers.metrics.localize import Localization
from helpers.metrics.similarity import minibatch_cka

matplotlib.use("agg")


def test_every_map_equals_cka_of_one_token_and_one_patch(vit, images):
    vit.pretrained_cfg = {"mean": (0.5, 0.4, 0.3), "std": (0.2, 0.5, 0.9)}
    result = localization(vit, images, "blocks.1", batch_size=8)
    kept = {}
    vit.blocks[1].register_forward_hook(lambda m, i, out: kept.__setitem__("y", out.detach().double()))
    with torch.no_grad():
        vit(images)
    tokens = kept["y"][:, 1:]
    raw = images.double() * torch.tensor([0.2, 0.5, 0.9], dtype=torch.float64)[:, None, None]
    assert result.maps.shape == (16, 4, 4) and result.grid == (4, 4) and result.n_images == 24
    for token, row, column in ((0, 0, 0), (5, 1, 1), (7, 3, 2), (15, 0, 3)):
        patch = raw[:, :, 8 * row : 8 * row + 8, 8 * column : 8 * column + 8]
        expected = minibatch_cka(tokens[:, token], patch, batch_size=8)
        assert result.maps[token, row, column] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("layer", ["0", "patch_embed"])
def test_a_patch_embedding_finds_its_patch(layer):
    torch.manual_seed(0)
    copy = (nn.Sequential(nn.Conv2d(3, 192, 8, stride=8)) if layer == "0" else
            VisionTransformer(img_size=32, patch_size=8, embed_dim=192, depth=1, num_heads=3))
    noise = torch.randn(200, 3, 32, 32)  # patches that have nothing to do with each other
    result = localization(copy, noise, layer)
    assert result.hit_rate == 1 and result.contrast > 0.5 and abs(result.edge) < 0.05 and result.chance == 1 / 16


def test_a_pooled_map_points_nowhere():
    torch.manual_seed(0)

    class Everywhere(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.out = nn.Conv2d(3, 64, 8, stride=8), nn.Identity()

        def forward(self, x):
            return self.out(self.conv(x).mean((2, 3), keepdim=True).expand(-1, -1, 4, 4))

    result = localization(Everywhere(), torch.randn(100, 3, 32, 32), "out")
    assert result.hits.sum() <= 1 and abs(result.contrast) < 0.02


def test_convolutional_layers_and_pooling_to_a_coarser_grid(resnet, images):
    assert localization(resnet, images, "layer1.0").maps.shape == (64, 8, 8)
    coarse = localization(resnet, images, "layer1.0", grid=(4, 4))
    assert coarse.maps.shape == (16, 4, 4)
    kept = {}
    resnet.layer1[0].register_forward_hook(lambda m, i, out: kept.__setitem__("y", out.detach().double()))
    with torch.no_grad():
        resnet(images)
    pooled = nn.functional.avg_pool2d(kept["y"], 2)
    expected = minibatch_cka(pooled[:, :, 1, 2], images[:, :, 24:, :8].double())
    assert coarse.maps[6, 3, 0] == pytest.approx(expected, abs=1e-6)


def test_several_layers_in_one_pass_are_those_measured_one_by_one(vit, resnet, images):
    together = localization(vit, images, ["blocks.2", "blocks.0"], batch_size=8)
    assert list(together) == ["blocks.0", "blocks.2"]
    for name, result in together.items():
        assert result.layer == name and result.n_images == 24
        assert np.array_equal(result.maps, localization(vit, images, name, batch_size=8).maps)
    pooled = localization(resnet, images, ["layer1.0", "layer2.0"], grid=(4, 4))
    assert {result.grid for result in pooled.values()} == {(4, 4)}
    unpooled = localization(resnet, images, ["layer1.0", "layer2.0"])
    assert {name: result.grid for name, result in unpooled.items()} == {"layer1.0": (8, 8), "layer2.0": (4, 4)}


def test_an_in_place_operation_after_the_layer_does_not_matter(resnet, images):
    before = localization(resnet, images, "layer1.0.bn1").maps
    resnet.layer1[0].act1 = nn.ReLU(inplace=False)
    assert np.allclose(localization(resnet, images, "layer1.0.bn1").maps, before)


def test_scores_of_maps_that_are_known():
    identity = Localization(np.eye(9).reshape(9, 3, 3), "layer", 10)
    assert identity.hit_rate == 1 and identity.contrast == 1 and identity.edge == 0 and identity.hits.all()
    rim = identity.border.astype(float)
    framed = Localization(np.outer(rim, rim).reshape(9, 3, 3), "layer", 10)
    assert framed.edge == 1 and framed.border.sum() == 8
    assert framed.others[4] == 0 and framed.others[0] == 7 / 8
    rim = Localization(np.zeros((16, 4, 4)), "layer", 10).border
    outwards = Localization(np.outer(~rim, rim).astype(float).reshape(16, 4, 4), "layer", 10)
    assert outwards.inner_edge == 1 and outwards.edge == 0
    flat = Localization(np.full((4, 2, 2), 0.5), "layer", 10)
    assert flat.contrast == 0 and np.isnan(flat.edge) and flat.hit_rate == 0.25  # no interior: all tokens count


@pytest.mark.filterwarnings("error")
def test_what_has_nothing_to_be_compared_with_is_nan_without_a_word():
    alone = Localization(np.ones((1, 1, 1)), "layer", 10)
    assert np.isnan([*alone.others, alone.contrast, alone.edge, alone.inner_edge]).all() and "nan" in repr(alone)
    maps = np.full((9, 3, 3), 0.5)
    maps[4] = np.nan  # a token that never changes; the only one inside
    silent = Localization(maps, "layer", 10)
    assert np.isnan(silent.others).tolist() == [token == 4 for token in range(9)]
    assert silent.contrast == 0 and silent.edge == 0 and np.isnan(silent.inner_edge)


def test_steps_lead_from_the_own_patch_to_the_best_one():
    maps = np.zeros((12, 3, 4))
    maps[5, 2, 3] = maps[6, 1, 2] = maps[11, 0, 0] = 1  # (1, 1) → (2, 3), (1, 2) → itself, (2, 3) → (0, 0)
    found = Localization(maps, "layer", 10)
    assert found.steps[[5, 6, 11]].tolist() == [[1, 2], [0, 0], [-2, -3]]
    assert found.hits[6] and not found.hits[5] and found.hit_rate == 0.5
    assert found.hits[0]  # all patches alike: the first is taken
    maps[0] = np.nan
    assert not Localization(maps, "layer", 10).hits[0]


def test_constant_patches_are_nan_and_named(vit, images):
    blank = images.clone()
    blank[:, :, :8, :8] = 0
    with pytest.warns(UserWarning, match=r"undefined.*patch \(0, 0\)"):
        result = localization(vit, blank, "blocks.0")
    assert np.isnan(result.maps[:, 0, 0]).all() and np.isfinite(result.hit_rate) and np.isfinite(result.contrast)


def test_bad_input(vit, resnet, images):
    with pytest.raises(ValueError, match="no positions"):
        localization(vit, images, "head")
    with pytest.raises(ValueError, match="cannot be cut into 3×3"):
        localization(resnet, images, "layer1.0", grid=(3, 3))
    with pytest.raises(ValueError, match="at least 4"):
        localization(vit, images[:3], "blocks.0")
    with pytest.raises(ValueError, match="nearest names"):
        localization(vit, images, "block.0")
    with pytest.raises(ValueError, match="no images"):
        localization(vit, images[:0], "blocks.0")


def test_results(vit, mixer, images):
    result = localization(vit, images, "blocks.2", batch_size=12)
    assert repr(result).startswith("Localization(blocks.2, 16 tokens, 24 images")
    assert len(result.plot()) == 4 and list(result.to_frame().columns)[:3] == ["token", "row", "column"]
    assert localization(mixer, images, "blocks.1").maps.shape == (16, 4, 4)


def test_scales_for_other_channels_than_the_images_have_are_refused(images):
    model = VisionTransformer(img_size=32, patch_size=8, in_chans=4, embed_dim=24, depth=1, num_heads=3).eval()
    model.pretrained_cfg = {"mean": (0.5, 0.5, 0.5), "std": (0.5, 0.5, 0.5)}
    x = torch.cat([images, images[:, :1]], dim=1)
    with pytest.raises(ValueError, match=r"images have 4 channels, but the model declares the scale of 3: give"):
        localization(model, x, "blocks.0")
    model.pretrained_cfg = {}
    assert localization(model, x, "blocks.0").grid == (4, 4)
