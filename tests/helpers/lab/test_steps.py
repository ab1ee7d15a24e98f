"""The parts of a training step: augmentation, precision, schedule, optimiser."""

from __future__ import annotations

import pytest
import timm.optim.muon
import torch

from helpers.lab.architectures import build
from helpers.lab.steps import SCHEDULES, augment, make_optimizer, multiply_in


def test_augmentation_is_a_crop_of_the_reflected_image_or_of_its_mirror():
    torch.manual_seed(0)
    raw = torch.arange(32 * 32).remainder(251).byte().view(1, 1, 32, 32).expand(40, 3, -1, -1)
    padded = torch.nn.functional.pad(raw[:1].float(), (4,) * 4, mode="reflect").byte()
    windows = [padded[0, :, i : i + 32, j : j + 32] for i in range(9) for j in range(9)]
    allowed = [*windows, *(window.flip(-1) for window in windows)]
    changed = augment(raw)
    assert all(any(torch.equal(image, window) for window in allowed) for image in changed)
    assert len({image.numpy().tobytes() for image in changed}) > 20


def test_the_trapezoid_is_flat_and_then_a_straight_line():
    values = [SCHEDULES["trapezoid"](progress) for progress in (0, 0.3, 0.75, 0.8, 0.875, 1)]
    assert values == pytest.approx([1, 1, 1, 1 - 0.98 / 5, 0.51, 0.02])


def test_the_cosine_falls_to_a_hundredth():
    values = [SCHEDULES["cosine"](progress) for progress in (0, 0.5, 1)]
    assert values == pytest.approx([1, 0.505, 0.01])


def test_matrices_inside_go_to_muon_and_the_rest_to_adamw():
    model = build("vit", seed=0, width=16, depth=1, heads=2)
    muon, adamw = make_optimizer(model, {"lr": 0.1, "other_lr": 0.2, "weight_decay": 0.3}).param_groups
    inside = {id(p) for name, p in model.named_parameters() if name.startswith("blocks.") and p.ndim == 2}
    assert {id(p) for p in muon["params"]} == inside and len(inside) == 4  # qkv, proj, fc1, fc2
    assert len(muon["params"]) + len(adamw["params"]) == len(list(model.parameters()))
    assert (muon["lr"], muon["weight_decay"], adamw["lr"], adamw["weight_decay"]) == (0.1, 0.3, 0.2, 0.0)


def test_newton_schulz_runs_in_float32_and_timm_stays_as_it_was(monkeypatch):
    own, seen = timm.optim.muon.zeropower_via_newtonschulz, []

    def noted(*arguments, dtype=torch.bfloat16, **options):
        seen.append(dtype)
        return own(*arguments, dtype=dtype, **options)

    monkeypatch.setattr(timm.optim.muon, "zeropower_via_newtonschulz", noted)
    model = build("vit", seed=0, width=16, depth=1, heads=2)
    optimizer = make_optimizer(model, {"lr": 0.1, "other_lr": 0.1, "weight_decay": 0.0})
    model(torch.randn(2, 3, 32, 32)).square().sum().backward()
    optimizer.step()
    assert seen and set(seen) == {torch.float32}
    assert timm.optim.muon.zeropower_via_newtonschulz is noted


def test_products_in_float32_leave_the_model_alone():
    model = build("vit", seed=0, width=16, depth=1, heads=2)
    multiply_in(model, torch.float32)
    assert not any("forward" in vars(module) for module in model.modules())
