"""Figures with one look. Their text is symbols, units and layer names, so one figure serves every language."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
from matplotlib.axes import Axes

CMAP = "magma"
PALETTE = "colorblind"


@contextmanager
def look() -> Iterator[None]:
    """The book's style for figures made inside; `sns.set_theme` would change every later one and the fonts."""
    style = {**sns.axes_style("ticks"), **sns.plotting_context("notebook", font_scale=0.85)}
    style = {key: value for key, value in style.items() if key not in ("font.family", "font.sans-serif")}
    cycle = mpl.rcsetup.cycler(color=sns.color_palette(PALETTE))
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
            sns.heatmap(
                values, ax=ax, cmap=CMAP, vmin=limits[0], vmax=limits[1], mask=np.isnan(values), square=True,
                xticklabels=_thin(columns), yticklabels=_thin(rows), cbar_kws={"label": label, "shrink": 0.8},
            )
            ax.invert_yaxis()
            ax.tick_params(length=0, labelsize=7)
            ax.tick_params(axis="x", rotation=90)
            ax.tick_params(axis="y", rotation=0)
        return one_or_all(drawn)


def _thin(names: Sequence[str], most: int = 20) -> list[str]:
    """Names with gaps, so that at most `most` are written."""
    step = -(-len(names) // most)
    return [name if i % step == 0 else "" for i, name in enumerate(names)]


def lines(series: dict[str, np.ndarray], *, x: str, y: str, at: np.ndarray | None = None, ax: Any = None) -> Axes:
    """Curves [points] by name over `at` (default 0, 1, …); a name that starts with `_` is a dashed grey reference."""
    with look():
        (ax,) = panels(1, ax, size=(5.2, 3.4))
        for name, values in series.items():
            reference = name.startswith("_")
            style = {"ls": "--", "lw": 1, "color": "0.5"} if reference else {"marker": "o", "ms": 3}
            ax.plot(np.arange(len(values)) if at is None else at, values, label=name.removeprefix("_"), **style)
        ax.set(xlabel=x, ylabel=y)
        if len(series) > 1:
            ax.legend(frameon=False, fontsize=8)
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
            ax.set_title(title, fontsize=8)
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
