"""Training in the lab: exact resumption, and files that say of themselves what is true."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from helpers.lab import train
from helpers.lab.architectures import build
from helpers.lab.runs import recipe
from helpers.lab.train import Trainer, accuracy, fit, ship

TINY = dict(model=dict(kind="vit", width=16, depth=1, heads=2, patch_drop=0.5), images_seen=16 * 12, batch=16, warmup=2)


@pytest.fixture(scope="module")
def data():
    draw = torch.Generator().manual_seed(0)
    make = lambda n: (torch.randint(0, 256, (n, 3, 32, 32), generator=draw, dtype=torch.uint8),
                      torch.randint(0, 10, (n,), generator=draw))
    return make(80), make(40)


def tiny(data, **changes):
    return Trainer("tiny", recipe("vit_cls") | TINY | changes, *data, device="cpu")


def interrupted_at(trainer, step):
    """Send ourselves Ctrl-C in the middle of that step."""
    whole_step = trainer.train_step

    def train_step():
        if trainer.step == step:
            os.kill(os.getpid(), signal.SIGINT)
        return whole_step()

    trainer.train_step = train_step
    return trainer


JOINT = dict(model=dict(kind="vit", width=16, depth=1, heads=2), objective="joint", masked=0.5, schedule="trapezoid")


@pytest.mark.parametrize("changes", [{}, JOINT], ids=["classes", "classes and colours"])
def test_a_run_interrupted_twice_is_bit_for_bit_the_run_that_was_not(data, tmp_path, changes):
    whole = tiny(data, **changes)
    fit(whole, tmp_path / "whole", curve_points=6)
    for step in (4, 9):
        with pytest.raises(KeyboardInterrupt, match=f"after step {step + 1}"):
            fit(interrupted_at(tiny(data, **changes), step), tmp_path / "broken", curve_points=6)
    resumed = tiny(data, **changes)
    fit(resumed, tmp_path / "broken", curve_points=6)
    assert resumed.curve == whole.curve and len(whole.curve) == 6
    assert (tmp_path / "broken/curve.csv").read_text() == (tmp_path / "whole/curve.csv").read_text()
    for a, b in zip(whole.average.state_dict().values(), resumed.average.state_dict().values(), strict=True):
        assert torch.equal(a, b)


def test_an_interrupted_save_leaves_the_curve_whole(data, tmp_path, monkeypatch):
    trainer = tiny(data)
    fit(trainer, tmp_path, curve_points=6)
    before = (tmp_path / "curve.csv").read_text()

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(train.csv.DictWriter, "writerows", interrupted)
    with pytest.raises(KeyboardInterrupt):
        train.save_state(trainer, tmp_path)
    assert (tmp_path / "curve.csv").read_text() == before


def test_with_nothing_missing_no_data_is_read(monkeypatch, capsys):
    def read(*_):
        raise AssertionError("CIFAR-10 was read")

    monkeypatch.setattr(train, "cifar10", read)
    monkeypatch.setattr(train, "recipes", lambda: {})
    monkeypatch.setattr("sys.argv", ["lab"])
    train.main()
    assert "The weights of every run in runs.yml are there" in capsys.readouterr().out


@pytest.mark.parametrize("target", ["lab", "lab-verify"])
def test_make_passes_the_folder_of_the_data_on(target):
    said = subprocess.run(["make", "-n", target, "DATA=/some data"], cwd=Path(__file__).parents[3], check=True,
                          capture_output=True, text=True).stdout
    assert '--data "/some data"' in said


def test_another_seed_gives_another_run(data, tmp_path):
    a, b = (fit(tiny(data, seed=seed), tmp_path / str(seed)).state_dict() for seed in (0, 1))
    assert not torch.equal(a["head.weight"], b["head.weight"])


def test_a_state_of_another_recipe_is_refused(data, tmp_path):
    fit(tiny(data), tmp_path)
    with pytest.raises(ValueError, match="another recipe"):
        fit(tiny(data, lr=0.5), tmp_path)


def test_a_diverging_run_stops_and_says_so(data):
    trainer = tiny(data)
    with torch.no_grad():
        trainer.model.head.bias[0] = float("nan")
    with pytest.raises(FloatingPointError, match="tiny: the loss is nan at step 0"):
        trainer.train_step()


def test_what_is_shipped_tells_the_accuracy_of_the_file_as_written(data, tmp_path):
    trainer = tiny(data)
    entry = ship(trainer, fit(trainer, tmp_path / "state"), tmp_path)
    again = build(seed=5, **trainer.run["model"])
    again.patch_drop = torch.nn.Identity()
    again.load_state_dict({k: v.float() for k, v in load_file(tmp_path / "tiny.safetensors").items()})
    assert entry["test_accuracy"] == accuracy(again, *data[1])
    assert entry["images_seen"] == TINY["images_seen"] and entry["bytes"] < 2_000_000
    assert json.loads((tmp_path / "tiny.json").read_text()) == json.loads(json.dumps(entry))


def test_every_epoch_shows_every_image_once(data):
    trainer = tiny(data)
    seen = []
    for trainer.step in range(10):
        seen += trainer.batch_indices().tolist()
    assert sorted(seen[:80]) == sorted(seen[80:]) == list(range(80)) and seen[:80] != seen[80:]


def test_bfloat16_products_stay_close_to_float32_and_are_not_shipped(data):
    coarse, exact = tiny(data, multiply="bfloat16"), tiny(data, multiply="float32")
    images = torch.randn(4, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        for trainer in (coarse, exact):
            trainer.model.patch_drop = torch.nn.Identity()
        a, b = coarse.model.forward_features(images), exact.model.forward_features(images)
        assert a.dtype == torch.float32 and not torch.equal(a, b)
        torch.testing.assert_close(a, b, rtol=0.05, atol=0.05)
        coarse.average.module.patch_drop = exact.model.patch_drop
        assert torch.equal(coarse.average.module.forward_features(images), b)


def test_masked_training_corrupts_half_of_the_patches_and_counts_only_those(data, tmp_path):
    trainer = tiny(data, model=dict(kind="vit", width=16, depth=1, heads=2, guess_colours=True), objective="colours")
    logits, corrupted = trainer.model.guess_colours(torch.randn(5, 3, 32, 32))
    assert logits.shape == (5, 64, 512) and (corrupted.sum(1) == 32).all()
    entry = ship(trainer, fit(trainer, tmp_path / "state"), tmp_path)
    assert 0 <= entry["test_accuracy"] < 1


def test_a_joint_run_ships_a_file_that_loads_into_the_plain_vit(data, tmp_path):
    trainer = tiny(data, **JOINT)
    network = trainer.objective.for_shipping(fit(trainer, tmp_path / "state"))
    entry = ship(trainer, network, tmp_path)
    plain = build(seed=5, **JOINT["model"])
    plain.load_state_dict({k: v.float() for k, v in load_file(tmp_path / "tiny.safetensors").items()})
    assert entry["test_accuracy"] == accuracy(plain, *data[1])
    assert entry["parameters"] == sum(p.numel() for p in plain.parameters())
    assert trainer.model.mask_token.any() and trainer.model.colours.weight.any()  # they were trained, and stay behind


def test_the_learning_rate_follows_warm_up_and_schedule(data):
    trainer = tiny(data, **JOINT, lr=0.1)
    rates = []
    for _ in range(trainer.steps):
        trainer.train_step()
        rates.append(trainer.optimizer.param_groups[0]["lr"])
    assert trainer.steps == 12
    assert rates == pytest.approx([0.05] + [0.1] * 9 + [0.1 * (1 - 0.98 / 3), 0.1 * (1 - 0.98 * 2 / 3)])
