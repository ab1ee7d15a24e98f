"""The zoo: what is loaded is what its NAME.json says, and what is not is refused with a reason."""

import math
import shutil
import subprocess
import sys

import pytest
import timm
import torch
from safetensors.torch import save_file

from helpers import list_models, load_images, load_model, twins
from helpers.lab import runs
from helpers.lab.objectives import objective_of
from helpers.lab.train import accuracy
from helpers.networks import zoo

SHIPPED = sorted(runs.read_manifest())


@pytest.mark.slow
@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_model_scores_what_its_manifest_says(name):
    """On some of the test images, within three standard errors of the accuracy on all; `make lab-verify` takes all."""
    images, entry = load_images("cifar10", 512), runs.read_manifest()[name]
    said, objective = entry["test_accuracy"], objective_of(entry["recipe"])
    now = accuracy(load_model(name), images.raw, images.labels, objective)
    assert abs(now - said) < 3 * (said * (1 - said) / len(images)) ** 0.5


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_file_is_small_and_listed(name):
    entry = runs.read_manifest()[name]
    assert (runs.WEIGHTS / f"{name}.safetensors").stat().st_size == entry["bytes"] <= 2_000_000
    listed = list_models().loc[name]
    if entry["recipe"].get("objective") != "colours":
        assert listed["accuracy"] == entry["test_accuracy"]
    else:  # it guesses something else than classes, and the table must not mix the two
        assert math.isnan(listed["accuracy"]) and f"{100 * entry['test_accuracy']:.1f} % of masked" in listed["role"]


def test_sizes_are_counted_once(monkeypatch):
    first = list_models()
    monkeypatch.setattr(zoo.timm, "create_model", None)
    assert list_models().equals(first)


def test_the_table_says_what_a_network_costs():
    listed = list_models()
    parameters, gflops, megabytes = listed.loc["vit_ti16", ["parameters", "gflops", "megabytes"]]
    assert (round(parameters, 1), round(gflops, 1), round(megabytes)) == (5.7, 2.5, 23)
    assert round(listed.loc["resnet50_v1", "gflops"], 1) == 8.2
    assert listed[["parameters", "gflops", "megabytes"]].gt(0).all().all()


@pytest.fixture
def copied_weights(tmp_path, monkeypatch):
    """A folder with one network of the lab, which a test may damage."""
    for kind in ("json", "safetensors"):
        shutil.copy(runs.WEIGHTS / f"{SHIPPED[0]}.{kind}", tmp_path)
    monkeypatch.setattr(runs, "WEIGHTS", tmp_path)
    return tmp_path


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


def test_a_file_without_its_facts_is_not_loaded(copied_weights):
    (copied_weights / f"{SHIPPED[0]}.json").unlink()
    with pytest.raises(ValueError, match=rf"no weights/{SHIPPED[0]}\.json.*make lab RUN={SHIPPED[0]}"):
        load_model(SHIPPED[0])
    assert load_model(SHIPPED[0], weights=copied_weights / f"{SHIPPED[0]}.safetensors")


@pytest.mark.parametrize(("file", "problem"), [("none.safetensors", "is not there"), (".", "is a folder")])
def test_a_wrong_path_is_not_answered_with_a_training(tmp_path, file, problem):
    with pytest.raises(FileNotFoundError, match=f"{problem}; check the path; a .safetensors file is wanted") as caught:
        load_model("vit_cls", weights=tmp_path / file)
    assert "make lab" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"\x80\x04pickle", b"\xff" * 64])
def test_what_is_not_safetensors_is_refused_and_never_unpickled(tmp_path, content):
    path = tmp_path / "w.safetensors"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="does not fit VisionTransformer"):
        load_model("vit_cls", weights=path)


def test_weights_of_another_model_are_refused():
    with pytest.raises(ValueError, match="does not fit ResNetV2"):
        load_model("resnet", weights=runs.WEIGHTS / "vit_cls.safetensors")


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
    for scale in ("lab", "paper"):
        with pytest.raises(ValueError, match=r"trained=False gives random weights, but weights='w\.safetensors'"):
            load_model("vit_cls", scale=scale, trained=False, weights="w.safetensors")


def test_an_unreachable_hub_names_the_lab_model_of_the_same_role(monkeypatch):
    monkeypatch.setattr(zoo, "_hub_answers", lambda: False)
    monkeypatch.setattr(zoo.huggingface_hub, "try_to_load_from_cache", lambda *_: None)
    with pytest.raises(ConnectionError, match=r"could not be fetched \(ConnectionError\).*load_model\('resnet'\)"):
        load_model("resnet", scale="paper")
    assert not load_model("resnet", scale="paper", trained=False).training  # nothing was to be fetched


@pytest.mark.parametrize("answers", [True, False])
def test_a_silent_hub_is_asked_once_and_its_cache_is_read(monkeypatch, answers):
    asked, options = [], []

    class Session:
        def head(self, url, timeout):
            asked.append((url, timeout))
            if not answers:
                raise OSError("name or service not known")

    def create(*_, **given):
        options.append(given)
        return torch.nn.Identity()

    monkeypatch.setattr(zoo.huggingface_hub, "get_session", Session)
    monkeypatch.setattr(zoo.huggingface_hub, "try_to_load_from_cache", lambda source, name: f"{source}/{name}")
    monkeypatch.setattr(zoo.timm, "create_model", create)
    load_model("vit_b16", scale="paper")
    assert asked == [(zoo.huggingface_hub.constants.ENDPOINT, 5)]
    cached = {"file": "timm/vit_base_patch16_224.augreg_in21k/model.safetensors", "custom_load": False}
    assert options == [{"pretrained": True} | ({} if answers else {"pretrained_cfg_overlay": cached})]


def test_a_file_of_the_cache_is_loaded_as_the_hub_would(monkeypatch, tmp_path):
    """timm's ViTs of this kind have a loader of their own for other files; the hub's must not go through it."""
    name = "vit_tiny_patch16_224.augreg_in21k"
    assert timm.get_pretrained_cfg(name).custom_load
    saved = timm.create_model(name)
    save_file(saved.state_dict(), tmp_path / "model.safetensors")
    monkeypatch.setattr(zoo, "_hub_answers", lambda: False)
    monkeypatch.setattr(zoo.huggingface_hub, "try_to_load_from_cache", lambda _, file: str(tmp_path / file))
    loaded = timm.create_model(name, pretrained=True, **zoo.from_cache(name))
    for key, value in saved.state_dict().items():
        assert torch.equal(loaded.state_dict()[key], value)


def test_twins_are_a_network_and_its_untrained_copy():
    one = twins("vit_cls")
    assert list(one) == ["trained", "untrained"]
    for state, trained in (("trained", True), ("untrained", False)):
        expected = load_model("vit_cls", trained=trained)
        assert all(map(torch.equal, one[state].state_dict().values(), expected.state_dict().values()))
    several = twins("resnet", "vit_cls", seed=3)
    for state, options in (("trained", {}), ("untrained", {"trained": False, "seed": 3})):
        resnet, vit = several[state]
        assert type(resnet).__name__ == "ResNetV2"
        assert torch.equal(vit.patch_embed.proj.weight, load_model("vit_cls", **options).patch_embed.proj.weight)
    with pytest.raises(ValueError, match="at least one name"):
        twins()


def test_twins_at_paper_scale_ask_for_public_weights(monkeypatch):
    asked = []
    monkeypatch.setattr(zoo, "load_model", lambda name, **options: asked.append((name, options)))
    twins("resnet", scale="paper")
    assert asked == [("resnet", {"scale": "paper"}), ("resnet", {"scale": "paper", "trained": False, "seed": None})]


def test_loading_needs_neither_the_trainer_nor_attention():
    code = ("import sys; from helpers import load_model; load_model('resnet'); "
            "assert not {'helpers.lab.train', 'helpers.lab.steps', 'helpers.metrics.attention'} & set(sys.modules)")
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_lab_twin_is_shipped():
    assert {entry.lab_twin for entry in zoo.PAPER.values()} <= set(runs.read_manifest())
    assert set(zoo.SAME_PART) <= set(runs.recipes())
    assert set(zoo.SAME_PART.values()) <= set(zoo.PAPER)


def test_paper_scale_takes_the_same_names():
    model = load_model("vit_cls", scale="paper", trained=False)
    assert model.patch_embed.patch_size == (16, 16) and len(model.blocks) == 12


def test_branches_of_an_untrained_paper_model_add_something():
    """timm starts the last norm of a ResNet's blocks at zero; the layers inside would have no CKA."""
    model = load_model("resnet50", scale="paper", trained=False)
    assert all((block.bn3.weight > 0).all() for layer in (model.layer1, model.layer4) for block in layer)
    model = load_model("vit_relpos_gap", scale="paper", trained=False)  # LayerScale starts at 1e-5
    assert all((block.ls1.gamma == 1).all() and (block.ls2.gamma == 1).all() for block in model.blocks)
