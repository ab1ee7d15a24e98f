"""Runs inside the kernel of a notebook that is executed for the site: figures become SVG that a page can restyle.

It is loaded by path before the first cell; readers who run a notebook get the pictures of their own program. Text stays
text and nothing is painted behind it; what would be large (cells, clouds of dots) is a picture inside.
"""

from __future__ import annotations

import io
import json
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.collections import Collection, QuadMesh
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.transforms import Bbox

WIDEST, ALONE = 8.4, 4.7  # inches: about the width of a page; of a single panel, about what a phone can show
MANY = 1200  # dots from which a cloud is a picture
LARGEST = 300_000  # bytes of an SVG
SHARP = 200  # pixels per inch of the pictures inside
PAPER = "#fefefe"  # stands for the colour of the page
SERIES = ("#0072b2", "#c8501e", "#00785a", "#a3417a", "#7d5f00", "#5b6270")  # helpers.plots.PALETTE
STYLE = {"svg.fonttype": "none", "svg.hashsalt": "book", "axes.prop_cycle": mpl.cycler(color=SERIES)}


def start() -> None:
    """From now on, figures of this kernel are shown as SVG, or as a sharp picture where that would be large."""
    from IPython import get_ipython

    plt.switch_backend("module://matplotlib_inline.backend_inline")
    mpl.rcParams.update(STYLE)
    formatters = get_ipython().display_formatter.formatters
    for kind in ("image/png", "image/jpeg", "image/svg+xml", "application/pdf"):
        formatters[kind].pop(Figure, None)
    formatters["image/svg+xml"].for_type(Figure, svg)
    formatters["image/png"].for_type(Figure, png)


def svg(figure: Figure) -> str | None:
    """The figure as SVG; in its first comment, where it may be cut into pieces that stand below each other."""
    prepare(figure)
    text, cuts = draw(figure)
    if len(text) > LARGEST:
        for axes in figure.axes:
            for artist in [*axes.collections, *axes.lines, *axes.patches]:
                artist.set_rasterized(True)
        text, cuts = draw(figure)
    return f"<!-- {json.dumps({'cuts': cuts})} -->\n{text}" if len(text) <= LARGEST else None


def png(figure: Figure) -> bytes | None:
    """The figure as a picture, for the few whose SVG would be too large."""
    if svg(figure) is not None:
        return None
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=SHARP, bbox_inches="tight")
    return out.getvalue()


def prepare(figure: Figure) -> None:
    """No paper behind the figure, pixels as pixels, no figure wider than its place."""
    fit(figure)
    for axes in figure.axes:
        if mpl.colors.to_hex(axes.get_facecolor()) == "#ffffff":
            axes.set_facecolor("none")
        for artist in axes.collections:
            artist.set_rasterized(artist.get_rasterized() or is_large(artist))
        for image in axes.images:
            if isinstance(image, AxesImage) and max(image.get_size()) < 200:
                image.set_interpolation("none")  # kept with its own few pixels, which a browser draws sharp
    for legend in filter(None, [*figure.legends, *(axes.get_legend() for axes in figure.axes)]):
        legend.get_frame().set_facecolor(PAPER)
    figure.patch.set_alpha(0)
    if cuttable(figure):
        for axes in figure.axes:
            axes.tick_params(labelleft=axes.yaxis.get_tick_params().get("left", True))  # each piece stands by itself


def fit(figure: Figure) -> None:
    """Make a wide figure smaller, its text not: what is wide on paper is illegible on a phone."""
    width, height = figure.get_size_inches()
    if len([axes for axes in figure.axes if not is_bar(axes)]) == 1 and width > ALONE:
        figure.set_size_inches(ALONE, max(min(height, 3.4), height * ALONE / width))
    elif width > WIDEST:
        figure.set_size_inches(WIDEST, height * WIDEST / width)


def is_large(artist: Collection) -> bool:
    """Whether a collection has so many parts that it is better kept as a picture."""
    return isinstance(artist, QuadMesh) or max(len(artist.get_offsets()), len(artist.get_paths())) > MANY


def draw(figure: Figure) -> tuple[str, list[float]]:
    """The SVG and its cuts, in points from the left edge."""
    figure.canvas.draw()
    whole = figure.get_tightbbox(figure.canvas.get_renderer())
    whole = Bbox(whole.get_points()).padded(0.04)
    out = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "book"}):
        figure.savefig(out, format="svg", dpi=SHARP, bbox_inches=whole, facecolor="none", edgecolor="none",
                       metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    cuts = [round(72 * (x - whole.x0), 1) for x in gaps(figure)] if cuttable(figure) else []
    return out.getvalue(), cuts


def cuttable(figure: Figure) -> bool:
    """Whether the figure is one row of panels, which a narrow page may show below each other."""
    panels = [axes.get_position() for axes in figure.axes if not is_bar(axes)]
    above = getattr(figure, "_suptitle", None) or figure.legends or figure.texts or figure.get_supxlabel()
    side_by_side = len({round(box.x0, 3) for box in panels}) == len(panels) > 1
    return not above and side_by_side and max(p.y0 for p in panels) < min(p.y1 for p in panels)


def is_bar(axes: Any) -> bool:
    """Whether these axes are a colour bar."""
    return axes.get_label() == "<colorbar>"


def gaps(figure: Figure) -> list[float]:
    """Inches from the left at which nothing is drawn, between neighbouring panels with their colour bars."""
    renderer, scale = figure.canvas.get_renderer(), figure.dpi
    boxes = sorted((box.x0 / scale, box.x1 / scale) for axes in figure.axes
                   if (box := axes.get_tightbbox(renderer)) is not None)
    starts = {axes.get_tightbbox(renderer).x0 / scale for axes in figure.axes if not is_bar(axes)}
    found, right = [], boxes[0][1]
    for left, end in boxes[1:]:
        if left > right and left in starts:
            found.append((left + right) / 2)
        right = max(right, end)
    return found
