"""Public weights from a local file: found by name, with the settings that such a file needs."""

from __future__ import annotations

import pytest
import timm
import torch
from safetensors.torch import save_file

from helpers import load_model
from helpers.networks import zoo
from helpers.networks.local import V1_STRIDES, local_weights, set_attributes

DEIT = "deit_tiny_patch16_224.fb_in1k"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("BOOK_WEIGHTS", str(tmp_path))
    return tmp_path


def save(path, timm_id: str, seed: int = 5) -> dict[str, torch.Tensor]:
    torch.manual_seed(seed)
    weights = {key: value.half() if value.is_floating_point() else value
               for key, value in timm.create_model(timm_id).state_dict().items()}
    save_file(weights, path)
    return weights


@pytest.mark.parametrize("name", [DEIT, DEIT.replace(".", "_")])
def test_a_file_with_timm_s_name_is_found_and_nothing_fetched(folder, monkeypatch, name):
    monkeypatch.setattr(zoo, "from_cache", None)  # asks the hub
    weights = save(folder / f"{name}.safetensors", DEIT)
    model = load_model("deit_ti16", scale="paper")
    assert torch.equal(model.head.weight, weights["head.weight"].float())
    assert model.pretrained_cfg["mean"] == (0.485, 0.456, 0.406)


@pytest.mark.parametrize(("name", "stride"), [("resnet50_v1_in1k", (2, 2)), ("resnet50.tv_in1k", (1, 1))])
def test_the_original_resnet_gets_its_strides_and_timm_s_keeps_its_own(folder, name, stride):
    save(folder / f"{name}.safetensors", "resnet50")
    for trained in (True, False):  # the twin has the same build
        model = load_model("resnet50_v1", scale="paper", trained=trained)
        assert [model.get_submodule(f"layer{i}.0").conv1.stride for i in (2, 3, 4)] == [stride] * 3
        assert model.layer1[0].conv1.stride == (1, 1)


def test_weights_that_are_passed_come_before_the_folder(folder, tmp_path):
    given = tmp_path / "mine.safetensors"
    weights = save(given, DEIT, seed=6)
    save(folder / f"{DEIT}.safetensors", DEIT)
    model = load_model("deit_ti16", scale="paper", weights=given)
    assert torch.equal(model.head.weight, weights["head.weight"].float())


def test_the_folder_is_optional_but_must_exist(monkeypatch, tmp_path):
    monkeypatch.delenv("BOOK_WEIGHTS", raising=False)
    assert local_weights(DEIT) is None
    monkeypatch.setenv("BOOK_WEIGHTS", str(tmp_path))
    assert local_weights(DEIT, "another") is None
    monkeypatch.setenv("BOOK_WEIGHTS", str(tmp_path / "none"))
    with pytest.raises(ValueError, match=r"BOOK_WEIGHTS=.*none: there is no such folder; it should hold .*fb_in1k"):
        local_weights(DEIT)


def test_a_setting_that_a_network_does_not_have_is_named():
    with pytest.raises(ValueError, match=r"tiny: the network has no 'layer2\.0\.conv1\.stride' that could be set"):
        set_attributes(torch.nn.Linear(2, 2), V1_STRIDES, "tiny")
