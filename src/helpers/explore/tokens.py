"""Explorer of single tokens: which part of the image each one is like, and what a probe finds in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..metrics.localize import Localization
from ..metrics.probe import Probe
from .base import Explorer, LiveExplorer, show
from .packing import both_languages, pack
from .traits import Choice, Index, Number


class Tokens(Explorer):
    """One token (a place in the first network's grid, row by row) at a relative depth; `view` similarity or probe."""

    name = "token"
    scripts = ("readings.js", "tokens.js")
    token = Index(lambda self: int(np.prod(next(iter(self.about["models"].values()))["grid"])))
    depth = Number(1, 0, 1, whole=False)
    view = Choice(lambda self: self.about["views"])


def token_explorer(maps: Mapping[str, Localization | Sequence[Localization]],
                   probes: Mapping[str, Mapping[str, Probe]] | None = None, *, names: Mapping[str, Any] | None = None,
                   token: int | None = None, depth: float = 1.0, view: str | None = None) -> Explorer | LiveExplorer:
    """CKA of a chosen token with every input patch, for several networks side by side; and what probes find in it.

    `maps` is {key: result of localization, or a list of them by layer}. `probes` is {key: {"token": probe, …}} with the
    same keys: "token" has accuracies [layers, tokens] of the spatial tokens, any other entry, "[CLS]" or "mean" say,
    has [layers]. `names` gives keys, also those of probes, a text or {"en": …, "ko": …}. A layer takes 8 kB for an 8×8
    grid and 77 kB for a 14×14 one; a page loads each network on its own.
    """
    layers = {key: [value] if isinstance(value, Localization) else list(value) for key, value in maps.items()}
    if not layers or not all(layers.values()):
        raise ValueError("there is no network, or one without layers: pass {name: localization(…)}")
    for key, found in layers.items():
        _check_layers(key, found)
    grids = {key: found[0].grid for key, found in layers.items()}
    if unknown := [key for key in probes or () if key not in grids]:
        raise ValueError(f"probes has {unknown[0]!r}, but maps has only {', '.join(map(repr, grids))}")
    probes = {key: _check_probes(key, probes.get(key, {}), grids[key]) for key in grids} if probes is not None else {}
    lines = {line for entry in probes.values() for line in entry}
    called = both_languages([*layers, *sorted(lines - {*layers})], names)
    about = {"views": ["similarity", "probe"] if probes else ["similarity"], "models": {
        key: {"name": called[key], "grid": list(grids[key]), "layers": [layer.layer for layer in found],
              "probeLayers": len(probes[key]["token"].accuracy) if probes else 0,
              "chance": 1 / probes[key]["token"].n_classes if probes else 0,
              "lines": {line: called[line] for line in probes.get(key, {}) if line != "token"}}
        for key, found in layers.items()}}
    parts = {key: {"maps": [pack(layer.maps, digits=3) for layer in found], "probes": {
        line: pack(probe.accuracy, digits=3) for line, probe in probes.get(key, {}).items()}}
        for key, found in layers.items()}
    if token is None:
        rows, columns = next(iter(grids.values()))
        token = rows // 2 * columns + columns // 2
    return show(Tokens, about=about, parts=parts, token=token, depth=depth, view=view)


def _check_layers(key: str, found: Sequence[Localization]) -> None:
    for layer in found:
        if not isinstance(layer, Localization):
            raise ValueError(f"{key!r} must be a result of localization or a list of them, but it holds {layer!r}")
        if layer.grid != found[0].grid:
            raise ValueError(f"{key!r}: layer {layer.layer!r} has a grid {layer.grid}, {found[0].layer!r} has "
                             f"{found[0].grid}: measure all with localization(…, grid={found[-1].grid})")
        if not np.isfinite(layer.maps).all():
            raise ValueError(f"{key!r}: layer {layer.layer!r} has tokens or patches that never change, so their CKA is "
                             "not defined: measure with more images")


def _check_probes(key: str, entry: Mapping[str, Probe], grid: tuple[int, int]) -> dict[str, Probe]:
    """The probes of one network, once they are known to have the right shapes."""
    if "token" not in entry:
        raise ValueError(f'probes has no "token" for {key!r}: pass {{{key!r}: {{"token": probe}}}} for every network')
    tokens = entry["token"].accuracy
    if tokens.ndim != 2 or tokens.shape[1] != grid[0] * grid[1]:
        raise ValueError(f"the token probes of {key!r} have shape {tokens.shape}; expected [layers, "
                         f"{grid[0] * grid[1]}], the spatial tokens of its {grid[0]}×{grid[1]} grid")
    for line, probe in entry.items():
        if line != "token" and probe.accuracy.shape != tokens.shape[:1]:
            raise ValueError(f"the probe {line!r} of {key!r} has shape {probe.accuracy.shape}; expected "
                             f"[{len(tokens)}], one for each layer")
    return dict(entry)
