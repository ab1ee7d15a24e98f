"""Which networks a run measures: names of the zoo, timm's own, or ones described in a YAML file.

    networks:
      my_vit:
        architecture: vit_small_patch14_dinov2     # timm's name
        options: {img_size: 224, num_classes: 0}   # for timm.create_model
        set: {layer2.0.conv1.stride: [2, 2]}       # attributes to set afterwards
        prepare: {crop_pct: 0.875}                 # where its images are prepared otherwise than timm says
        weights: my_vit.safetensors                # beside this file, or in the folder BOOK_WEIGHTS names; without
                                                   # it timm's own are fetched
        note: {en: What these weights are., ko: 이 가중치의 정체.}
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import timm
import timm.data
import torch
import yaml
from torch import nn

from ..claims.render import LANGUAGES
from ..lab.runs import sha256
from ..networks.anatomy import fixed_size, patch_embed
from ..networks.local import set_attributes
from ..networks.zoo import PAPER, from_cache, load_weights, with_live_branches


@dataclass(frozen=True)
class Network:
    """One network of a run, as it is written into run.json (all but the place of its weights)."""

    name: str
    architecture: str
    options: dict[str, Any] = field(default_factory=dict)
    set: dict[str, Any] = field(default_factory=dict)
    prepare: dict[str, Any] = field(default_factory=dict)
    weights: Path | None = None
    note: dict[str, str] | None = None

    def load(self, trained: bool = True, seed: int = 0) -> nn.Module:
        """The network in eval mode; its untrained twin has the weights of `seed` and branches that do something."""
        if trained:
            model = self._create(seed, pretrained=self.weights is None)
        else:
            model = with_live_branches(partial(self._create, seed))
        set_attributes(model, self.set, self.name)
        size = fixed_size(model)  # timm's description stays that of the size it was trained at
        described = {"input_size": (3, *size)} if size else {}
        config: Any = model.pretrained_cfg
        model.pretrained_cfg = config | described | self.prepare
        if trained and self.weights is not None:
            load_weights(model, self.weights)
        return model.eval()

    def _create(self, seed: int, **more: Any) -> nn.Module:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            try:
                cached = from_cache(self.architecture) if more.get("pretrained") else {}
                return timm.create_model(self.architecture, **self.options, **cached, **more)
            except Exception as error:  # the hub raises many kinds of errors when it is out of reach
                raise ConnectionError(
                    f"{self.name}: {self.architecture} could not be made, or its weights not fetched ({error}). "
                    "Weights of your own can be described in a file: SPEC=.") from error

    def facts(self) -> dict[str, Any]:
        """What run.json says about it: description, size, and a hash of its weights."""
        model = self.load()
        weights = {"file": sha256(self.weights)} if self.weights else {"tensors": _hash_of_tensors(model)}
        return {"architecture": self.architecture, "options": self.options, "set": self.set, "note": self.note,
                "parameters": sum(p.numel() for p in model.parameters()), "sha256": weights, "kind": kind(model),
                "classes": count_classes(model),
                "prepared": {key: list(value) if isinstance(value, tuple) else value
                             for key, value in timm.data.resolve_model_data_config(model).items()}}


def count_classes(model: nn.Module) -> int:
    """How many classes its classifier tells apart; 0 without one."""
    head = model.get_classifier() if hasattr(model, "get_classifier") else None  # type: ignore[operator]
    return int(getattr(head, "out_features", getattr(head, "out_channels", 0)))


def _hash_of_tensors(model: nn.Module) -> str:
    digest = hashlib.sha256()
    for key, tensor in sorted(model.state_dict().items()):
        digest.update(f"{key} {tensor.dtype} {tuple(tensor.shape)}\0".encode() + tensor.cpu().numpy().tobytes())
    return digest.hexdigest()


def kind(model: nn.Module) -> str:
    """vit (attention between patches), mixer, or cnn."""
    if patch_embed(model) is None:
        return "cnn"
    attends = hasattr(model, "num_prefix_tokens") or any(hasattr(m, "num_heads") for m in model.modules())
    return "vit" if attends else "mixer"


def read_spec(path: Path | None) -> tuple[dict[str, Network], dict[str, Any]]:
    """The networks and the settings that a YAML file describes; without a file there are none."""
    if path is None:
        return {}, {}
    if not path.is_file():
        raise ValueError(f"SPEC={path}: there is no such file")
    content = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    if strange := content.keys() - {"networks", "settings"}:
        raise ValueError(f"{path.name}: unknown {', '.join(sorted(strange))}; there may be networks and settings")
    described = content.get("networks") or {}
    return {name: _network(name, facts, path) for name, facts in described.items()}, content.get("settings") or {}


def _network(name: str, facts: dict[str, Any], path: Path) -> Network:
    known = {"architecture", "options", "set", "prepare", "weights", "note"}
    if strange := facts.keys() - known:
        raise ValueError(f"{path.name}: {name} has unknown {', '.join(sorted(strange))}; known are "
                         f"{', '.join(sorted(known))}")
    if "architecture" not in facts:
        raise ValueError(f"{path.name}: {name} needs an architecture, a name that timm knows")
    note = facts.get("note")
    if note is not None and set(note) != set(LANGUAGES):
        raise ValueError(f"{path.name}: the note of {name} must be {{en: …, ko: …}}")
    places = [path.parent, Path(os.environ.get("BOOK_WEIGHTS", path.parent))]
    files = [place / facts["weights"] for place in places] if "weights" in facts else []
    weights = next((file for file in files if file.is_file()), None)
    if files and weights is None:
        raise ValueError(f"{path.name}: the weights of {name} are not there: {files[0]}; put them beside that file, or "
                         "say in BOOK_WEIGHTS which folder has them")
    given = {key: facts[key] for key in ("options", "set", "prepare") if key in facts}
    return Network(name, facts["architecture"], weights=weights, note=note, **given)


def find_networks(names: list[str], described: dict[str, Network]) -> dict[str, Network]:
    """The networks with these names: described ones first, then the zoo, then timm."""
    found: dict[str, Network] = {}
    for name in names:
        if name in described:
            found[name] = described[name]
        elif name in PAPER:
            weights, settings = PAPER[name].local()
            found[name] = Network(name, PAPER[name].timm_id, weights=weights, set=settings)
        elif timm.is_model(name.partition(".")[0]):
            found[name] = Network(name, name)
        else:
            raise ValueError(f"MODELS: {name!r} is neither in SPEC, nor in the zoo ({', '.join(list(PAPER)[:4])}, …), "
                             "nor a name of timm")
    if not found:
        raise ValueError("MODELS is empty: say, for example, MODELS=vit_b16,resnet50_bit")
    return found
