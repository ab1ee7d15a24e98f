"""What holds for every metric alike: where images come from, bad input, devices, and a model that is only borrowed."""

from __future__ import annotations

import copy
import inspect
import itertools
import warnings
from collections.abc import Callable
from dataclasses import FrozenInstanceError, is_dataclass

import matplotlib
import numpy as np
import pandas as pd
import pytest
import torch
from matplotlib.axes import Axes
from torch import nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset

import helpers
from helpers import (
    attention_distance,
    attention_maps,
    attention_rollout,
    channel_variance,
    cka,
    features,
    head_similarity,
    localization,
    norm_ratio,
    probe,
    receptive_field,
)
from helpers.metrics import receptive
from helpers.runtime import progress

matplotlib.use("agg")

# Each runs on (vit, resnet, images) and gives a result object and its main array.
METRICS: dict[str, Callable] = {
    "cka": lambda vit, resnet, x, **kw: cka(vit, x, **kw),
    "cka of two": lambda vit, resnet, x, **kw: cka(vit, x, resnet, **kw),
    "channel_variance": lambda vit, resnet, x, **kw: channel_variance(vit, x, **kw),
    "attention_distance": lambda vit, resnet, x, **kw: attention_distance(vit, x, **kw),
    "attention_maps": lambda vit, resnet, x, **kw: attention_maps(vit, x, **kw),
    "attention_rollout": lambda vit, resnet, x, **kw: attention_rollout(vit, x, **kw),
    "head_similarity": lambda vit, resnet, x, **kw: head_similarity(vit, x, resnet, **kw),
    "receptive_field": lambda vit, resnet, x, **kw: receptive_field(vit, x, channels=2, **kw),
    "norm_ratio": lambda vit, resnet, x, **kw: norm_ratio(vit, x, **kw),
    "localization": lambda vit, resnet, x, **kw: localization(vit, x, "blocks.2", **kw),
    "features": lambda vit, resnet, x, **kw: features(vit, x, "blocks.2", **kw),
}
VALUES = {"cka": "within", "cka of two": "cross", "channel_variance": "strongest", "attention_distance": "pixels",
          "attention_maps": "values", "attention_rollout": "maps", "head_similarity": "cka", "receptive_field": "maps",
          "norm_ratio": "attn", "localization": "maps"}
every_metric = pytest.mark.parametrize("name", METRICS)


@pytest.fixture
def measure(vit, resnet, images) -> Callable[..., np.ndarray]:
    """measure(name, x=images, **options) → the metric's main array on the small networks."""

    def run(name: str, x=None, **options) -> np.ndarray:
        result = METRICS[name](vit, resnet, images[:8] if x is None else x, **options)
        return result.numpy() if name == "features" else getattr(result, VALUES[name])

    return run


# ---- the contract -----------------------------------------------------------------------------------------------

CONTRACT = {
    "cka": "model, images, other=None, *, layers=None, other_layers=None, batch_size=128, passes=1, device=None, "
           "progress=None",
    "attention_distance": "model, images, *, batch_size=64, device=None",
    "receptive_field": "model, images, layers=None, *, channels=None, before_skip=False",
    "norm_ratio": "model, images",
    "localization": "model, images, layer, grid=None",
    "probe": "train_x, train_y, test_x, test_y, *, ridge='auto', shots=None",
    "taps": "model, which='blocks'",
}


@pytest.mark.parametrize("name", CONTRACT)
def test_promised_arguments_are_there(name):
    namespace: dict = {}
    exec(f"def promised({CONTRACT[name]}): ...", namespace)
    promised, found = (inspect.signature(f).parameters for f in (namespace["promised"], getattr(helpers, name)))
    for key, parameter in promised.items():
        assert (found[key].kind, found[key].default) == (parameter.kind, parameter.default), key
    by_place = [[p.name for p in s.values() if p.kind is p.POSITIONAL_OR_KEYWORD] for s in (promised, found)]
    assert by_place[1][: len(by_place[0])] == by_place[0]


def test_promised_names_are_public():
    promised = {*CONTRACT, "attention_maps", "attention_rollout", "head_similarity", "without_skip", "load_model",
                "load_images"}
    assert promised <= set(helpers.__all__)


@pytest.mark.parametrize("name", [*VALUES, "probe"])
def test_results_are_frozen_and_can_be_printed_tabled_and_drawn(vit, resnet, images, name):
    if name == "probe":
        x, y = torch.randn(20, 3, 4), torch.arange(20) % 2
        result = probe(x, y, x, y)
    else:
        result = METRICS[name](vit, resnet, images[:8])
    assert is_dataclass(result) and repr(result).startswith(type(result).__name__ + "(") and len(repr(result)) < 160
    with pytest.raises(FrozenInstanceError):
        setattr(result, VALUES.get(name, "accuracy"), None)
    assert isinstance(result.to_frame(), pd.DataFrame) and len(result.to_frame())
    assert all(isinstance(ax, Axes) for ax in np.ravel(result.plot()))
    matplotlib.pyplot.close("all")


# ---- where images come from -------------------------------------------------------------------------------------


class Stream(IterableDataset):
    """Items that come one after the other, without a length."""

    def __init__(self, items: list) -> None:
        self.items = items

    def __iter__(self):
        return iter(self.items)


@every_metric
def test_tensor_dataset_and_loader_give_the_same(measure, images, name):
    x, labels = images[:8], torch.arange(8)
    expected = measure(name, x, batch_size=4)
    for source in (TensorDataset(x), TensorDataset(x, labels), DataLoader(x, batch_size=4),
                   DataLoader(TensorDataset(x, labels), batch_size=4), Stream(list(zip(x, labels, strict=True)))):
        assert np.allclose(measure(name, source, batch_size=4), expected, atol=1e-6)


@every_metric
def test_each_batch_goes_through_each_model_once(vit, resnet, images, name):
    calls = {"vit": 0, "resnet": 0}
    for key, model in (("vit", vit), ("resnet", resnet)):
        def hook(module, args, key=key):
            calls[key] += len(args[0]) if len(args[0]) > 1 else 0  # one image alone only shows the order of the layers

        model.register_forward_pre_hook(hook)
    METRICS[name](vit, resnet, images[:8], batch_size=4)
    assert calls == {"vit": 8, "resnet": 8 if name in ("cka of two", "head_similarity") else 0}


# ---- bad input --------------------------------------------------------------------------------------------------


@every_metric
def test_images_the_model_cannot_mean_are_refused(measure, images, name):
    for bad, message in ((images[:0], "no images"), ([], "no images"), (images[..., :16, :16], "16×16 px.*wants 32×32"),
                         (images[:, :1], "1 channels"), (images * 255, "0–255"), (images.mul(50).byte(), "uint8"),
                         (images.clone().fill_(torch.nan), "images contain NaN or Inf")):
        with pytest.raises(ValueError, match=message):
            measure(name, bad)
    with pytest.raises(TypeError, match="tensor, a dataset or a loader"):
        measure(name, 3)


class Ragged(Dataset):
    """Images of two sizes."""

    def __len__(self) -> int:
        return 8

    def __getitem__(self, i: int) -> torch.Tensor:
        return torch.zeros(3, 32, 64 if i == 5 else 32)


@every_metric
def test_images_of_different_sizes_are_refused(measure, images, name):
    larger = nn.functional.interpolate(images[:8], 64)
    for bad, message in (([images[:8], larger], r"shapes, \(3, 32, 32\) and \(3, 64, 64\): make them one size"),
                         ([images[:8], larger[:2]], r"different shapes, \(3, 32, 32\) and \(3, 64, 64\)"),
                         (Ragged(), r"different shapes, \(3, 32, 32\) and \(3, 32, 64\)"),
                         (DataLoader(Ragged(), batch_size=8), r"different shapes.*loader cannot stack")):
        with pytest.raises(ValueError, match=message):
            measure(name, bad)


def test_grids_of_different_sizes_are_never_mixed(images):
    """A ViT that takes any size would give distances on two grids without a word."""
    from timm.models.vision_transformer import VisionTransformer

    model = VisionTransformer(img_size=32, patch_size=8, embed_dim=24, depth=1, num_heads=3, dynamic_img_size=True)
    with pytest.raises(ValueError, match="different shapes"):
        attention_distance(model, [images[:8], nn.functional.interpolate(images[:8], 64)])


@pytest.mark.parametrize(("shape", "make"), [
    (r"\(3, 32, 32\) and dtype torch.float32", lambda x: x[0]),
    (r"\(3, 32, 32\) and dtype torch.float32", list),
    (r"\(3, 32, 32\) and dtype torch.float32", lambda x: [(image, 0) for image in x]),
    (r"\(24,\) and dtype torch.int64", lambda x: [x, torch.arange(24)]),
    (r"\(24, 3, 32, 32\) and dtype torch.int64", lambda x: x.long()),
], ids=["one image", "list of images", "list of pairs", "images and labels", "integers"])
@every_metric
def test_what_is_no_batch_of_images_is_refused_with_its_shape(measure, images, name, shape, make):
    with pytest.raises(ValueError, match=rf"images have shape {shape}: expected float.*x\[None\].*torch\.stack"):
        measure(name, make(images))


@every_metric
def test_images_that_were_not_normalised_are_pointed_out(vit, measure, images, name):
    vit.pretrained_cfg = {"mean": (0.5, 0.5, 0.5), "std": (0.5, 0.5, 0.5)}
    with pytest.warns(UserWarning, match=r"\[0, 1\].*normalised") as caught:
        measure(name, images[:8].sigmoid())
    assert all(warning.filename == __file__ for warning in caught)  # the reader's line, not one of ours


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
@every_metric
def test_nan_and_inf_are_refused_and_their_layer_is_named(vit, resnet, measure, name, value):
    with torch.no_grad():
        vit.blocks[0].norm1.bias[0] = value
    place = {"attention_distance": "layer 0", "attention_maps": "layer 0", "attention_rollout": "layer 0",
             "head_similarity": "head 0 of block 0", "localization": "blocks.2", "features": "blocks.2",
             "norm_ratio": "blocks.0.attn_out"}.get(name, "blocks.0")
    with pytest.raises(ValueError, match=f"NaN or Inf in .*{place}"):
        measure(name)


@pytest.mark.parametrize("name", ["cka of two", "head_similarity"])
def test_two_models_must_want_the_same_preprocessing(vit, resnet, measure, images, name):
    vit.pretrained_cfg = {"mean": (0.5, 0.5, 0.5), "std": (0.5, 0.5, 0.5)}
    resnet.pretrained_cfg = {"mean": (0.485, 0.456, 0.406), "std": (0.229, 0.224, 0.225)}
    with pytest.raises(ValueError, match=r"different normalisation.*other_images"):
        measure(name)
    assert np.isfinite(measure(name, other_images=images[:8])).all()
    with pytest.raises(ValueError, match="shuffles"):
        measure(name, other_images=DataLoader(images[:8], batch_size=8, shuffle=True,
                                              generator=torch.Generator().manual_seed(0)))


@pytest.mark.parametrize("name", ["cka", "cka of two", "head_similarity", "localization"])
def test_a_short_last_batch_is_merged_and_it_says_so(measure, images, name):
    with pytest.warns(UserWarning, match=r"a batch had 2 images.*merged.*6 images") as caught:
        merged = measure(name, images[:10], batch_size=4)
    assert caught[0].filename == __file__
    assert np.allclose(merged, measure(name, [images[:4], images[4:10]]))
    with pytest.raises(ValueError, match="batch_size=3 is too small"):
        measure(name, batch_size=3)


# ---- a model is only borrowed -----------------------------------------------------------------------------------


class Trips(nn.Module):
    """Lets the single image through that shows the order of the layers, and a few batches, then raises."""

    def __init__(self, error: BaseException, after: int) -> None:
        super().__init__()
        self.error, self.left = error, after

    def forward(self, x):
        self.left -= len(x) > 1
        if self.left < 0:
            raise self.error
        return x


def state(model: nn.Module) -> list:
    hooks = [(len(m._forward_hooks), len(m._forward_pre_hooks), m.training) for m in model.modules()]
    tensors = [*model.named_parameters(), *model.named_buffers()]
    gradient = lambda t: None if t.grad is None else float(t.grad.sum())
    return hooks + [(name, id(t), t.device, t.requires_grad, t.data_ptr(), t._version, gradient(t))
                    for name, t in tensors]


def surroundings() -> tuple:
    return (torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.get_float32_matmul_precision(),
            torch.overrides._get_current_function_mode())


@pytest.mark.parametrize("after", [0, 1])  # in the first batch, and in a later one
@pytest.mark.parametrize("error", [None, RuntimeError("boom"), KeyboardInterrupt()])
@every_metric
def test_a_model_comes_back_as_it_was(vit, resnet, measure, name, error, after):
    vit.blocks[2].mlp.drop1 = Trips(error, after) if error else nn.Identity()
    for model in (vit, resnet):
        model.train()
    vit.blocks[1].eval()  # a mixed mode must survive too
    vit.norm.weight.requires_grad_(False)
    vit.head.weight.grad, resnet.fc.weight.grad = torch.ones_like(vit.head.weight), torch.ones_like(resnet.fc.weight)
    before, around = (state(vit), state(resnet)), surroundings()
    if error is None:
        measure(name, batch_size=4)
    else:
        with pytest.raises(type(error)):
            measure(name, batch_size=4)
    assert (state(vit), state(resnet)) == before and surroundings() == around


def test_an_operation_in_place_after_a_tap_changes_nothing(resnet, images):
    """Every norm is followed by a ReLU in place; the result must be that of a network that works on copies."""
    taps_before = ["bn1", "layer1.0.bn1", "layer2.0.bn2"]
    measured = [lambda: cka(resnet, images, layers=taps_before).within,
                lambda: receptive_field(resnet, images[:2], taps_before, channels=2).maps,
                lambda: norm_ratio(resnet, images).blocks,
                lambda: localization(resnet, images, "layer1.0.bn1").maps,
                lambda: features(resnet, images, "layer1.0.bn1").numpy()]
    in_place = [metric() for metric in measured]
    switched = [m for m in resnet.modules() if isinstance(m, nn.ReLU) and m.inplace]
    for relu in switched:
        relu.inplace = False
    assert switched and all(np.allclose(a, metric(), atol=1e-6) for a, metric in zip(in_place, measured, strict=True))
    assert in_place[-1].min() < 0


@every_metric
def test_inside_inference_mode_no_grad_and_autocast(measure, images, name):
    expected = measure(name)
    for context in (torch.inference_mode(), torch.no_grad()):
        with context:
            assert np.allclose(measure(name, images[:8] + 0), expected, atol=1e-6)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert np.isfinite(measure(name)).all()


@every_metric
def test_a_model_made_in_inference_mode(vit, resnet, images, measure, name):
    with torch.inference_mode():
        twins = copy.deepcopy(vit), copy.deepcopy(resnet)
    assert all(p.is_inference() for p in twins[0].parameters())
    found = METRICS[name](*twins, images[:8])
    assert np.allclose(found if name == "features" else getattr(found, VALUES[name]), measure(name), atol=1e-6)
    assert all(p.is_inference() for p in twins[0].parameters())


@every_metric
def test_nothing_is_printed_and_no_warning_is_given(measure, capfd, name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        measure(name)
    assert capfd.readouterr() == ("", "")


class Noted(list):
    """A bar that only notes how it is moved."""

    update = list.append

    def __enter__(self):
        return self

    def __exit__(self, *_) -> None: ...


@every_metric
def test_progress_can_be_switched_off(measure, monkeypatch, name):
    shown = []
    for module in (receptive, progress):
        note = lambda total, show, unit="images": shown.append(show) or Noted()
        monkeypatch.setattr(module, "progress_bar", note)
    for choice in (None, True, False):
        shown.clear()
        measure(name, **({} if choice is None else {"progress": choice}))
        bars = [show for show in shown if show is not False]
        assert bars == ([] if choice is False else [choice])


def test_a_receptive_field_moves_its_bar_with_every_channel(vit, images, monkeypatch):
    bar = Noted()
    monkeypatch.setattr(receptive, "progress_bar", lambda total, show: bar)
    receptive_field(vit, images[:6], channels=5, batch_size=4)
    assert len(bar) == 2 * 3 * 5 and sum(bar) == pytest.approx(6)  # batches × layers × channels


# ---- devices and precision --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("model_there", "images_there"), list(itertools.product([False, True], repeat=2)))
@every_metric
def test_any_placement_gives_the_cpu_result(vit, resnet, measure, images, accelerator, name, model_there, images_there):
    expected = measure(name, device="cpu")
    if model_there:
        for model in (vit, resnet):
            model.requires_grad_(False).to(accelerator)
    source, where = images[:8].to(accelerator) if images_there else images[:8], next(vit.parameters()).device
    for run_on in (accelerator, "cpu"):
        assert np.allclose(measure(name, source, device=run_on), expected, atol=1e-4, rtol=1e-4)
        assert {p.device for model in (vit, resnet) for p in model.parameters()} == {where}
