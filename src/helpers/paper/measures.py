"""The measurements of a run: each takes networks and images and gives numbers, which get intervals, and arrays.

A number that a claim speaks of has the name and the definition that it has in its chapter (claims/scores). A
measurement says for which kinds of networks it is meant; what does not apply is skipped with the reason.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from .. import (
    attention_distance,
    attention_maps,
    cka,
    features,
    head_similarity,
    localization,
    norm_ratio,
    receptive_field,
    taps,
)
from ..claims import scores
from ..claims.intervals import jackknife
from ..inputs.photos import Photos
from ..inputs.variants import Shuffled
from ..metrics.localize import Localization
from ..metrics.probe import probe
from ..metrics.skip import branches
from ..metrics.surgery import without_skip
from ..networks.anatomy import grid_of, patch_embed
from ..runtime.distributed import current
from .networks import count_classes, kind
from .outliers import strongest_channels
from .results import Found, first

Numbers = dict[str, Any]  # Interval, truth value or plain number


@dataclass(frozen=True)
class Measure:
    """A measurement: the function, the kinds of its networks, and how many images it takes unless told otherwise."""

    run: Callable[[list[nn.Module], list[Photos], dict[str, Any]], Found]
    kinds: tuple[tuple[str, ...], ...]  # one entry per network
    images: int  # at most
    join: Callable[[list[Found]], Numbers] | None = None  # instead of intervals over parts: from all parts together


ANY = ("vit", "mixer", "cnn")
PROBE_IMAGES = 10  # of each class in each part: five to train a probe, five to test it


def similarity(models: list[nn.Module], images: list[Photos], settings: dict[str, Any],
               standardise: bool = False) -> Found:
    """CKA within each network and across two: of all taps for a ViT and a CNN, as in chapter 18, else of blocks."""
    vit_and_cnn = [kind(model) for model in models] == ["vit", "cnn"]
    layers = "all" if vit_and_cnn else None
    other: dict[str, Any] = {"other": models[1], "other_layers": layers} if len(models) > 1 else {}
    if len(models) > 1 and images[1] is not images[0]:
        other["other_images"] = images[1]
    result = cka(models[0], images[0], layers=layers, **other, batch_size=settings["batch_size"],
                 passes=settings["passes"], standardise=standardise, progress=settings["progress"])
    numbers: dict[str, float] = {}
    if vit_and_cnn and result.cross is not None:
        numbers = scores.structure(result) | scores.matching(result.cross)
    elif result.cross is not None and len(result.cross) == len(result.cross.T):
        numbers = scores.with_depth([result.cross.diagonal()])
    sides = {"within 0": result.within, "within 1": result.other, "cross": result.cross}
    return Found(numbers, {name: side for name, side in sides.items() if side is not None},
                 {"layers 0": result.layers, "layers 1": result.other_layers or []})


FEW = 8  # photos whose attention maps are kept, for their entropy


def attention(models: list[nn.Module], images: list[Photos], settings: dict[str, Any]) -> Found:
    """Mean attention distance of every head, also on shuffled patches, its mass on [CLS], and its entropy."""
    model, options = models[0], {"batch_size": settings["batch_size"] // 4, "progress": settings["progress"]}
    result = attention_distance(model, images[0], **options)
    side: Any = patch_embed(model).patch_size[0]  # type: ignore[union-attr, index]
    mixed = attention_distance(model, Shuffled(images[0], side), **options)
    maps = attention_maps(model, images[0].take(FEW), batch_size=FEW, progress=settings["progress"])
    arrays = {"pixels": result.pixels, "cls_mass": result.cls_mass, "uniform": np.array(result.uniform),
              "shuffled": mixed.pixels, "entropy": maps.entropy}
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


PICTURE = (28, 28)  # to which receptive fields are averaged for drawing


def fields(models: list[nn.Module], images: list[Photos], settings: dict[str, Any]) -> Found:
    """Effective receptive fields of a ViT and a CNN: the first tap and blocks, every sum, and its branch before it."""
    options = {"channels": settings["field_channels"], "batch_size": settings["field_batch"],
               "progress": settings["progress"]}
    arrays: dict[str, np.ndarray] = {}
    names: dict[str, list] = {}
    kept: dict[str, Any] = {}
    for name, model, photos in zip(("vit", "cnn"), models, images, strict=True):
        sums = [branch.after for branch in branches(model, first(photos))]
        chosen = {"blocks": ([taps(model, "all")[0], *taps(model)], False), "after": (sums, False),
                  "before": (sums, True)}
        for what, (layers, before_skip) in chosen.items():
            found = receptive_field(model, photos, layers, before_skip=before_skip, **options)
            kept[f"{name} {what}"], names[f"{name} {what}"] = found, found.layers
            if what == "blocks":
                arrays[f"{name} maps"] = F.adaptive_avg_pool2d(torch.tensor(found.maps), PICTURE).numpy()
                names[f"{name} grids"] = [list(grid) for grid in found.grids]
            arrays |= {f"{name} {what} radius50": found.radius(0.5), f"{name} {what} radius90": found.radius(0.9),
                       f"{name} {what} centre": found.centre_share, f"{name} {what} uniform": found.uniform_share}
    return Found({}, arrays, names, kept)


def fields_together(parts: list[Found]) -> Numbers:
    """The numbers of R16–R20, as chapter 21 has them."""
    of = lambda name: [one.kept[name] for one in parts]
    vit, cnn = of("vit blocks"), of("cnn blocks")
    return {**scores.over_groups(scores.first_radii, vit, cnn), **scores.over_groups(scores.growth, vit, cnn),
            **scores.dominance(vit), **scores.over_groups(scores.centre_ratio, of("vit before"), of("vit after")),
            **scores.narrowing(of("cnn before"), of("cnn after"))}


def norms(models: list[nn.Module], images: list[Photos], settings: dict[str, Any]) -> Found:
    """Norm ratios and cosines of every residual branch of a ViT and a CNN: the numbers of R21–R24."""
    vit, cnn = (norm_ratio(model, photos, batch_size=settings["batch_size"] // 2, progress=settings["progress"])
                for model, photos in zip(models, images, strict=True))
    if not vit.class_token:
        raise ValueError("the ViT has no class token, of which R21–R24 speak")
    for result in (vit, cnn):
        table = result.to_frame()
        if len(idle := table[~np.isfinite(table["spatial"])]):
            warnings.warn(f"{', '.join(idle['layer'])}: the branch adds nothing, so its norm ratio is infinite and no "
                          "mean over it will be shown", stacklevel=2)
    views = ("ratio", "cosine_sum", "cosine_branch")
    arrays = {f"{view} {curve}": values for view in views for result in (vit, cnn)
              for curve, values in scores.by_block(result, view).items()}
    arrays |= {f"{branch} tokens": values for branch, values in vit.ratio.items()}  # [depth, tokens]
    return Found(scores.norm_ratios(vit, cnn), arrays)


PLACES = ("early", "middle", "late")


def cut_blocks(depth: int) -> dict[str, int]:
    """Which blocks lose their skips, counted from zero: 1, 6 and 9 of twelve, those of the paper's Fig. 8."""
    return dict(zip(PLACES, (1, depth // 2, int(depth * 0.8)), strict=True))


def cuts(models: list[nn.Module], images: list[Photos], settings: dict[str, Any]) -> Found:
    """One block's skips deleted at inference: how the map of all taps breaks there, and the accuracy lost (points)."""
    model, options = models[0], {"layers": "all", "batch_size": settings["batch_size"],
                                 "progress": settings["progress"]}
    blocks = cut_blocks(len(taps(model)))
    whole = cka(model, images[0], **options)
    numbers: dict[str, float] = {}
    arrays = {"intact": whole.within}
    right = _accuracy(model, images[0], settings)
    for place, block in blocks.items():
        bare = without_skip(model, block)
        arrays[place] = within = cka(bare, images[0], **options).within
        broken = scores.break_at(within, whole.within, whole.layers, block)
        numbers |= {f"{place}_{ratio}": broken[ratio] for ratio in ("over_side", "over_intact")}
        if right is not None:
            numbers[f"{place}_cut"] = 100 * (right - (_accuracy(bare, images[0], settings) or 0))
    return Found(numbers, arrays, {"layers": whole.layers, "blocks": list(blocks.values())})


LOCAL_GRID = (7, 7)  # of both networks, as in the paper's Fig. 9; finer maps are pooled to it


def localized(models: list[nn.Module], images: list[Photos], settings: dict[str, Any]) -> Found:
    """CKA of tokens with input patches: a ViT's blocks, and the units of a CNN's last stage."""
    vit, cnn = models
    stage = scores.stages(taps(cnn))
    last_stage = [name for name, i in zip(taps(cnn), stage, strict=True) if i == stage.max()]
    options = {"batch_size": settings["batch_size"], "progress": settings["progress"]}
    of_vit = localization(vit, images[0], taps(vit), LOCAL_GRID, **options)
    of_cnn = localization(cnn, images[1], last_stage, LOCAL_GRID, **options)
    kept = {"vit": of_vit[taps(vit)[-1]], "first": of_cnn[last_stage[0]], "last": of_cnn[last_stage[-1]]}
    arrays = {f"vit {score}": np.array([getattr(one, score) for one in of_vit.values()])
              for score in ("hit_rate", "contrast")}
    arrays |= {f"{where} maps": one.maps for where, one in kept.items()}
    return Found({}, arrays, {"vit": list(of_vit), "cnn": list(of_cnn)}, kept)


def localized_together(parts: list[Found]) -> Numbers:
    """Scores of the mean maps: which of many noisy patches is the most similar shows only with all images."""

    def mean(some: list[Found], where: str) -> Localization:
        return replace(some[0].kept[where], maps=np.mean([one.kept[where].maps for one in some], axis=0))

    numbers = jackknife(lambda some: scores.places(*(mean(some, where) for where in parts[0].kept)), parts)
    return {**numbers, "R28 chance": parts[0].kept["vit"].chance}


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
    """Linear probes of every block: single spatial tokens, their mean, the class token; images in tens by class."""
    model = models[0]
    names = taps(model)
    own = lambda values: current().own(values, settings["batch_size"])
    train, y = own(torch.arange(len(images[0])) % PROBE_IMAGES < PROBE_IMAGES // 2), own(images[0].labels)
    found: dict[str, list[float]] = {}
    layers = features(model, images[0], names, batch_size=settings["batch_size"], gather=False,
                      progress=settings["progress"])
    for x in layers.values():
        for token, part in _readouts(model, x, images[0]).items():
            result = probe(part[train], y[train], part[~train], y[~train], progress=settings["progress"])
            found.setdefault(token, []).append(float(result.accuracy.mean()))
    numbers = {f"{where} {token}": values[at] for token, values in found.items()
               for where, at in (("middle", len(names) // 2), ("last", -1))}
    return Found(numbers, {token: np.array(values) for token, values in found.items()}, {"layers": names})


def _readouts(model: nn.Module, x: torch.Tensor, images: Photos) -> dict[str, torch.Tensor]:
    """Sixteen single tokens [n, 16, D], their mean and, in a ViT that has one, the class token."""
    if x.dim() == 4:
        x, prefix = x.flatten(2).mT, 0
    else:
        prefix = grid_of(model, first(images)).prefix if kind(model) == "vit" else 0
    patches = x[:, prefix:]
    some = np.linspace(0, patches.shape[1] - 1, 16).round().astype(int)
    return {"token": patches[:, some], "mean": patches.mean(1)} | ({"CLS": x[:, 0]} if prefix else {})


MEASURES = {
    "similarity": Measure(similarity, (ANY, ANY), 10240),
    "standardised": Measure(partial(similarity, standardise=True), (ANY, ANY), 10240),
    "channels": Measure(strongest_channels, (ANY,), 10240),
    "attention": Measure(attention, (("vit",),), 5000),
    "norms": Measure(norms, (("vit",), ("cnn",)), 2560),
    "heads": Measure(heads, (("vit",), ("cnn",)), 2560),
    "localization": Measure(localized, (("vit",), ("cnn",)), 2560, localized_together),
    "accuracy": Measure(accuracy, (ANY,), 5000),
    "cuts": Measure(cuts, (("vit", "mixer"),), 1280),
    "probes": Measure(probes, (ANY,), 0),  # tens of every class
    "fields": Measure(fields, (("vit",), ("cnn",)), 32, fields_together),
}
