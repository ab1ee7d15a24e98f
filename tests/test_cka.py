"""CKA against formulas written out by hand, and against everything that should not change it."""

from __future__ import annotations

import gc
import itertools
import warnings
import weakref
from functools import partial

import matplotlib
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from helpers import CKA, cka, load_images, load_model, taps
from helpers.metrics.similarity import gram, hsic0, hsic1, linear_cka, minibatch_cka

matplotlib.use("agg")


# ---- references, written as the papers write them ---------------------------------------------------------------


def hsic1_by_four_indices(k: torch.Tensor, l: torch.Tensor) -> float:
    """The U-statistic itself: the mean of its kernel over all ordered quadruples of different examples."""
    total, quadruples = 0.0, 0
    for i, j, q, r in itertools.permutations(range(len(k)), 4):
        total += float(k[i, j] * (l[i, j] + l[q, r] - 2 * l[i, q]))
        quadruples += 1
    return total / quadruples


def hsic1_by_formula(k: torch.Tensor, l: torch.Tensor) -> torch.Tensor:
    """Song et al. 2012, equation 5."""
    n, one = len(k), torch.ones(len(k), dtype=torch.float64)
    k, l = k - torch.diag(k.diag()), l - torch.diag(l.diag())
    trace, means, cross = torch.trace(k @ l), (one @ k @ one) * (one @ l @ one), one @ k @ l @ one
    return (trace + means / ((n - 1) * (n - 2)) - 2 / (n - 2) * cross) / (n * (n - 3))


def features(model: nn.Module, names: list[str], x: torch.Tensor) -> list[torch.Tensor]:
    """Clones of module outputs [n, p] in float64, taken by plain hooks."""
    kept: dict[str, torch.Tensor] = {}
    keep = lambda m, i, out, name: kept.__setitem__(name, out.detach().clone().double().flatten(1))
    hooks = [model.get_submodule(name).register_forward_hook(partial(keep, name=name)) for name in names]
    with torch.no_grad():
        model(x)
    for hook in hooks:
        hook.remove()
    return [kept[name] for name in names]


def brute_force(rows: list[torch.Tensor], columns: list[torch.Tensor], batch: int) -> np.ndarray:
    """Minibatch CKA by the written-out formula in float64, one pair at a time."""

    def total(a: torch.Tensor, b: torch.Tensor) -> float:
        pairs = zip(a.split(batch), b.split(batch), strict=True)
        return sum(float(hsic1_by_formula(x @ x.T, y @ y.T)) for x, y in pairs)

    return np.array([[total(a, b) / (total(a, a) * total(b, b)) ** 0.5 for b in columns] for a in rows])


# ---- closed forms -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [4, 5, 7])
def test_hsic1_is_the_u_statistic(n):
    torch.manual_seed(n)
    k, l = (gram(torch.randn(n, p, dtype=torch.float64)) for p in (3, 6))
    assert float(hsic1(k, l)) == pytest.approx(hsic1_by_four_indices(k, l), abs=1e-12)
    assert float(hsic1(k, l)) == pytest.approx(float(hsic1_by_formula(k, l)), abs=1e-12)


def test_hsic0_is_the_trace_formula_and_biased_cka_the_frobenius_one():
    torch.manual_seed(0)
    x, y = torch.randn(9, 4, dtype=torch.float64), torch.randn(9, 5, dtype=torch.float64)
    h = torch.eye(9, dtype=torch.float64) - 1 / 9
    expected = float(torch.trace(gram(x) @ h @ gram(y) @ h) / 64)
    assert float(hsic0(gram(x), gram(y))) == pytest.approx(expected, rel=1e-12)
    a, b = x - x.mean(0), y - y.mean(0)
    frobenius = (b.T @ a).norm() ** 2 / ((a.T @ a).norm() * (b.T @ b).norm())
    assert linear_cka(x, y, unbiased=False) == pytest.approx(float(frobenius), rel=1e-12)


@pytest.mark.parametrize(("n", "p", "biased"), [(128, 64, 0.32), (128, 1024, 0.89)])
def test_independent_features_look_alike_only_to_the_biased_estimate(n, p, biased):
    torch.manual_seed(0)
    x, y = torch.randn(n, p), torch.randn(n, p)
    assert linear_cka(x, y, unbiased=False) == pytest.approx(biased, abs=0.02)
    assert abs(linear_cka(x, y)) < 0.05


def test_gram_is_exact_for_every_layout_and_precision():
    torch.manual_seed(0)
    x = torch.randn(6, 5, 4, 3) + 30
    wide = x.double().flatten(1)
    expected = (wide - wide.mean(0)) @ (wide - wide.mean(0)).T
    for layout in (x, x.to(memory_format=torch.channels_last), x.transpose(1, 2)):
        assert torch.allclose(gram(layout, centred=True), expected, atol=1e-4)
    assert torch.allclose(gram(x.double()), wide @ wide.T, rtol=1e-14)
    assert gram(x.bfloat16(), centred=True).dtype == torch.float64


SMALL = st.integers(0, 2**32 - 1)


@settings(max_examples=25, deadline=None)
@given(seed=SMALL, scale=st.floats(0.01, 100), shift=st.floats(-50, 50))
def test_cka_does_not_see_rotation_permutation_scale_or_translation(seed, scale, shift):
    g = torch.Generator().manual_seed(seed)
    x, y = (torch.randn(12, p, generator=g, dtype=torch.float64) for p in (5, 7))
    rotation, _ = torch.linalg.qr(torch.randn(5, 5, generator=g, dtype=torch.float64))
    before = linear_cka(x, y)
    assert linear_cka(x @ rotation, y) == pytest.approx(before, abs=1e-8)
    assert linear_cka(x[:, torch.randperm(5, generator=g)], y) == pytest.approx(before, abs=1e-10)
    assert linear_cka(scale * x, y) == pytest.approx(before, abs=1e-8)
    assert linear_cka(x + shift, y) == pytest.approx(before, abs=1e-8)
    assert linear_cka(y, x) == pytest.approx(before, abs=1e-10)
    order = torch.randperm(12, generator=g)
    assert linear_cka(x[order], y[order]) == pytest.approx(before, abs=1e-10)


def test_cka_does_see_a_general_invertible_map():
    torch.manual_seed(0)
    x = torch.randn(50, 5, dtype=torch.float64)
    stretched = x @ torch.diag(torch.tensor([1, 3, 9, 27, 81], dtype=torch.float64))
    assert linear_cka(x, stretched) < 0.8


@pytest.mark.parametrize("bad", [(torch.zeros(3, 3), torch.zeros(3, 3)), (torch.zeros(5, 5), torch.zeros(6, 6))])
def test_hsic1_refuses_too_few_or_unequal_examples(bad):
    with pytest.raises(ValueError, match=r"at least 4|one size"):
        hsic1(*bad)
    with pytest.raises(ValueError, match="same ones"):
        minibatch_cka(torch.zeros(5, 2), torch.zeros(6, 2))


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
    a, b = features(vit, rows, images), features(resnet, columns, images)
    assert result.layers == rows and result.other_layers == columns and result.n_images == 24
    for measured, expected in ((result.within, brute_force(a, a, 8)), (result.other, brute_force(b, b, 8)),
                               (result.cross, brute_force(a, b, 8))):
        assert measured.dtype == np.float64
        assert np.abs(measured - expected).max() < 1e-6


@pytest.mark.parametrize("offset", [0.0, 30.0])
def test_a_constant_offset_on_all_features_does_not_matter(vit, resnet, images, offset):
    kept = [*features(vit, ["blocks.0.norm1", "blocks.0", "blocks.2"], images),
            *features(resnet, ["bn1", "layer1.0.bn1", "layer2.0", "layer4.0"], images)]
    measured = cka(Moved(kept, offset), torch.arange(24)[:, None], layers=[f"layers.{i}" for i in range(7)],
                   batch_size=8).within
    assert np.abs(measured - brute_force(kept, kept, 8)).max() < 1e-6


def test_the_shipped_networks_equal_brute_force():
    vit, resnet, x = load_model("vit_cls"), load_model("resnet"), load_images("cifar10", 32).tensor
    result = cka(vit, x, resnet, batch_size=16)
    a, b = features(vit, taps(vit), x), features(resnet, taps(resnet), x)
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


def test_passes_cut_the_images_anew_and_agree_with_the_mean_over_partitions(vit, images):
    one, three, again = (cka(vit, images, batch_size=8, passes=k).within for k in (1, 3, 3))
    assert not np.allclose(one, three) and np.array_equal(three, again)
    hidden = features(vit, ["blocks.0", "blocks.1", "blocks.2"], images)
    orders = [torch.arange(24), *(torch.randperm(24, generator=torch.Generator().manual_seed(k)) for k in (1, 2))]
    stacked = [torch.cat([layer[order] for order in orders]) for layer in hidden]
    assert np.abs(three - brute_force(stacked, stacked, 8)).max() < 1e-6


# ---- where images come from -------------------------------------------------------------------------------------


def test_lists_and_generators_of_batches(vit, images):
    expected = cka(vit, images, batch_size=8).within
    for source in ([images[:8], images[8:16], images[16:]], (batch for batch in images.split(8))):
        assert np.allclose(cka(vit, source, batch_size=8).within, expected)


def test_a_short_last_batch_is_merged_and_it_says_so(vit, images):
    with pytest.warns(UserWarning, match="a batch had 2 images.*merged.*10 images"):
        merged = cka(vit, images[:18], batch_size=8)
    assert merged.n_images == 18 and merged.batch_size == 10
    assert np.allclose(merged.within, cka(vit, [images[:8], images[8:18]]).within)
    with pytest.warns(UserWarning, match="^a batch had 2 images"):  # it is not the last one
        assert cka(vit, [images[:6], images[6:8], images[8:16]]).batch_size == 8


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
        def __init__(self):
            super().__init__()
            self.inner = nn.Identity()

        def forward(self, x):
            return self.inner(x.reshape(len(x) * 4, -1))

    with pytest.raises(ValueError, match="'inner' gives 96 rows for 24 images"):
        cka(Windows(), images, layers=["inner"])


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
        kept = features(vit, names, images)
        assert np.abs(cka(vit, images, layers=names).within - brute_force(kept, kept, 24)).max() < 1e-6


def test_reduced_precision_never_touches_a_gram():
    torch.manual_seed(0)
    x = torch.randn(16, 4096)
    exact = x.double() @ x.double().T
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    try:
        assert (gram(x) - exact).abs().max() < 1e-2
        assert torch.get_float32_matmul_precision() == "medium"
        with torch.autocast("cpu", dtype=torch.bfloat16):
            assert (gram(x) - exact).abs().max() < 1e-2 and gram(x).dtype == torch.float64
    finally:
        torch.set_float32_matmul_precision(before)


def test_a_half_precision_model_is_measured_in_its_own_precision(vit, images):
    result = cka(vit.bfloat16(), images)
    assert np.isfinite(result.within).all() and vit.blocks[0].norm1.weight.dtype == torch.bfloat16


# ---- other devices and inputs -----------------------------------------------------------------------------------


def test_the_simulated_device_refuses_to_mix(simulated):
    with pytest.raises(RuntimeError, match="same device"):
        torch.ones(2, 2).to(simulated) @ torch.ones(2, 2)


def test_a_device_that_is_not_there():
    if not torch.cuda.is_available():
        with pytest.raises(ValueError, match="this machine has none"):
            cka(nn.Linear(2, 2), torch.randn(8, 2), device="cuda")


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


def test_torchscript_is_refused_before_anything_is_touched(resnet, images):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch.jit is deprecated
        traced = torch.jit.trace(resnet.eval(), images[:2]).train()
    for call in (lambda: cka(traced, images), lambda: taps(traced, images=images)):
        with pytest.raises(TypeError, match=r"TorchScript.*pass the model"):
            call()
    assert all(m.training for m in traced.modules())


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
