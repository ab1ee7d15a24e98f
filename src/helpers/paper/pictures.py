"""Figures of a run: CKA maps as small multiples, and for each ViT the distances of its heads and its norm ratios."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from html import escape
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from .. import plots
from ..claims.scores import is_block, middles
from .stored import Result, Results

Drawn = Callable[[Figure, str, str], str]  # figure, its name on the page, what it shows → HTML
KINDS = [(measure, trained) for measure in ("similarity", "standardised") for trained in (True, False)]
CURVES = {"attn CLS": "C1o-", "mlp CLS": "C1s--", "attn spatial": "C0o-", "mlp spatial": "C0s--", "ResNet": "C5^:"}


def as_picture(figure: Figure, name: str, alt: str) -> str:
    """HTML of a figure as PNG."""
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=90, metadata={"Software": None})
    data = base64.b64encode(picture.getvalue()).decode()
    return f'<p><img src="data:image/png;base64,{data}" alt="{escape(alt, quote=True)}"></p>'


def figures_html(run: Results, words: dict[str, str], drawn: Drawn) -> str:
    """All figures that the run has numbers for, each with its caption."""
    html = ""
    for key, figure in {"across": across(run, words), "within": within(run, words), "curves": curves(run)}.items():
        if figure is not None:
            caption = f'<p class="full-size-caption"><em>{escape(words[key])}</em></p>'
            html += drawn(figure, f"{run.name}-{key}", words[f"{key} alt"]) + caption
            plt.close(figure)
    return html


def across(run: Results, words: dict[str, str]) -> Figure | None:
    """A row for every pair of a ViT and a CNN: its blocks with the other's."""
    rows = {" × ".join(map(run.called, pair)): {kind: blocks(found, "cross") for kind in KINDS
                                              if (found := _one(run, *kind, list(pair)))}
            for pair in _pairs(run)}
    return _multiples(rows, words)


def within(run: Results, words: dict[str, str]) -> Figure | None:
    """A row for every network of those pairs."""
    rows = {}
    for pair in _pairs(run):
        for side, name in enumerate(pair):
            rows[run.called(name)] = {kind: blocks(found, f"within {side}") for kind in KINDS
                                      if (found := _one(run, *kind, list(pair)))}
    return _multiples(rows, words)


def _pairs(run: Results) -> list[tuple[str, ...]]:
    pairs = {tuple(r["networks"]) for r in run.of("similarity", True)}
    return sorted(pair for pair in pairs if [run.kind(name) for name in pair] == ["vit", "cnn"])


def _one(run: Results, measure: str, trained: bool, networks: list[str]) -> Result | None:
    """A measurement of the trained networks, or of their first untrained draw; None where it is not there."""
    return next((r for r in run.of(measure, trained) if r["networks"] == networks and r["draw"] in (None, 0)), None)


def blocks(result: Result, side: str) -> np.ndarray:
    """CKA of the blocks alone: "cross" [ViT, CNN], "within 0", "within 1"."""
    at = [[i for i, name in enumerate(result["names"][f"layers {k}"]) if is_block(name)] for k in (0, 1)]
    chosen = {"cross": at, "within 0": [at[0], at[0]], "within 1": [at[1], at[1]]}[side]
    return np.array(result["arrays"][side], dtype=float)[np.ix_(*chosen)]


def _multiples(rows: dict[str, dict[tuple[str, bool], np.ndarray]], words: dict[str, str]) -> Figure | None:
    """Maps with one colour scale and the axes of their row; what was not measured stays empty."""
    kinds = [kind for kind in KINDS if any(kind in maps for maps in rows.values())]
    if not kinds:
        return None
    figure, axes = plt.subplots(len(rows), len(kinds), figsize=(2 + 1.9 * len(kinds), 0.5 + 1.95 * len(rows)),
                                layout="compressed", squeeze=False)
    shown: Any = None
    for row, (name, maps) in zip(axes, rows.items(), strict=True):
        for ax, kind in zip(row, kinds, strict=True):
            if kind not in maps:
                ax.set_axis_off()
                continue
            shown = ax.imshow(maps[kind].T, plots.CMAP, vmin=0, vmax=1, origin="lower", aspect="auto")
            for axis, size in ((ax.xaxis, len(maps[kind])), (ax.yaxis, len(maps[kind].T))):
                axis.set_ticks(range(0, size, 5))
            ax.tick_params(labelsize=8, labelleft=ax is row[0])
        row[0].set_ylabel(name.replace(" × ", " →\n") + (" ↑" if " × " in name else ""), fontsize=9)
    for ax, (measure, trained) in zip(axes[0], kinds, strict=True):
        state = "trained" if trained else "untrained"
        ax.set_title(f"{'CKA' if measure == 'similarity' else 'CKA, standardised'}\n{state}", fontsize=9)
    figure.supxlabel("block", fontsize=9)
    figure.colorbar(shown, ax=axes, label="CKA", shrink=0.7)
    return figure


def curves(run: Results) -> Figure | None:
    """A column per ViT: attention distances of all heads above, norm ratios over relative depth below."""
    distances = run.of("attention", True)
    ratios = {r["networks"][0]: r for r in run.of("norms", True)}
    if not distances or not ratios:
        return None
    with plots.look():
        figure, axes = plt.subplots(2, len(distances), figsize=(4.2 * len(distances), 6.4), layout="compressed",
                                    squeeze=False, sharey="row")
        for (above, below), result in zip(axes.T, distances, strict=True):
            (name,) = result["networks"]
            of_name = lambda measure, name=name: [r for r in run.of(measure, False) if r["networks"][0] == name]
            above.set_title(run.called(name), fontsize=10)
            _heads(above, result, of_name("attention"))
            _ratios(below, ratios.get(name), [r for r in of_name("norms") if r["draw"] == 0])
        axes[1, 0].legend(frameon=False, fontsize=8)
    return figure


def _heads(ax: Any, result: Result, draws: list[Result]) -> None:
    """A dot for every head of every block; hollow and grey those of untrained draws."""
    for drawn in draws:
        pixels = np.array(drawn["arrays"]["pixels"])
        ax.plot(np.repeat(np.arange(len(pixels)), pixels.shape[1]), pixels.ravel(), "o", color="0.6", mfc="none", ms=4)
    plots.dots(np.array(result["arrays"]["pixels"]), x="block", y="px", level=result["arrays"]["uniform"], ax=ax)


def _ratios(ax: Any, result: Result | None, draws: list[Result]) -> None:
    """A curve for each kind of branch and token; thin and grey those of untrained draws."""
    for pair in [*draws, *([result] if result else [])]:
        for curve, style in CURVES.items():
            values = np.array(pair["arrays"][f"ratio {curve}"], dtype=float)
            if pair is result:
                ax.plot(middles(len(values)), values, style, ms=4, label=curve)
            else:
                ax.plot(middles(len(values)), values, style[3:], color="0.75", lw=1)
    ax.set(xlabel="relative depth", ylabel=r"$\|z\| / \|f(z)\|$")
    ax.set_yscale("log", base=2)
    ax.yaxis.set_major_formatter("{x:g}")
