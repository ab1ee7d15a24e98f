"""The lab: exact resumption, honest manifests, and files that are refused when they are not what they say."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
import torch

from helpers import lab
from helpers.lab.objectives import mean_colours
from helpers.lab.train import Trainer, accuracy, augment, fit, recipe, recipes, ship

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


def test_a_run_interrupted_twice_is_bit_for_bit_the_run_that_was_not(data, tmp_path):
    whole = tiny(data)
    fit(whole, tmp_path / "whole", curve_points=6)
    for step in (4, 9):
        with pytest.raises(KeyboardInterrupt, match=f"after step {step + 1}"):
            fit(interrupted_at(tiny(data), step), tmp_path / "broken", curve_points=6)
    resumed = tiny(data)
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

    monkeypatch.setattr(lab.csv.DictWriter, "writerows", interrupted)
    with pytest.raises(KeyboardInterrupt):
        lab.save_state(trainer, tmp_path)
    assert (tmp_path / "curve.csv").read_text() == before


def test_with_nothing_missing_no_data_is_read(monkeypatch, capsys):
    def read(*_):
        raise AssertionError("CIFAR-10 was read")

    monkeypatch.setattr(lab, "cifar10", read)
    monkeypatch.setattr(lab, "recipes", lambda: {})
    monkeypatch.setattr("sys.argv", ["lab"])
    lab.main()
    assert "Every run in runs.yml is in the manifest" in capsys.readouterr().out


@pytest.mark.parametrize("target", ["lab", "lab-verify"])
def test_make_passes_the_folder_of_the_data_on(target):
    said = subprocess.run(["make", "-n", target, "DATA=/some data"], cwd=Path(lab.HERE).parents[1], check=True,
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


def test_the_manifest_tells_the_accuracy_of_the_file_as_written(data, tmp_path):
    trainer = tiny(data)
    entry = ship(trainer, fit(trainer, tmp_path / "state"), tmp_path)
    again = lab.architectures.build(seed=5, **trainer.run["model"])
    again.patch_drop = torch.nn.Identity()
    again.load_state_dict({k: v.float() for k, v in lab.load_file(tmp_path / "tiny.safetensors").items()})
    assert entry["test_accuracy"] == accuracy(again, *data[1])
    assert entry["images_seen"] == TINY["images_seen"] and entry["bytes"] < 2_000_000
    assert json.loads((tmp_path / "manifest.json").read_text()) == {"tiny": json.loads(json.dumps(entry))}


def test_augmentation_is_a_crop_of_the_reflected_image_or_of_its_mirror():
    torch.manual_seed(0)
    raw = torch.arange(32 * 32).remainder(251).byte().view(1, 1, 32, 32).expand(40, 3, -1, -1)
    padded = torch.nn.functional.pad(raw[:1].float(), (4,) * 4, mode="reflect").byte()
    windows = [padded[0, :, i : i + 32, j : j + 32] for i in range(9) for j in range(9)]
    allowed = [*windows, *(window.flip(-1) for window in windows)]
    changed = augment(raw)
    assert all(any(torch.equal(image, window) for window in allowed) for image in changed)
    assert len({image.numpy().tobytes() for image in changed}) > 20


def test_every_epoch_shows_every_image_once(data):
    trainer = tiny(data)
    seen = []
    for trainer.step in range(10):
        seen += trainer.batch_indices().tolist()
    assert sorted(seen[:80]) == sorted(seen[80:]) == list(range(80)) and seen[:80] != seen[80:]


def test_recipes_are_complete_and_unknown_names_list_the_known():
    for name, run in recipes().items():
        model = lab.untrained(name)
        assert run["images_seen"] > 0 and run["role"] and run["model"]["kind"] in lab.architectures.BUILDERS
        assert 2 * sum(p.numel() for p in model.parameters()) < 2_000_000, f"{name} would be too large to ship"
    with pytest.raises(ValueError, match="vit_cls"):
        recipe("vit_xxl")


@pytest.mark.parametrize("name", [name for name in recipes() if "pos" in name or "noskip" in name or name == "hybrid"])
def test_every_variant_learns_with_all_its_parameters(name):
    model = lab.untrained(name)
    model(torch.randn(2, 3, 32, 32, generator=torch.Generator().manual_seed(0))).square().sum().backward()
    assert not [key for key, p in model.named_parameters() if p.grad is None]


def test_a_setting_that_no_run_has_is_refused(monkeypatch, tmp_path):
    text = (lab.HERE / "runs.yml").read_text().replace("    multiply: float32", "    multiplies: float32", 1)
    (tmp_path / "runs.yml").write_text(text)
    monkeypatch.setattr(lab, "HERE", tmp_path)
    with pytest.raises(ValueError, match=r"runs.yml: vit_cls has unknown multiplies; known are seed, images_seen"):
        lab.recipes()


def test_a_misspelt_option_of_a_network_is_refused():
    with pytest.raises(ValueError, match="A vit has no option widht; there are width, depth"):
        lab.architectures.settings(kind="vit", widht=96)


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


def test_a_patch_colour_is_its_mean_in_three_bits_per_channel():
    raw = torch.zeros(1, 3, 8, 4, dtype=torch.uint8)
    raw[0, 0, :4], raw[0, 1, 4:], raw[0, 2, 4:, :2] = 255, 32, 255  # above: red; below: dark green, half of it blue
    assert mean_colours(raw, 4).tolist() == [[7 * 64, 1 * 8 + 3]]


def test_relative_positions_depend_on_the_offset_only():
    """Without content, logits of patch pairs with the same 1-D offset are equal, and the class token has none."""
    from helpers.lab.positions import RelativeAttention

    torch.manual_seed(0)
    attention = RelativeAttention(8, num_heads=2, qkv_bias=True)
    attention.set_patches(5)
    with torch.no_grad():
        attention.qkv.weight.zero_()
        attention.qkv.bias[:8] = torch.randn(8)  # every query is the same, every key zero
        attention.qkv.weight[16:] = torch.randn(8, 8)
        attention.offsets.normal_()
        x = torch.randn(1, 6, 8)
        rows = attention.offsets @ attention.qkv.bias[:8].view(2, 4).T * attention.scale  # [9 offsets, 2 heads]
        logits = torch.zeros(1, 2, 6, 6)
        for q in range(5):
            for k in range(5):
                logits[0, :, q + 1, k + 1] = rows[q - k + 4]
        v = (x @ attention.qkv.weight[16:].T + attention.qkv.bias[16:]).view(1, 6, 2, 4).transpose(1, 2)
        by_hand = attention.proj((logits.softmax(-1) @ v).transpose(1, 2).reshape(1, 6, 8))
        assert torch.allclose(attention(x), by_hand, atol=1e-5)
