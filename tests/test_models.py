"""The zoo: what is loaded is what the manifest says, and what is not is refused with a reason."""

import shutil

import pytest
import torch

from helpers import lab, list_models, load_images, load_model, models
from helpers.objectives import objective_of

SHIPPED = sorted(lab.read_manifest())


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_model_scores_what_its_manifest_says(name):
    """On some of the test images, within three standard errors of the accuracy on all; `make lab-verify` takes all."""
    images, entry = load_images("cifar10", 512), lab.read_manifest()[name]
    said, objective = entry["test_accuracy"], objective_of(entry["recipe"])
    now = lab.accuracy(load_model(name), images.raw, images.labels, objective)
    assert abs(now - said) < 3 * (said * (1 - said) / len(images)) ** 0.5


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_file_is_small_and_listed(name):
    entry = lab.read_manifest()[name]
    assert (lab.WEIGHTS / f"{name}.safetensors").stat().st_size == entry["bytes"] <= 2_000_000
    assert list_models().loc[name, "accuracy"] == entry["test_accuracy"]


@pytest.fixture
def copied_weights(tmp_path, monkeypatch):
    shutil.copytree(lab.WEIGHTS, tmp_path / "weights")
    monkeypatch.setattr(lab, "WEIGHTS", tmp_path / "weights")
    monkeypatch.setattr(lab, "read_manifest", lambda folder=tmp_path / "weights", read=lab.read_manifest: read(folder))
    return tmp_path / "weights"


def test_a_damaged_file_is_refused_by_its_hash(copied_weights):
    path = copied_weights / f"{SHIPPED[0]}.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"SHA-256 differs.*damaged or was swapped"):
        load_model(SHIPPED[0])


def test_a_missing_file_says_how_to_make_it(copied_weights):
    (copied_weights / f"{SHIPPED[0]}.safetensors").unlink()
    with pytest.raises(FileNotFoundError, match=f"make lab RUN={SHIPPED[0]}"):
        load_model(SHIPPED[0])


@pytest.mark.parametrize("content", [b"", b"\x80\x04pickle", b"\xff" * 64])
def test_what_is_not_safetensors_is_refused_and_never_unpickled(tmp_path, content):
    path = tmp_path / "w.safetensors"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="does not fit VisionTransformer"):
        load_model("vit_cls", weights=path)


def test_weights_of_another_model_are_refused():
    with pytest.raises(ValueError, match="does not fit ResNetV2"):
        load_model("resnet", weights=lab.WEIGHTS / "vit_cls.safetensors")


def test_untrained_twins_repeat_with_their_seed():
    embedding = lambda seed: load_model("vit_cls", trained=False, seed=seed).patch_embed.proj.weight
    first, again, other = map(embedding, (None, 0, 1))
    assert torch.equal(first, again) and not torch.equal(first, other)


def test_a_loaded_model_is_ready_to_measure():
    model = load_model("vit_cls")
    assert not model.training and isinstance(model.patch_drop, torch.nn.Identity)
    assert model(load_images("cifar10", 4).tensor).shape == (4, 10)


def test_wrong_names_scales_and_seeds_are_explained():
    with pytest.raises(ValueError, match="did you mean vit_cls"):
        load_model("vit_clz")
    with pytest.raises(ValueError, match="Unknown scale 'huge'"):
        load_model("vit_cls", scale="huge")
    with pytest.raises(ValueError, match="trained=False"):
        load_model("vit_cls", seed=3)


def test_an_unreachable_hub_names_the_lab_model_of_the_same_role(monkeypatch):
    def unreachable(*_, pretrained=False, **__):
        raise OSError("no route to host")

    monkeypatch.setattr(models.timm, "create_model", unreachable)
    with pytest.raises(ConnectionError, match=r"could not be fetched \(OSError\).*load_model\('resnet'\)"):
        load_model("resnet", scale="paper")


def test_every_lab_twin_is_a_run_of_the_lab():
    assert {entry.lab_twin for entry in models.PAPER.values()} | set(models.SAME_PART) <= set(lab.recipes())
    assert set(models.SAME_PART.values()) <= set(models.PAPER)


def test_paper_scale_takes_the_same_names():
    model = load_model("vit_cls", scale="paper", trained=False)
    assert model.patch_embed.patch_size == (16, 16) and len(model.blocks) == 12
