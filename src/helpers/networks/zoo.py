"""The zoo: a name and a scale → a network ready to be measured, with its preprocessing in `pretrained_cfg`."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from inspect import signature
from pathlib import Path
from typing import Any

import huggingface_hub.constants
import pandas as pd
import timm
import torch
from safetensors.torch import load_file
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from ..lab import runs as lab
from .local import V1_STRIDES, local_weights, set_attributes


@dataclass(frozen=True)
class Entry:
    """One network of the zoo: where it comes from and whose part it plays in the papers."""

    role: str
    timm_id: str
    lab_twin: str  # the lab model of the same role, for readers who cannot download
    licence: str = "Apache-2.0"
    file: str = ""  # another name of its weights in the folder BOOK_WEIGHTS
    set: dict[str, Any] = field(default_factory=dict)  # what that file needs, and timm's own does not

    def local(self, weights: str | Path | None = None) -> tuple[Path | None, dict[str, Any]]:
        """The file of its weights, given or found, and the settings that this file needs."""
        path = local_weights(self.timm_id, self.file) if weights is None else Path(weights)
        of_timm = path is None or path.stem in (self.timm_id, self.timm_id.replace(".", "_"))
        return path, {} if of_timm else self.set


PAPER = {
    "vit_b16": Entry("ViT-B/16, large data", "vit_base_patch16_224.augreg_in21k", "vit_cls"),
    "vit_b16_orig": Entry("ViT-B/16, the paper's ImageNet-21k release", "vit_base_patch16_224.orig_in21k", "vit_cls"),
    "vit_b16_in1k": Entry("ViT-B/16, ImageNet only", "vit_base_patch16_224.augreg_in1k", "vit_cls_10"),
    "vit_b32": Entry("ViT-B/32, large data", "vit_base_patch32_224.augreg_in21k", "vit_cls"),
    "vit_b32_in1k": Entry("ViT-B/32, ImageNet only", "vit_base_patch32_224.augreg_in1k", "vit_cls_10"),
    "vit_l16": Entry("ViT-L/16, large data", "vit_large_patch16_224.augreg_in21k", "vit_large_100"),
    "vit_l16_in1k": Entry("ViT-L/16, ImageNet only (DeiT III)", "deit3_large_patch16_224.fb_in1k", "vit_large_10"),
    "vit_h14": Entry("ViT-H/14, large data", "vit_huge_patch14_224.orig_in21k", "vit_large_100"),
    "vit_h14_in1k": Entry("ViT-H/14, ImageNet only (DeiT III)", "deit3_huge_patch14_224.fb_in1k", "vit_large_10"),
    "vit_s16": Entry("small ViT, large data", "vit_small_patch16_224.augreg_in21k", "vit_cls"),
    "vit_s16_in1k": Entry("small ViT, ImageNet only", "vit_small_patch16_224.augreg_in1k", "vit_cls_10"),
    "vit_ti16": Entry("tiny ViT, large data (ImageNet-21k, then 1k)", "vit_tiny_patch16_224.augreg_in21k_ft_in1k",
                      "vit_cls"),
    "deit_ti16": Entry("tiny ViT, ImageNet only (DeiT)", "deit_tiny_patch16_224.fb_in1k", "vit_cls_10"),
    "vit_relpos_cls": Entry("ViT trained with CLS", "vit_relpos_medium_patch16_cls_224.sw_in1k", "vit_cls"),
    "vit_relpos_gap": Entry("ViT trained with GAP", "vit_relpos_medium_patch16_224.sw_in1k", "vit_gap"),
    "resnet50_bit": Entry("ResNet50x1 (BiT)", "resnetv2_50x1_bit.goog_in21k", "resnet"),
    "resnet152_bit": Entry("ResNet152x2 (BiT)", "resnetv2_152x2_bit.goog_in21k", "resnet"),
    "resnet50": Entry("plain ResNet-50, second opinion", "resnet50.a1_in1k", "resnet"),
    "resnet50_v1": Entry("plain ResNet-50, ImageNet only", "resnet50.tv_in1k", "resnet", "BSD-3-Clause",
                         file="resnet50_v1_in1k", set=V1_STRIDES),
    "hybrid_b16": Entry("hybrid R50+ViT-B/16", "vit_base_r50_s16_224.orig_in21k", "hybrid"),
    "mixer_b16": Entry("MLP-Mixer-B/16", "mixer_b16_224.goog_in21k", "mixer"),
    "mixer_l16": Entry("MLP-Mixer-L/16", "mixer_l16_224.goog_in21k", "mixer"),
    "vit_b16_mae": Entry("masked-image ViT-B/16", "vit_base_patch16_224.mae", "vit_masked", "CC BY-NC 4.0"),
}

# At paper scale a lab name stands for the public network that plays the same part, so a notebook's cell stays as it is.
SAME_PART = {"vit_cls": "vit_b16", "resnet": "resnet50_bit", "vit_gap": "vit_relpos_gap", "mixer": "mixer_b16",
             "hybrid": "hybrid_b16", "vit_large_100": "vit_l16", "vit_masked": "vit_b16_mae"}


def load_model(name: str, *, scale: str = "lab", trained: bool = True, weights: str | Path | None = None,
               seed: int | None = None) -> nn.Module:
    """A network in eval mode. Lab models come from the package, paper models from timm or a local file.

    A local file is `weights`, or found in the folder of the environment variable BOOK_WEIGHTS under timm's name
    (vit_tiny_patch16_224.augreg_in21k_ft_in1k.safetensors). One for "resnet50_v1" that does not have timm's name is
    taken for the original network, whose strides differ from timm's.

    trained=False gives the same architecture with random weights, as its training began (the head of a lab ViT starts
    at zero); only residual branches that a public recipe starts at next to nothing are given their full weight.
    """
    if seed is not None and trained:
        raise ValueError("`seed` chooses the weights of an untrained model; pass trained=False with it.")
    if weights is not None and not trained:
        raise ValueError(f"trained=False gives random weights, but weights={str(weights)!r} was passed: leave one out.")
    if scale == "lab":
        return _lab_model(name, trained, seed, weights)
    if scale == "paper":
        return _paper_model(SAME_PART.get(name, name), trained, seed or 0, weights)
    raise ValueError(f"Unknown scale {scale!r}; use 'lab' (ours, bundled) or 'paper' (public timm weights).")


def twins(*names: str, scale: str = "lab", seed: int | None = None) -> dict[str, Any]:
    """Networks beside untrained ones of the same build: {"trained": …, "untrained": …}, a tuple each for several names.

    `seed` draws the untrained ones anew; without it a lab network's twin starts as its own training did.

    >>> [type(network).__name__ for network in twins("vit_cls", "resnet")["untrained"]]
    ['VisionTransformer', 'ResNetV2']
    """
    if not names:
        raise ValueError("twins needs at least one name; see list_models().")
    found = {"trained": tuple(load_model(name, scale=scale) for name in names),
             "untrained": tuple(load_model(name, scale=scale, trained=False, seed=seed) for name in names)}
    return {state: networks[0] if len(names) == 1 else networks for state, networks in found.items()}


def _lab_model(name: str, trained: bool, seed: int | None, weights: str | Path | None) -> nn.Module:
    entry = lab.shipped(name)
    if entry is None:
        _known(name, lab.recipes(), "lab")
    model = lab.untrained(name, seed)
    if weights is not None:
        load_weights(model, Path(weights))
    elif trained and entry is None:
        raise ValueError(f"There is no weights/{name}.json, so its weights cannot be checked; `make lab RUN={name}` "
                         "trains it, and trained=False gives it untrained.")
    elif trained:
        load_weights(model, lab.WEIGHTS / f"{name}.safetensors", entry)
    if hasattr(model, "patch_drop"):
        model.patch_drop = nn.Identity()
    return model.eval()


def load_weights(model: nn.Module, path: Path, entry: dict | None = None) -> None:
    """Load safetensors into the model; a file that is missing, altered or of another model is refused."""
    if not path.is_file():
        ours = path.parent == lab.WEIGHTS
        advice = f"`make lab RUN={path.stem}` trains it." if ours else "check the path; a .safetensors file is wanted."
        raise FileNotFoundError(f"{path} is {'a folder' if path.is_dir() else 'not there'}; {advice}")
    if entry is not None and lab.sha256(path) != entry["sha256"]:
        raise ValueError(f"{path} is not the file that {path.stem}.json describes (its SHA-256 differs): it is "
                         f"damaged or was swapped. Restore it with git, or train it again: `make lab RUN={path.stem}`.")
    try:
        model.load_state_dict({key: value.float() for key, value in load_file(path).items()})
    except Exception as error:
        raise ValueError(f"{path} does not fit {type(model).__name__}: {error}") from error


def _paper_model(name: str, trained: bool, seed: int, weights: str | Path | None) -> nn.Module:
    entry = PAPER[_known(name, PAPER, "paper")]
    path, settings = entry.local(weights)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = _create(entry, pretrained=trained and path is None)
    set_attributes(model, settings, name)
    if trained and path is not None:
        load_weights(model, path)
    return model.eval()


def _create(entry: Entry, pretrained: bool) -> nn.Module:
    if not pretrained:
        return with_live_branches(partial(timm.create_model, entry.timm_id))
    try:
        return timm.create_model(entry.timm_id, pretrained=True, **from_cache(entry.timm_id))
    except Exception as error:  # the hub raises many kinds of errors when it is out of reach
        raise ConnectionError(
            f"The weights {entry.timm_id} could not be fetched ({type(error).__name__}); the lab model of the same "
            f"role is load_model({entry.lab_twin!r}).") from error


def with_live_branches(create: Callable[..., nn.Module]) -> nn.Module:
    """An untrained network whose residual branches do something.

    A recipe may start the end of every branch at zero, or at next to nothing (LayerScale 1e-5): such a branch has no
    CKA, and the layers after it are equal.
    """
    model = create()
    if "zero_init_last" in signature(type(model)).parameters:
        model = create(zero_init_last=False)
    for module in model.modules():
        if type(module).__name__ == "LayerScale":  # timm has several
            nn.init.ones_(module.gamma)  # type: ignore[arg-type]
    return model


def from_cache(timm_id: str) -> dict[str, Any]:
    """Options for timm.create_model: none if the hub answers, else the file that it left in its cache.

    Asked once here, a hub that is out of reach is not asked again and again by timm.
    """
    source = getattr(timm.get_pretrained_cfg(timm_id), "hf_hub_id", None)
    if source is None or _hub_answers():
        return {}
    for name in ("model.safetensors", "pytorch_model.bin"):
        path = huggingface_hub.try_to_load_from_cache(source, name)
        if isinstance(path, str):
            # `custom_load` is for files of other kinds; the hub's own are plain dictionaries of weights
            return {"pretrained_cfg_overlay": {"file": path, "custom_load": False}}
    raise ConnectionError(f"the hub does not answer, and {source} is not in its cache")


def _hub_answers(seconds: float = 5) -> bool:
    """Whether the hub says anything at all, asked once."""
    try:
        huggingface_hub.get_session().head(huggingface_hub.constants.ENDPOINT, timeout=seconds)
    except Exception:  # of whichever library the installed version makes its requests with
        return False
    return True


def _known(name: str, names: dict, scale: str) -> str:
    if name not in names:
        near = difflib.get_close_matches(name, names, 3) or list(names)[:5]
        raise ValueError(f"No model {name!r} at scale {scale!r}; did you mean {', '.join(near)}? See list_models().")
    return name


def list_models() -> pd.DataFrame:
    """All networks: name, scale, role in the papers, parameters (millions), test accuracy (of classes), licence.

    What a network costs stands in between: GFLOPs of one image (a product and a sum are two) and the megabytes of its
    weights in float32.
    """
    recipes = lab.recipes()
    rows = []
    for name, entry in lab.read_manifest().items():
        rows.append(dict(name=name, scale="lab", **_role_and_accuracy(recipes[name], entry["test_accuracy"]),
                         **_cost(*_lab_size(name)), licence="MIT"))
    for name, public in PAPER.items():
        rows.append(dict(name=name, scale="paper", role=public.role, accuracy=float("nan"), licence=public.licence,
                         **_cost(*_size(public.timm_id))))
    columns = ["name", "scale", "role", "parameters", "gflops", "megabytes", "accuracy", "licence"]
    return pd.DataFrame(rows, columns=columns).set_index("name")


def _role_and_accuracy(run: dict[str, Any], accuracy: float) -> dict[str, Any]:
    """What a lab model guesses rightly is its accuracy only if it guesses classes."""
    if run.get("objective") != "colours":
        return dict(role=run["role"], accuracy=accuracy)
    return dict(role=f"{run['role']} ({100 * accuracy:.1f} % of masked colours)", accuracy=float("nan"))


def _cost(parameters: int, flops: int) -> dict[str, float]:
    return dict(parameters=parameters / 1e6, gflops=flops / 1e9, megabytes=4 * parameters / 1e6)


@cache
def _lab_size(name: str) -> tuple[int, int]:
    with torch.device("meta"):
        return _counted(lab.untrained(name).eval(), 32)


@cache
def _size(timm_id: str) -> tuple[int, int]:
    with torch.device("meta"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _counted(timm.create_model(timm_id).eval(), 224)


def _counted(model: nn.Module, side: int) -> tuple[int, int]:
    """Parameters, and operations on one image, of a model without memory."""
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        model(torch.zeros(1, 3, side, side, device="meta"))
    return sum(p.numel() for p in model.parameters()), counter.get_total_flops()
