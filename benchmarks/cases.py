"""What is compared. Networks are untrained and images made up: speed does not depend on them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import timm
import torch
from timm.layers import set_fused_attn
from timm.utils import AttentionExtract
from torch import Tensor, nn

from helpers import attention_distance, cka, probe, receptive_field, taps
from helpers.metrics.probe import RIDGES
from helpers.networks.anatomy import Grid

from . import peers
from .measure import Case


def images(n: int) -> Tensor:
    """Blurred colours with a little noise [n, 3, 224, 224]; plain noise would look the same to every network."""
    g = torch.Generator().manual_seed(0)
    coarse = nn.functional.interpolate(torch.randn(n, 3, 4, 4, generator=g), size=224, mode="bilinear")
    return coarse + 0.3 * torch.randn(n, 3, 224, 224, generator=g)


def network(name: str, **options: Any) -> nn.Module:
    torch.manual_seed(0)
    return timm.create_model(name, pretrained=False, **options).eval().requires_grad_(False)


# ---- CKA --------------------------------------------------------------------------------------------------------


def cka_case(vit: str, resnet: str, n: int = 128) -> Case:
    """Three matrices, one tap per block, one minibatch of n images."""
    models, x = (network(vit), network(resnet, zero_init_last=False)), images(n)
    with_layers = ((models[0], taps(models[0])), (models[1], taps(models[1])))

    def forward() -> None:
        with torch.no_grad():
            for m in models:
                m(x)

    def ours() -> peers.Matrices:
        result = cka(models[0], x, models[1], other_images=x, batch_size=n, device="cpu", progress=False)
        assert result.other is not None and result.cross is not None
        return result.within, result.other, result.cross

    others = peers.methods(with_layers, x)
    exact: list[peers.Matrices] = []

    def error(measured: peers.Matrices) -> float:
        exact[:] = exact or [cka_by_formula(with_layers, x)]
        return max(np.abs(a - b).max() for a, b in zip(measured, exact[0], strict=True))

    return Case(f"CKA, {vit} × {resnet}, {n} images, three matrices ({len(with_layers[0][1])} + "
                f"{len(with_layers[1][1])} layers)", {"forward": forward, "helpers": ours, **others}, error,
                once=peers.slow(others), warm_up=forward)


class Replay(nn.Module):
    """Hands out features that were computed before, so that only the cost of the library remains."""

    def __init__(self, model: nn.Module, layers: list[str], x: Tensor) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Identity() for _ in layers)
        self.weight = nn.Parameter(torch.zeros(1))  # peers ask the first parameter for the device
        kept: list[Tensor] = []
        keep = lambda m, i, out: kept.append(out)
        handles = [model.get_submodule(name).register_forward_hook(keep) for name in layers]
        with torch.no_grad():
            model(x)
        for handle in handles:
            handle.remove()
        self.kept = kept

    def forward(self, x: Tensor) -> Tensor:
        for layer, features in zip(self.layers, self.kept, strict=True):
            layer(features[: len(x)])
        return x


def cost_case(vit: str, resnet: str, n: int = 128) -> Case:
    """The same without the forward passes."""
    x, models = images(n), []
    for name, options in ((vit, {}), (resnet, {"zero_init_last": False})):
        model = network(name, **options)
        models.append(Replay(model, taps(model), x))
    layers = [[f"layers.{i}" for i in range(len(m.layers))] for m in models]
    ours = partial(cka, models[0], x, models[1], layers=layers[0], other_layers=layers[1], batch_size=n, device="cpu",
                   progress=False)
    others = peers.methods(((models[0], layers[0]), (models[1], layers[1])), x)
    return Case(f"CKA without the forward passes, {vit} × {resnet}, {n} images, three matrices",
                {"helpers": ours, **others}, once=peers.slow(others))


def cka_by_formula(models: peers.Models, x: Tensor) -> peers.Matrices:
    """The same three matrices from float64 Grams and Song's formula, pair by pair."""
    grams: list[Tensor] = []
    for model, layers in models:
        keep = lambda m, i, out: grams.append(out.double().flatten(1) @ out.double().flatten(1).T)
        handles = [model.get_submodule(layer).register_forward_hook(keep) for layer in layers]
        with torch.no_grad():
            model(x)
        for handle in handles:
            handle.remove()
    n = len(x)
    grams = [k - torch.diag(k.diag()) for k in grams]

    def hsic(k: Tensor, l: Tensor) -> Tensor:
        return (k * l).sum() + k.sum() * l.sum() / ((n - 1) * (n - 2)) - 2 / (n - 2) * k.sum(0) @ l.sum(0)

    own = torch.stack([hsic(k, k) for k in grams])
    matrix = torch.stack([torch.stack([hsic(k, l) for l in grams]) for k in grams]) / (own[:, None] * own).sqrt()
    first = len(models[0][1])
    return matrix[:first, :first].numpy(), matrix[first:, first:].numpy(), matrix[:first, first:].numpy()


# ---- attention distance -----------------------------------------------------------------------------------------


def attention_case(name: str, n: int = 32) -> Case:
    """Mean attention distance of every head."""
    model, x = network(name), images(n)
    set_fused_attn(False)
    unfused = network(name)
    set_fused_attn(True)
    table = Grid(14, 14, 1, 224, 224).distances().float()

    def forward() -> None:
        with torch.no_grad():
            model(x)

    def from_maps(maps: dict[str, Tensor]) -> np.ndarray:
        patches = [a[:, :, 1:, 1:] for a in maps.values()]
        return np.stack([((a * table.to(a)).sum(-1) / a.sum(-1)).mean((0, 2)).double().numpy() for a in patches])

    def extract() -> np.ndarray:
        with torch.no_grad():
            return from_maps(AttentionExtract(unfused, method="hook")(x))

    exact: list[np.ndarray] = []

    def error(measured: np.ndarray) -> float:
        if not exact:
            with torch.no_grad():
                exact.append(from_maps(AttentionExtract(unfused.double(), method="hook")(x.double())))
            unfused.float()
        return float(np.abs(measured - exact[0]).max())

    ours = lambda: attention_distance(model, x, batch_size=n, device="cpu", progress=False).pixels
    return Case(f"Attention distance in pixels, {name}, {n} images",
                {"forward": forward, "helpers": ours, "timm AttentionExtract": extract}, error, warm_up=forward)


# ---- effective receptive field ----------------------------------------------------------------------------------


def receptive_case(name: str, layer: str, n: int = 4, channels: int = 32) -> Case:
    """Gradients of `channels` channels at the centre position of one layer."""
    model, x = network(name), images(n)

    def loop() -> np.ndarray:
        kept: list[Tensor] = []
        handle = model.get_submodule(layer).register_forward_hook(lambda m, i, out: kept.append(out))
        inputs = x.clone().requires_grad_()
        model(inputs)
        handle.remove()
        y = kept[0]
        centre = y[:, 1 + 7 * 14 + 7] if y.dim() == 3 else y[:, :, y.shape[2] // 2, y.shape[3] // 2]
        picks = torch.randperm(centre.shape[1], generator=torch.Generator().manual_seed(0))[:channels]
        maps = [torch.autograd.grad(centre[:, c].sum(), inputs, retain_graph=True)[0].abs().mean((0, 1)) for c in picks]
        return torch.stack(maps).mean(0).double().numpy()

    def ours() -> np.ndarray:
        return receptive_field(model, x, [layer], channels=channels, batch_size=n, device="cpu", progress=False).maps[0]

    exact: list[np.ndarray] = []

    def error(measured: np.ndarray) -> float:
        exact[:] = exact or [loop()]
        return float(np.abs(measured - exact[0]).max() / exact[0].max())

    return Case(f"Receptive field, {name} {layer}, {n} images, {channels} channels",
                {"loop over channels": loop, "helpers": ours}, error, warm_up=loop)


# ---- probes -----------------------------------------------------------------------------------------------------


def probe_case(n: int, layers: int = 7, tokens: int = 65, width: int = 96, test: int = 1000, sample: int = 13) -> Case:
    """A probe for every token of every layer, λ chosen among 16 on held-out examples; ten classes."""
    from sklearn.linear_model import RidgeClassifier, RidgeClassifierCV
    from sklearn.preprocessing import StandardScaler

    g = torch.Generator().manual_seed(0)
    centres = 0.25 * torch.randn(10, layers, tokens, width, generator=g)
    y, test_y = torch.arange(n) % 10, torch.arange(test) % 10
    x = torch.randn(n, layers, tokens, width, generator=g) + centres[y]
    test_x = torch.randn(test, layers, tokens, width, generator=g) + centres[test_y]
    ridges, probes = RIDGES.numpy(), layers * tokens
    chosen = [divmod(i, tokens) for i in range(0, probes, probes // sample)][:sample]
    held = np.arange(n) // 10 % 5 == 0  # every fifth example of each class

    def loop(fit: Callable[..., Any]) -> float:
        accuracy = []
        for layer, token in chosen:
            scaler = StandardScaler().fit(x[:, layer, token].numpy())
            train = scaler.transform(x[:, layer, token].numpy())
            model = fit(train, y.numpy())
            accuracy.append(model.score(scaler.transform(test_x[:, layer, token].numpy()), test_y.numpy()))
        return float(np.mean(accuracy))

    def by_hand(train: np.ndarray, labels: np.ndarray) -> Any:
        fits = [RidgeClassifier(alpha=r).fit(train[~held], labels[~held]) for r in ridges]
        scores = [fit.score(train[held], labels[held]) for fit in fits]
        return RidgeClassifier(alpha=ridges[int(np.argmax(scores))]).fit(train, labels)

    def ours() -> float:
        accuracy = probe(x, y, test_x, test_y, device="cpu", progress=False).accuracy
        return float(np.mean([accuracy[place] for place in chosen]))  # of the probes that the loops fit

    by_cv = lambda train, labels: RidgeClassifierCV(alphas=ridges).fit(train, labels)
    names = ("scikit-learn, loop over probes and λ", "scikit-learn, loop over RidgeClassifierCV")
    return Case(f"Probes, {layers} layers × {tokens} tokens × {len(ridges)} λ, {n} training and {test} test examples, "
                f"{width} features (the loops were timed on {sample} of them)",
                {"helpers": ours, names[0]: partial(loop, by_hand), names[1]: partial(loop, by_cv)}, lambda a: a,
                "accuracy", part={name: sample / probes for name in names})


CASES: dict[str, Callable[[], Case]] = {
    "cka-small": lambda: cka_case("vit_tiny_patch16_224", "resnet18"),
    "cka-large": lambda: cka_case("vit_small_patch16_224", "resnet50"),
    "cost-small": lambda: cost_case("vit_tiny_patch16_224", "resnet18"),
    "cost-large": lambda: cost_case("vit_small_patch16_224", "resnet50"),
    "attention-tiny": lambda: attention_case("vit_tiny_patch16_224"),
    "attention-small": lambda: attention_case("vit_small_patch16_224"),
    "receptive-vit": lambda: receptive_case("vit_tiny_patch16_224", "blocks.5"),
    "receptive-resnet": lambda: receptive_case("resnet18", "layer2.1"),
    "probe-few": lambda: probe_case(100),  # ten per class, as in the paper
    "probe-more": lambda: probe_case(1000),  # a hundred per class, as in chapter 25
    "probe-many": lambda: probe_case(2000),
}
