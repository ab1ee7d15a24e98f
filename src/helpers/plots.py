"""Figures with one look. Their text is symbols, units and layer names, so one figure serves every language."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
from matplotlib.axes import Axes

CMAP = "viridis"  # as in the explorers: brightness rises all the way, whatever the colour vision
# The series of explorer.css, far apart in brightness and hue for every colour vision; lighter on the site's dark pages.
PALETTE = ("#0072b2", "#c8501e", "#00785a", "#a3417a", "#7d5f00", "#5b6270")
NETWORKS = {r"vit|deit": PALETTE[0], r"resnet|bit\b|cnn": PALETTE[1], r"mixer": PALETTE[2], r"hybrid": PALETTE[3]}
BLOCK = re.compile(r"(?:.*\.)?(?:stages\.\d+\.blocks|layer\d+|blocks|layers)\.\d+(?=\.|$)")


@contextmanager
def look() -> Iterator[None]:
    """The book's style for figures made inside; `sns.set_theme` would change every later one and the fonts."""
    style = {**sns.axes_style("ticks"), **sns.plotting_context("notebook", font_scale=0.85)}
    left = {"font.family", "font.sans-serif", "figure.facecolor", "axes.facecolor"}  # as where the figure is shown
    style = {key: value for key, value in style.items() if key not in left}
    cycle = mpl.rcsetup.cycler(color=PALETTE)
    with mpl.rc_context({**style, "axes.prop_cycle": cycle, "image.interpolation": "nearest"}):
        yield
        interactive = mpl.is_interactive()
    # A notebook's backend turns this on when the first figure is made; switched off again, no later figure is shown.
    mpl.interactive(interactive)


def panels(n: int, axes: Any = None, size: tuple[float, float] = (4.2, 3.6), columns: int = 4) -> list[Axes]:
    """n axes: those given, or new ones in rows of at most `columns`."""
    if axes is not None:
        given = list(np.ravel(np.asarray(axes, dtype=object)))
        if len(given) < n:
            raise ValueError(f"{n} panels need {n} axes, got {len(given)}")
        return given[:n]
    width = min(n, columns)
    rows = -(-n // width)
    figsize = (size[0] * width, size[1] * rows)
    figure, grid = plt.subplots(rows, width, figsize=figsize, squeeze=False, layout="compressed")
    for spare in grid.flat[n:]:
        figure.delaxes(spare)
    return list(grid.flat[:n])


def one_or_all(axes: list[Axes]) -> Any:
    """What a plot returns: its axes, or an array of them when there are several."""
    return axes[0] if len(axes) == 1 else np.array(axes, dtype=object)


def heatmaps(
    matrices: Sequence[tuple[np.ndarray, Sequence[str], Sequence[str]]],
    label: str,
    *,
    axes: Any = None,
    limits: tuple[float | None, float | None] = (0, 1),
) -> Any:
    """Matrices [rows, columns] with (column names, row names), origin at the bottom left; NaN is grey."""
    with look():
        drawn = panels(len(matrices), axes, columns=3)
        for ax, (values, columns, rows) in zip(drawn, matrices, strict=True):
            ax.set_facecolor("0.8")
            extent = (0, values.shape[1], 0, values.shape[0])
            shown = ax.imshow(
                np.ma.masked_invalid(values), CMAP, vmin=limits[0], vmax=limits[1], origin="lower", extent=extent,
                interpolation="nearest",
            )
            ax.figure.colorbar(shown, ax=ax, label=label, shrink=0.8)
            _name_cells(ax.xaxis, columns)
            _name_cells(ax.yaxis, rows)
            ax.tick_params(labelsize=8)
            sns.despine(ax=ax, left=True, bottom=True)
        return one_or_all(drawn)


def _name_cells(axis: Any, names: Sequence[str]) -> None:
    """Numbers of the blocks between ticks at their borders; names of other things as they are."""
    blocks = [(block, list(cells)) for block, cells in groupby(range(len(names)), lambda i: _block_of(names[i]))]
    numbered = [cells for block, cells in blocks if block is not None]
    if not numbered:
        axis.set_ticks(np.arange(len(names)) + 0.5, _thin(names), rotation=90 if axis.axis_name == "x" else 0)
        axis.set_tick_params(length=0)
        return
    middles = [(cells[0] + cells[-1] + 1) / 2 for cells in numbered]
    axis.set_ticks(middles, _thin([str(i) for i in range(len(numbered))], most=13))
    axis.set_ticks(sorted({edge for cells in numbered for edge in (cells[0], cells[-1] + 1)}), minor=True)
    axis.set_tick_params(length=0)
    axis.set_tick_params(which="minor", length=4, width=0.6)
    axis.set_label_text("block")


def _block_of(name: str) -> str | None:
    """The block in which a place lies: `blocks.3` for `blocks.3.norm1`."""
    found = BLOCK.match(name)
    return found[0] if found else None


def _thin(names: Sequence[str], most: int = 20) -> list[str]:
    """Names with gaps, so that at most `most` are written."""
    step = -(-len(names) // most)
    return [name if i % step == 0 else "" for i, name in enumerate(names)]


def colours(names: Sequence[str]) -> list[str | None]:
    """The colour of the network that a name speaks of; None where it speaks of none, or another name of the same."""
    of = [next((colour for word, colour in NETWORKS.items() if re.search(word, name.lower())), None) for name in names]
    return [colour if of.count(colour) == 1 else None for colour in of]


def lines(series: dict[str, np.ndarray], *, x: str, y: str, at: np.ndarray | None = None, ax: Any = None) -> Axes:
    """Curves [points] by name over `at` (default 0, 1, …); a name that starts with `_` is a dashed grey reference."""
    with look():
        (ax,) = panels(1, ax, size=(5.2, 3.4))
        for (name, values), colour in zip(series.items(), colours(list(series)), strict=True):
            reference = name.startswith("_")
            style = {"ls": "--", "lw": 1, "color": "0.5"} if reference else {"marker": "o", "ms": 3, "color": colour}
            ax.plot(np.arange(len(values)) if at is None else at, values, label=name.removeprefix("_"), **style)
        ax.set(xlabel=x, ylabel=y)
        if len(series) > 1:
            ax.legend(frameon=False, fontsize=8.5)
        sns.despine(ax=ax)
        return ax


def dots(values: np.ndarray, *, x: str, y: str, level: float | None = None, ax: Any = None) -> Axes:
    """One dot per entry of [columns, dots], column after column; `level` is a dashed reference line."""
    with look():
        (ax,) = panels(1, ax, size=(5.2, 3.4))
        column = np.repeat(np.arange(len(values)), values.shape[1])
        sns.scatterplot(x=column, y=values.ravel(), ax=ax, s=18, alpha=0.8, linewidth=0)
        if level is not None:
            ax.axhline(level, ls="--", lw=1, color="0.5")
        ax.set(xlabel=x, ylabel=y, ylim=(0, None))
        ax.xaxis.get_major_locator().set_params(integer=True)
        sns.despine(ax=ax)
        return ax


def images(
    maps: Sequence[np.ndarray], titles: Sequence[str], *, axes: Any = None, columns: int = 6, cmap: str | None = CMAP
) -> Any:
    """Small pictures [h, w] or [h, w, 3] in a grid, each on its own colour scale."""
    with look():
        drawn = panels(len(maps), axes, size=(1.7, 1.9), columns=columns)
        for ax, picture, title in zip(drawn, maps, titles, strict=True):
            ax.imshow(picture, cmap=cmap)
            ax.set_title(title, fontsize=8.5)
            ax.set_axis_off()
        return one_or_all(drawn)


def mosaic(tiles: np.ndarray, across: int, gap: float) -> np.ndarray:
    """Tiles [n, h, w, …] as one picture, `across` in a row, lines of the value `gap` between them."""
    n, h, w = tiles.shape[:3]
    sheet = np.full((-(-n // across) * (h + 1), across * (w + 1), *tiles.shape[3:]), float(gap))
    for i, tile in enumerate(tiles):
        top, left = i // across * (h + 1), i % across * (w + 1)
        sheet[top : top + h, left : left + w] = tile
    return sheet[:-1, :-1]
