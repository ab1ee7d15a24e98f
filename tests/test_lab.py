"""The lab: exact resumption, honest manifests, and files that are refused when they are not what they say."""

import json
import os
import signal

import pytest
import torch
from helpers import lab
from helpers.lab import Trainer, accuracy, augment, fit, recipe, recipes, ship

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
        assert lab.untrained(name) is not None and run["images_seen"] > 0
    with pytest.raises(ValueError, match="vit_cls"):
        recipe("vit_xxl")
