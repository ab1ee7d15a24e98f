"""Every family of networks measured once, without weights and on small images: `python -m benchmarks.zoo` (make zoo).

For each one: which blocks are found and how much of the network they hold; CKA of the blocks beside plain hooks and
Song's formula in float64; and whether the other measurements answer or refuse, and in which words. A raw error is a
fault of the library. The table goes to results/zoo.json, from which the book makes a page.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import timm
import torch
import torchvision
import yaml
from torch import Tensor, nn

from helpers import attention_distance, cka, norm_ratio, receptive_field
from helpers.networks.anatomy import fixed_size
from helpers.networks.blocks import covered_share, outer_blocks
from helpers.networks.trace import trace
from helpers.paper import stored

from .hand_written import HandWrittenViT

RESULTS = stored.RESULTS / "zoo.json"
CHOSEN = yaml.safe_load(Path(__file__).with_suffix(".yml").read_text(encoding="utf-8"))
SIZES = (64, 96, 128, 160, 192, 224, 240, 256, 299, 448)
IMAGES = 6
TOO_FAR = 1e-3  # between the library, whose networks compute in float32, and the formula in float64


def networks(only: list[str] | None = None) -> Iterator[tuple[str, str, str, Callable[..., nn.Module]]]:
    """(where it comes from, family, name, how to build it for images of a size)."""
    for source in ("timm", "torchvision", "hand-written"):
        for family, name in CHOSEN[source].items():
            if only is None or family in only:
                yield source, family, name, partial(_build, source, name)


def _build(source: str, name: str, size: int | None) -> nn.Module:
    torch.manual_seed(0)
    if source == "hand-written":
        return HandWrittenViT().eval()
    if source == "torchvision":
        options: dict[str, Any] = {"weights": None, "num_classes": 5}
        if name in ("googlenet", "inception_v3"):
            options |= {"aux_logits": False, "init_weights": False}
        return torchvision.models.get_model(name, **options).eval()
    options = {} if size is None else {"img_size": size}
    return timm.create_model(name, pretrained=False, num_classes=5, **options).eval()


def settled(model: nn.Module) -> nn.Module:
    """Scales that an untrained network starts at zero get values, so that every branch adds something."""
    with torch.no_grad():
        for p in model.parameters():
            if p.dim() == 1 and p.numel() > 1 and not p.any():
                p.normal_(0, 0.05)
            elif p.dim() > 0 and p.abs().max() <= 1e-4:
                p.fill_(0.1) if p.dim() == 1 else p.normal_(0, 0.05)
    return model


def prepared(build: Callable[..., nn.Module]) -> tuple[nn.Module, Tensor]:
    """The network, and images of the smallest size that it reads."""
    model = settled(build(None))
    declared = (getattr(model, "pretrained_cfg", None) or {}).get("input_size") or (3, 224, 224)
    fixed = fixed_size(model) or (declared[1:] if (getattr(model, "pretrained_cfg", None) or {}).get("fixed_input_size")
                                  else None)
    for size in SIZES if fixed is None else (*SIZES[:3], fixed[0]):
        if fixed is not None:
            try:
                model = settled(build(None if size == fixed[0] else size))
            except (TypeError, ValueError, AssertionError, RuntimeError):
                continue
        x = _images(declared[0], size)
        try:
            with torch.no_grad():
                model(x[:2])
                for m in model.modules():  # statistics of these images, or deep networks make all images alike
                    if isinstance(m, nn.modules.batchnorm._BatchNorm):
                        m.train().momentum = 1.0
                model(x)
            return model.eval(), x
        except Exception:
            continue
    return model, _images(*declared[:2])


def _images(channels: int, size: int) -> Tensor:
    g = torch.Generator().manual_seed(0)
    coarse = nn.functional.interpolate(torch.randn(IMAGES, channels, 4, 4, generator=g), size=size, mode="bilinear")
    return coarse + 0.3 * torch.randn(IMAGES, channels, size, size, generator=g)


def naive_cka(model: nn.Module, paths: list[str], x: Tensor) -> np.ndarray:
    """Plain hooks, float64 Grams, Song's formula for every pair."""
    grams: dict[str, Tensor] = {}

    def keep(path: str) -> Callable[..., None]:
        def hook(_: nn.Module, __: Any, out: Any) -> None:
            tensors = [out] if isinstance(out, Tensor) else [o for o in out if isinstance(o, Tensor)]
            rows = next(t for t in tensors if len(t) == len(x)).double().flatten(1)
            k = rows @ rows.T
            grams[path] = k - torch.diag(k.diag())

        return hook

    handles = [model.get_submodule(path).register_forward_hook(keep(path)) for path in paths]
    with torch.no_grad():
        model(x)
    for handle in handles:
        handle.remove()
    n = len(x)

    def hsic(k: Tensor, l: Tensor) -> Tensor:
        return (k * l).sum() + k.sum() * l.sum() / ((n - 1) * (n - 2)) - 2 / (n - 2) * k.sum(0) @ l.sum(0)

    own = torch.stack([hsic(grams[p], grams[p]) for p in paths])
    pairs = torch.stack([torch.stack([hsic(grams[p], grams[q]) for q in paths]) for p in paths])
    return (pairs / (own[:, None] * own).sqrt()).numpy()


def outcome(measure: Callable[[], Any]) -> str:
    """"measured", the sentence of a refusal, or "RAW" and an error that was not meant for a reader."""
    try:
        measure()
        return "measured"
    except (ValueError, TypeError) as error:
        return f"refused: {error}"
    except Exception as error:  # that is what is looked for
        return f"RAW {type(error).__name__}: {error}"


def examine(source: str, family: str, name: str, build: Callable[..., nn.Module]) -> dict[str, Any]:
    """One row of the table."""
    model, x = prepared(build)
    row: dict[str, Any] = {"source": source, "family": family, "network": name, "pixels": x.shape[-1],
                           "parameters": sum(p.numel() for p in model.parameters())}
    options: Any = {"device": "cpu", "progress": False}

    def similarity() -> None:
        blocks = outer_blocks(model, trace(model, x))
        kinds = dict.fromkeys(type(one.block).__name__ for one in blocks)
        found = cka(model, x, batch_size=IMAGES, **options)
        row.update(blocks=len(blocks), share=round(covered_share(model, blocks), 3), kinds=list(kinds),
                   layers=len(found.layers), first=found.layers[0], last=found.layers[-1])
        once = [i for i, layer in enumerate(found.layers) if "@" not in layer]
        expected = naive_cka(model, [found.layers[i] for i in once], x)
        difference = np.abs(found.within[np.ix_(once, once)] - expected)
        row["difference"] = float(f"{np.nanmax(difference):.1e}")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        row["cka"] = outcome(similarity)
        last = row.get("last")
        row["norm_ratio"] = outcome(lambda: norm_ratio(model, x, **options))
        row["receptive_field"] = outcome(lambda: receptive_field(model, x[:1], last, channels=1, **options))
        row["attention_distance"] = outcome(lambda: attention_distance(model, x, **options))
    return row


def is_wrong(row: dict[str, Any]) -> bool:
    """Whether the library answered wrongly or not in its own words."""
    raw = any(str(row[key]).startswith("RAW") for key in ("cka", "norm_ratio", "receptive_field", "attention_distance"))
    return raw or not row.get("difference", 0) <= TOO_FAR


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.zoo", description=__doc__)
    parser.add_argument("--only", nargs="+", help="families, such as resnet; nothing is written")
    only = parser.parse_args().only
    torch.set_num_threads(1)
    rows = []
    for source, family, name, build in networks(only):
        rows.append(row := examine(source, family, name, build))
        print(f"{family:28} {name:36} {row['pixels']:4} px, {row.get('blocks', 0):3} blocks, "
              f"{row.get('share', 0):4.0%}, {row.get('difference', float('nan')):.0e}  "
              + "; ".join(f"{key}: {row[key][:90]}" for key in ("cka", "norm_ratio", "receptive_field",
                                                                "attention_distance")), flush=True)
    print(f"{len(rows)} networks, {sum(map(is_wrong, rows))} answered wrongly or with a raw error")
    if only is None:
        about = {"torch": torch.__version__, "timm": timm.__version__, "torchvision": torchvision.__version__}
        RESULTS.write_text(json.dumps({"versions": about, "images": IMAGES, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
