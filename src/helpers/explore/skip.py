"""Explorer of skip connections: how much each block adds, and what a network without one block's skip looks like."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..metrics.cka import CKA
from ..metrics.skip import NormRatio
from .base import Explorer, LiveExplorer, show
from .cka import cka_part
from .packing import both_languages, pack, share
from .traits import Choice, Index

INTACT = -1  # value of `block` for the network with all its skips
Network = tuple[CKA, float]  # CKA of its layers with each other, and its accuracy


class Skip(Explorer):
    """`block` whose skip is missing (−1: none) in the network of this `variant`; `at` is where ratios are read."""

    name = "skip"
    scripts = ("readings.js", "cka_map.js", "skip.js")
    branch = Choice(lambda w: w.about["branches"])
    at = Index(lambda w: w.about["depth"])
    variant = Choice(lambda w: w.about["blocks"])
    block = Choice(lambda w: w.about["blocks"][w.variant])
    row = Index(lambda w: w.parts["intact"]["rows"], last=True)  # not a layer with itself
    column = Index(lambda w: w.parts["intact"]["columns"])


def skip_explorer(
    ratios: Mapping[str, NormRatio],
    intact: Network,
    trained: Mapping[int, Network] | None = None,
    cut: Mapping[int, Network] | None = None,
    *,
    names: Mapping[str, Any] | None = None,
    branch: str | None = None,
    at: int | None = None,
    variant: str | None = None,
    block: int | None = None,
    row: int | str | None = None,
    column: int | str | None = None,
) -> Explorer | LiveExplorer:
    """Norm ratios by model name, and networks as (CKA, accuracy): with all skips and, by block, with one skip missing.

    `trained` networks never had the skip (variant "trained"); `cut` ones lost it after training (variant "cut").
    Without either, the intact network stands alone.
    """
    curves = curves_of(ratios)
    given = {"trained": trained, "cut": cut}
    variants = {kind: networks for kind, networks in given.items() if networks} or {"trained": {}}
    parts = {"intact": network_part("the intact network", intact)}
    for kind, networks in variants.items():
        for number, network in sorted(networks.items()):
            what = f"the {kind!r} network without the skip of block {number}"
            parts[f"{kind} {number}"] = part = network_part(what, network)
            if part["rows"] != parts["intact"]["rows"]:
                raise ValueError(f"{what} has other layers than the intact one")
    about = {
        "models": both_languages(ratios, names),
        "branches": list(dict.fromkeys(c["branch"] for c in curves if c["branch"] != "conv")) or ["conv"],
        "curves": curves,
        "depth": max(c["values"]["shape"][0] for c in curves),
        "blocks": {kind: [INTACT, *sorted(map(int, networks))] for kind, networks in variants.items()},
        "layers": len(parts["intact"]["rows"]),
        "accuracy": {name: part["accuracy"] for name, part in parts.items()},
    }
    chosen = {"branch": branch, "at": at, "variant": variant, "block": block, "row": row, "column": column}
    return show(Skip, about=about, parts=parts, **chosen)


def curves_of(ratios: Mapping[str, NormRatio]) -> list[dict[str, Any]]:
    """One curve over the blocks for each model, branch and kind of token."""
    if not ratios:
        raise ValueError("skip_explorer needs results of norm_ratio, such as {'ViT': norm_ratio(vit, images)}")
    curves = []
    for model, result in ratios.items():
        if not isinstance(result, NormRatio):
            raise TypeError(f"{model!r} is a {type(result).__name__}, not a result of norm_ratio(model, images)")
        groups = {"cls": result.cls if result.class_token else {}, "spatial": result.spatial}
        for tokens, by_branch in groups.items():
            for branch, values in by_branch.items():
                curves.append({"model": model, "branch": branch, "tokens": "blocks" if branch == "conv" else tokens,
                               "values": pack(values, digits=2)})
    return curves


def network_part(what: str, network: Network) -> dict[str, Any]:
    """CKA map and accuracy of one network."""
    result, accuracy = network
    if not isinstance(result, CKA) or result.cross is not None:
        raise ValueError(f"{what} needs the CKA of one model with itself: cka(model, images)")
    return cka_part(result) | {"accuracy": share(accuracy, f"the accuracy of {what}")}
