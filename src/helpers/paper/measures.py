"""The measurements of a run: each takes networks and images and gives numbers, which get intervals, and arrays.

A measurement says for which kinds of networks it is meant; what does not apply is skipped with the reason.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import nn

from .. import (
    attention_distance,
    cka,
    features,
    head_similarity,
    localization,
    norm_ratio,
    receptive_field,
    taps,
)
from ..claims import scores
from ..inputs.photos import Photos
from ..metrics.localize import Localization
from ..metrics.probe import probe
from ..metrics.skip import branches
from ..metrics.surgery import without_skip
from ..networks.anatomy import grid_of
from ..runtime.distributed import current
from .networks import count_classes, kind


@dataclass(frozen=True)
class Found:
    """What one measurement gives for one part of the images."""

    numbers: dict[str, float]  # each gets an interval over the parts
    arrays: dict[str, np.ndarray] = field(default_factory=dict)  # averaged over the parts
    names: dict[str, list] = field(default_factory=dict)  # of layers and heads, the same in every part
    maps: dict[str, Localization] = field(default_factory=dict)  # kept until all parts are there, not written


@dataclass(frozen=True)
class Measure:
    """A measurement: the function, the kinds of its networks, and how many images it takes unless told otherwise."""

    run: Callable[[list[nn.Module], list[Photos], dict[str, Any]], Found]
    kinds: tuple[tuple[str, ...], ...]  # one entry per network
    images: int  # at most
    join: Callable[[list[Found]], dict[str, float]] | None = None  # where the number of images matters


ANY = ("vit", "mixer", "cnn")
PROBE_IMAGES = 10  # of each class in each part: five to train a probe, five to test it


def similarity(models: list[nn.Module], images: list[Photos], settings: dict[str, Any]) -> Found:
    """CKA of blocks within each network and across two."""
    other = {"other": models[1], "other_images": images[1]} if len(models) > 1 else {}
    if len(models) > 1 and images[1] is images[0]:
        del other["other_images"]
    result = cka(models[0], images[0], **other, batch_size=settings["batch_size"],  # type: ignore[arg-type]
                 passes=settings["passes"], progress=settings["progress"])
    numbers: dict[str, float] = {}
    arrays, names = {}, {}
    for i, (side, layers) in enumerate([(result.within, result.layers), (result.other, result.other_layers)]):
        if side is not None and layers is not None:
            numbers |= {f"low_high {i}": scores.low_high(side),
                        f"stage_contrast {i}": scores.contrast(side, scores.stages(layers))}
            arrays[f"within {i}"], names[f"layers {i}"] = side, layers
    if result.cross is not None:
        arrays["cross"] = result.cross
        if kind(models[0]) == "vit" and kind(models[1]) == "cnn":
            numbers |= {f"match {name}": value for name, value in scores.match_thirds(result.cross).items()}
            numbers["match_depth"] = scores.match_depth(result.cross)
    return Found(numbers, arrays, names)


def attention(models: list[nn.Module], images: list[Photos], settings: dict[str, Any]) -> Found:
    """Mean attention distance of every head, the extremes as shares of the uniform level."""
    result = attention_distance(models[0], images[0], batch_size=settings["batch_size"] // 4,
                                progress=settings["progress"])
    arrays = {"pixels": result.pixels, "cls_mass": result.cls_mass, "uniform": np.array(result.uniform)}
    return Found(scores.reach(result), arrays)


def heads(models: list[nn.Module], images: list[Photos], settings: dict[str, Any]) -> Found:
    """CKA of subsets of the first block's heads with the first five units of a convolutional network."""
    early = taps(models[1])[:5]
    other = {} if images[1] is images[0] else {"other_images": images[1]}
    result = head_similarity(models[0], images[0], models[1], other_layers=early, **other,  # type: ignore[arg-type]
                             batch_size=settings["batch_size"], progress=settings["progress"])
    order = np.argsort(result.head_distance)
    numbers = {f"spearman {name}": rho for name, rho in zip(result.layers, result.spearman, strict=True)}
    numbers |= {"mean spearman": float(result.spearman.mean())}
    return Found(numbers, {"cka": result.cka, "distance": result.distance, "head_distance": result.head_distance[order],
                           "random": np.quantile(result.random, [0.05, 0.5, 0.95], axis=0)},
                 {"layers": result.layers})


def _spread(names: list[str], n: int) -> list[str]:
    """n of the names, evenly over the depth, the first and the last among them."""
    return [names[i] for i in dict.fromkeys(np.linspace(0, len(names) - 1, n).round().astype(int))]


def fields(models: list[nn.Module], images: list[Photos], settings: dict[str, Any]) -> Found:
    """Effective receptive fields of a few blocks, after the residual sum and before it."""
    model, options = models[0], {"channels": settings["field_channels"], "batch_size": settings["field_batch"],
                                 "progress": settings["progress"]}
    sums = branches(model, _first(images[0]))
    blocks = [b.after for b in sums if b.kind != "attn"]  # the sum that ends a block
    chosen = _spread(blocks, settings["field_blocks"])
    ends = [name for name in chosen for name in _attention_and_end(sums, name)]
    after = receptive_field(model, images[0], ends, **options)
    before = receptive_field(model, images[0], ends, before_skip=True, **options)
    at = [after.layers.index(name) for name in chosen]
    radius, share = after.radius(0.5)[at], after.centre_share[at]
    step, depth = scores.largest_step(radius, (np.array([blocks.index(name) for name in chosen]) + 1) / len(blocks))
    numbers = {"first radius50": radius[0], "first radius90": after.radius(0.9)[at[0]], "largest step": step,
               "step depth": depth, "smallest centre": (share / after.uniform_share[at]).min()}
    if kind(model) == "cnn":
        ratio = before.radius(0.5) / after.radius(0.5)
        numbers |= {"before/after radius": float(np.nanmedian(ratio))}
    else:
        ratio = before.centre_share / after.centre_share
        inside = [name in chosen for name in after.layers]
        numbers |= {"before/after attention": float(np.nanmedian(ratio[~np.array(inside)])),
                    "before/after mlp": float(np.nanmedian(ratio[inside]))}
    arrays = {f"{name} {what}": value for name, result in (("after", after), ("before", before))
              for what, value in (("radius50", result.radius(0.5)), ("radius90", result.radius(0.9)),
                                  ("centre", result.centre_share), ("participation", result.participation))}
    return Found(numbers, arrays | {"uniform": after.uniform_share}, {"after": after.layers, "before": before.layers})


def _first(images: Photos) -> torch.Tensor:
    """The first image [1, 3, H, W]."""
    return images[0][0][None]


def _attention_and_end(sums: list[Any], end: str) -> list[str]:
    """The sums of one block: after attention (in a ViT or Mixer) and at its end."""
    place = [b.after for b in sums].index(end)
    first = sums[place - 1]
    return [first.after, end] if first.kind == "attn" else [end]


def norms(models: list[nn.Module], images: list[Photos], settings: dict[str, Any]) -> Found:
    """Norm ratios and cosines of every residual branch, of the patches and of the class token."""
    result = norm_ratio(models[0], images[0], batch_size=settings["batch_size"] // 2, progress=settings["progress"])
    table = result.to_frame()
    if (idle := table[~np.isfinite(table["spatial"])]).shape[0]:
        warnings.warn(f"{', '.join(idle['layer'])}: the branch adds nothing, so its norm ratio is infinite and no mean "
                      "over it will be shown", stacklevel=2)
    numbers: dict[str, float] = {}
    arrays: dict[str, np.ndarray] = {}
    for branch, rows in table.groupby("kind"):
        columns = ("spatial", "cosine_sum", "cosine_branch", *(["cls"] if result.class_token else []))
        arrays |= {f"{branch} {column}": rows[column].to_numpy() for column in columns}
        numbers[f"{branch} mean"] = rows["spatial"].mean()
        numbers[f"{branch} first − second"] = scores.halves(rows["spatial"].to_numpy())
        numbers[f"{branch} cosine second − first"] = -scores.halves(rows["cosine_sum"].to_numpy())
    if result.class_token and "attn" in result.ratio:
        cls = result.cls
        cosine = {name: values[:, 0] for name, values in result.cosine_sum.items()}
        for branch in ("attn", "mlp"):
            numbers[f"CLS {branch} first − second"] = scores.halves(cls[branch])
            numbers[f"CLS {branch} cosine second − first"] = -scores.halves(cosine[branch])
            arrays[f"{branch} cls cosine_sum"] = cosine[branch]
        late = len(cls["attn"]) // 2
        numbers["CLS late attn − mlp"] = float((cls["attn"] - cls["mlp"])[late:].mean())
    return Found(numbers, arrays, {str(k): v for k, v in result.layers.items()})


def cuts(models: list[nn.Module], images: list[Photos], settings: dict[str, Any]) -> Found:
    """One block's skips deleted at inference: CKA of the layers before with the layers after, beside the intact one."""
    model = models[0]
    layers = [name for name in taps(model) if name.startswith("blocks.")]
    depth, options = len(layers), {"layers": layers, "batch_size": settings["batch_size"],
                                   "progress": settings["progress"]}
    whole = cka(model, images[0], **options).within
    numbers: dict[str, float] = {}
    arrays = {"intact": whole}
    right = _accuracy(model, images[0], settings)
    for block in (0, depth // 2, int(depth * 0.8)):
        bare = without_skip(model, block)
        within = cka(bare, images[0], **options).within
        arrays[f"without {block}"] = within
        if block:
            numbers |= {f"across, without {block}": scores.two_sides(within, block)["across"],
                        f"across {block}, intact": scores.two_sides(whole, block)["across"]}
        if right is not None:
            numbers[f"accuracy lost, without {block}"] = right - (_accuracy(bare, images[0], settings) or 0)
    return Found(numbers, arrays, {"layers": layers})


def localized(models: list[nn.Module], images: list[Photos], settings: dict[str, Any]) -> Found:
    """CKA of tokens with input patches: the last block, and in a convolutional network the last stage's first."""
    model = models[0]
    names = taps(model)
    blocks = [name for name in names if name.rpartition(".")[2].isdigit()]
    wanted = {"last": blocks[-1]}
    if kind(model) == "cnn":
        last = scores.stages(blocks)
        wanted["first of last stage"] = blocks[int(np.argmax(last == last.max()))]
    found = localization(model, images[0], list(wanted.values()), batch_size=settings["batch_size"],
                         progress=settings["progress"])
    maps = {where: found[name] for where, name in wanted.items()}
    arrays = {f"{where} own": result.own.reshape(result.grid) for where, result in maps.items()}
    arrays |= {f"{where} chance": np.array(result.chance) for where, result in maps.items()}
    return Found(_pointing(maps), arrays, {"layers": list(wanted.values())}, maps)


def _pointing(maps: dict[str, Localization]) -> dict[str, float]:
    return {f"{where} {score}": getattr(result, score) for where, result in maps.items()
            for score in ("hit_rate", "contrast", "edge")}


def localized_together(parts: list[Found]) -> dict[str, float]:
    """Scores of the mean maps: which of many noisy patches is the most similar shows only with all images."""
    mean = lambda where: np.mean([one.maps[where].maps for one in parts], axis=0)
    return _pointing({where: replace(one, maps=mean(where)) for where, one in parts[0].maps.items()})


def accuracy(models: list[nn.Module], images: list[Photos], settings: dict[str, Any]) -> Found:
    """Share of the photos whose class the network's own classifier finds."""
    right = _accuracy(models[0], images[0], settings)
    return Found({"top-1": float("nan") if right is None else right})


def _accuracy(model: nn.Module, images: Photos, settings: dict[str, Any]) -> float | None:
    """Top-1 accuracy; None unless the classifier has ImageNet's 1,000 classes."""
    if count_classes(model) != 1000:
        return None
    head = model.get_classifier()  # type: ignore[operator]
    name = next(path for path, module in model.named_modules() if module is head)
    logits = features(model, images, name, batch_size=settings["batch_size"],
                      progress=settings["progress"]).flatten(1)
    return float((logits.argmax(1) == images.labels).double().mean())


def probes(models: list[nn.Module], images: list[Photos], settings: dict[str, Any]) -> Found:
    """Linear probes on single spatial tokens, their mean and the class token; images in tens, class after class."""
    model, numbers = models[0], {}
    names = [name for name in taps(model) if name.rpartition(".")[2].isdigit()]
    own = lambda values: current().own(values, settings["batch_size"])
    train, y = own(torch.arange(len(images[0])) % PROBE_IMAGES < PROBE_IMAGES // 2), own(images[0].labels)
    for where, name in (("middle", names[len(names) // 2]), ("last", names[-1])):
        x = features(model, images[0], name, batch_size=settings["batch_size"], gather=False,
                     progress=settings["progress"])
        for token, part in _readouts(model, x, images[0]).items():
            result = probe(part[train], y[train], part[~train], y[~train], progress=settings["progress"])
            numbers[f"{where} {token}"] = float(result.accuracy.mean())
    return Found(numbers)


def _readouts(model: nn.Module, x: torch.Tensor, images: Photos) -> dict[str, torch.Tensor]:
    """Sixteen single tokens [n, 16, D], their mean and, in a ViT that has one, the class token."""
    if x.dim() == 4:
        x, prefix = x.flatten(2).mT, 0
    else:
        prefix = grid_of(model, _first(images)).prefix if kind(model) == "vit" else 0
    patches = x[:, prefix:]
    some = np.linspace(0, patches.shape[1] - 1, 16).round().astype(int)
    return {"token": patches[:, some], "mean": patches.mean(1)} | ({"CLS": x[:, 0]} if prefix else {})


MEASURES = {
    "similarity": Measure(similarity, (ANY, ANY), 10240),
    "attention": Measure(attention, (("vit",),), 5000),
    "norms": Measure(norms, (ANY,), 2560),
    "heads": Measure(heads, (("vit",), ("cnn",)), 2560),
    "localization": Measure(localized, (ANY,), 2560, localized_together),
    "accuracy": Measure(accuracy, (ANY,), 5000),
    "cuts": Measure(cuts, (("vit", "mixer"),), 1280),
    "probes": Measure(probes, (ANY,), 0),  # tens of every class
    "fields": Measure(fields, (ANY,), 32),
}
