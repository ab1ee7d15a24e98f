"""CKA against formulas written out by hand, and against everything that should not change it."""

from __future__ import annotations

import gc
import weakref

import matplotlib
import numpy as np
import pytest
import torch
from torch import nn

from cka_reference import brute_force, outputs_of
from helpers import CKA, cka, load_images, load_model, taps

matplotlib.use("agg")


# ---- real networks against brute force --------------------------------------------------------------------------


class Moved(nn.Module):
    """Hands out features that were computed before, each moved by a constant."""

    def __init__(self, features: list[torch.Tensor], offset: float) -> None:
        super().__init__()
        self.features, self.offset = features, offset
        self.layers = nn.ModuleList(nn.Identity() for _ in features)

    def forward(self, rows):
        for layer, features in zip(self.layers, self.features, strict=True):
            layer(features[rows[:, 0]].float() + self.offset)


def test_three_matrices_equal_brute_force_with_batchnorm_before_in_place_relu(vit, resnet, images):
    rows = ["blocks.0.norm1", "blocks.0", "blocks.1", "blocks.2", "norm"]
    columns = ["bn1", "layer1.0.conv1", "layer1.0.bn1", "layer1.0.act1", "layer1.0.bn2", "layer1.0", "layer4.0"]
    result = cka(vit, images, resnet, layers=rows, other_layers=columns, batch_size=8)
    a, b = outputs_of(vit, rows, images), outputs_of(resnet, columns, images)
    assert result.layers == rows and result.other_layers == columns and result.n_images == 24
    for measured, expected in ((result.within, brute_force(a, a, 8)), (result.other, brute_force(b, b, 8)),
                               (result.cross, brute_force(a, b, 8))):
        assert measured.dtype == np.float64
        assert np.abs(measured - expected).max() < 1e-6


@pytest.mark.parametrize("offset", [0.0, 30.0])
def test_a_constant_offset_on_all_features_does_not_matter(vit, resnet, images, offset):
    kept = [*outputs_of(vit, ["blocks.0.norm1", "blocks.0", "blocks.2"], images),
            *outputs_of(resnet, ["bn1", "layer1.0.bn1", "layer2.0", "layer4.0"], images)]
    measured = cka(Moved(kept, offset), torch.arange(24)[:, None], layers=[f"layers.{i}" for i in range(7)],
                   batch_size=8).within
    assert np.abs(measured - brute_force(kept, kept, 8)).max() < 1e-6


def test_the_shipped_networks_equal_brute_force():
    vit, resnet, x = load_model("vit_cls"), load_model("resnet"), load_images("cifar10", 32).tensor
    result = cka(vit, x, resnet, batch_size=16)
    a, b = outputs_of(vit, taps(vit), x), outputs_of(resnet, taps(resnet), x)
    for measured, expected in ((result.within, brute_force(a, a, 16)), (result.other, brute_force(b, b, 16)),
                               (result.cross, brute_force(a, b, 16))):
        assert np.abs(measured - expected).max() < 1e-6


def test_all_taps_of_every_family_run_and_are_symmetric(vit, resnet, bit, mixer, images):
    for model in (vit, resnet, bit, mixer):
        result = cka(model, images, layers=taps(model, "all"), batch_size=12)
        assert result.layers == taps(model, "all")
        assert np.allclose(np.diag(result.within), 1) and np.allclose(result.within, result.within.T)


def test_values_are_not_clipped():
    torch.manual_seed(0)
    model = nn.ModuleList([nn.Linear(8, 40), nn.Linear(8, 40)])
    both = type("Both", (nn.Module,), {"forward": lambda self, x: (self.a(x[:, :8]), self.b(x[:, 8:]))})()
    both.a, both.b = model
    values = [cka(both, torch.randn(8, 16), layers=["a", "b"]).within[0, 1] for _ in range(20)]
    assert min(values) < 0


# ---- where images come from -------------------------------------------------------------------------------------


def test_a_short_last_batch_is_merged_and_it_says_so(vit, images):
    with pytest.warns(UserWarning, match="a batch had 2 images.*merged.*10 images"):
        merged = cka(vit, images[:18], batch_size=8)
    assert merged.n_images == 18 and merged.batch_size == 10
    assert np.allclose(merged.within, cka(vit, [images[:8], images[8:18]]).within)
    with pytest.warns(UserWarning, match="^a batch had 2 images"):  # it is not the last one
        assert cka(vit, [images[:6], images[6:8], images[8:16]]).batch_size == 8


# ---- layers that cannot be measured -----------------------------------------------------------------------------


def test_a_constant_layer_is_nan_and_named(vit, images):
    with torch.no_grad():
        vit.blocks[1].mlp.fc2.weight.zero_()  # its output is its bias, the same for all images
    with pytest.warns(UserWarning, match=r"undefined.*blocks\.1\.mlp_out"):
        result = cka(vit, images, layers=["blocks.0", "blocks.1.mlp_out", "blocks.1"])
    assert np.isnan(result.within[1]).all() and np.isnan(result.within[:, 1]).all()
    assert np.isfinite(result.within[np.ix_([0, 2], [0, 2])]).all()


@pytest.mark.parametrize("outlier", [0.0, 0.001, 0.1])  # HSIC₁ of one example that differs from all others is zero
@pytest.mark.parametrize("noise", [0.0, 3e-7])
def test_what_differs_by_rounding_only_is_constant(noise, outlier):
    torch.manual_seed(0)
    layer = nn.Sequential(nn.Identity(), nn.Linear(6, 6))
    x = 5 + noise * torch.randn(8, 6)
    x[0] += outlier * torch.randn(6)
    with pytest.warns(UserWarning, match="undefined.*the same for all images, or for all but one: 0, 1"):
        assert np.isnan(cka(layer, x, layers=["0", "1"]).within).all()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_a_layer_far_from_zero_is_not_constant(dtype):
    torch.manual_seed(0)
    x = (20 + 0.6 * torch.randn(16, 64)).to(dtype)
    exact = x.double()
    identity = nn.Sequential(nn.Identity(), nn.Linear(64, 2, dtype=dtype))
    assert cka(identity, x, layers=["0"]).within == pytest.approx(brute_force([exact], [exact], 16))


def test_a_layer_without_one_row_per_image_is_named(images):
    class Windows(nn.Module):
        def __init__(self, whole: int):
            super().__init__()
            self.inner, self.whole = nn.Identity(), whole  # so few images are not cut

        def forward(self, x):
            return self.inner(x.reshape(len(x) * (1 if len(x) <= self.whole else 4), -1))

    with pytest.raises(ValueError, match="'inner' gives 4 rows for one image"):
        cka(Windows(whole=0), images, layers=["inner"])
    with pytest.raises(ValueError, match="'inner' gives 96 rows for 24 images"):
        cka(Windows(whole=1), images, layers=["inner"])


# ---- memory and precision ---------------------------------------------------------------------------------------


def test_features_are_freed_at_once(resnet, images):
    early: list[weakref.ref] = []
    freed: list[bool] = []
    resnet.layer1.register_forward_hook(lambda m, i, out: early.append(weakref.ref(out)))

    def look_back(*_) -> None:
        gc.collect()
        freed.append(early[-1]() is None)

    resnet.layer4.register_forward_hook(look_back)
    cka(resnet, images, layers=["layer1.0", "layer4.0"])
    assert freed and all(freed)


def test_works_inside_inference_mode_and_autocast(vit, resnet, images):
    expected = cka(vit, images, resnet).cross
    with torch.inference_mode():
        assert np.allclose(cka(vit, images, resnet).cross, expected, atol=1e-7)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        names = ["blocks.0", "blocks.1"]
        kept = outputs_of(vit, names, images)
        assert np.abs(cka(vit, images, layers=names).within - brute_force(kept, kept, 24)).max() < 1e-6


def test_a_half_precision_model_is_measured_in_its_own_precision(vit, images):
    result = cka(vit.bfloat16(), images)
    assert np.isfinite(result.within).all() and vit.blocks[0].norm1.weight.dtype == torch.bfloat16


# ---- other devices and inputs -----------------------------------------------------------------------------------


class HeadFirst(nn.Module):
    """Registers the layer that reads the image last."""

    def __init__(self) -> None:
        super().__init__()
        self.head, self.stem = nn.Conv2d(8, 2, 1), nn.Conv2d(3, 8, 3)

    def forward(self, x):
        return self.head(self.stem(x))


def test_the_convolution_registered_first_need_not_read_the_image(images):
    assert taps(HeadFirst(), images=images) == cka(HeadFirst(), images).layers == ["stem", "head"]
    with pytest.raises(ValueError, match=r"HeadFirst cannot read images of shape \(24, 1, 32, 32\)") as caught:
        cka(HeadFirst(), images[:, :1])
    assert isinstance(caught.value.__cause__, RuntimeError)
    with pytest.raises(ValueError, match=r"HeadFirst cannot read.*taps\(model, images=x\)"):
        taps(HeadFirst())


def test_the_declared_channels_count(images):
    model = nn.Sequential(nn.PixelUnshuffle(4), nn.Conv2d(48, 4, 3))  # as in timm's tresnet
    model.pretrained_cfg = {"input_size": (3, 32, 32)}
    assert taps(model) == cka(model, images).layers == ["0", "1"]
    with pytest.raises(ValueError, match="1 channels, the model wants 3"):
        cka(model, images[:, :1])
    model.in_chans = 1  # an option of timm's that its configuration does not follow
    model[1] = nn.Conv2d(16, 4, 3)
    assert taps(model) == cka(model, images[:, :1]).layers


@pytest.mark.parametrize(("layers", "kind"), [([0, 1], "int"), (2, "int"), ([nn.Identity()], "Identity")])
def test_layers_that_are_no_names(vit, images, layers, kind):
    with pytest.raises(TypeError, match=rf"by name, not as {kind}.*taps\(model\)"):
        cka(vit, images, layers=layers)


def test_nearest_names_are_given_once(vit, images):
    with pytest.raises(ValueError, match="nearest names") as caught:
        cka(vit, images, layers=["blocks.7"])
    near = str(caught.value).split(": ")[-1].split(", ")
    assert len(near) == len(set(near)) == 3


def test_models_that_read_numbers_instead_of_images():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(10, 6), nn.Flatten(), nn.Linear(24, 3))
    result = cka(model, torch.randint(10, (12, 4)), layers=["0", "2"])
    assert np.isfinite(result.within).all()
    several = nn.Sequential(nn.Linear(5, 6), nn.ReLU(), nn.Linear(6, 3))
    assert np.isfinite(cka(several, torch.randn(12, 5)).within).all()


# ---- results ----------------------------------------------------------------------------------------------------


def test_results_are_small_frozen_and_drawable(vit, resnet, images):
    result = cka(vit, images, resnet)
    assert repr(result) == "CKA(3 × 4 layers, 24 images in batches of 24)"
    assert list(result.to_frame().columns) == ["layer1.0", "layer2.0", "layer3.0", "layer4.0"]
    assert len(result.plot()) == 3 and cka(vit, images).plot().get_images() is not None
    with pytest.raises(AttributeError):
        result.within = None


def test_plots_leave_the_global_style_alone(vit, images):
    matplotlib.rcParams["font.family"] = ["DejaVu Serif"]
    before = dict(matplotlib.rcParams)
    cka(vit, images).plot()
    assert dict(matplotlib.rcParams) == before


def test_only_keeps_some_layers_of_both_models(vit, resnet, images):
    whole = cka(vit, images, resnet, progress=False)
    some = whole.only(lambda name: name[-1] in "02")
    assert some.layers == ["blocks.0", "blocks.2"] and len(some.other_layers) == 4
    np.testing.assert_array_equal(some.cross, whole.cross[[0, 2]])
    np.testing.assert_array_equal(some.other, whole.other)
    assert cka(vit, images, progress=False).only(lambda name: name == "blocks.1").within.shape == (1, 1)
    with pytest.raises(ValueError, match=r"no layer is left of blocks\.0, blocks\.1"):
        whole.only(lambda name: name == "head")


def test_mean_of_parts(vit, resnet, images):
    parts = [cka(vit, part, resnet, progress=False) for part in images.split(12)]
    both = CKA.mean(parts)
    assert both.n_images == 24
    np.testing.assert_allclose(both.cross, (parts[0].cross + parts[1].cross) / 2)
    assert CKA.mean([cka(vit, images, progress=False)]).cross is None
    with pytest.raises(ValueError, match="same layers"):
        CKA.mean([both, both.only(lambda name: name != "blocks.1")])
