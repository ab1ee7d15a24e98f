"""How figures leave a kernel that runs for the site."""

from __future__ import annotations

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

from bookbuild import drawing
from helpers import plots


@pytest.fixture(autouse=True)
def closed():
    """Figures do not outlive their test."""
    with mpl.rc_context({"backend": "agg"}):
        yield
        plt.close("all")


def two_panels():
    figure, axes = plt.subplots(1, 2, figsize=(9, 3), layout="constrained")
    axes[0].plot([1, 2, 3], label="line")
    axes[0].legend()
    axes[1].imshow(np.arange(9.0).reshape(3, 3), interpolation="nearest")
    return figure


def test_the_same_figure_is_the_same_text():
    assert drawing.svg(two_panels()) == drawing.svg(two_panels())


def test_text_stays_text_and_nothing_is_painted_behind_it():
    text = drawing.svg(two_panels())
    assert ">line</text>" in text and "fill: #ffffff" not in text and drawing.PAPER in text


def test_a_row_of_panels_can_be_cut_between_them():
    assert len(drawing.draw(two_panels())[1]) == 1
    assert drawing.draw(plt.subplots(2, 2)[0])[1] == []
    titled = two_panels()
    titled.suptitle("one title for both")
    assert drawing.draw(titled)[1] == []


def test_a_figure_is_no_wider_than_its_place():
    wide, alone = two_panels(), plt.subplots(figsize=(7, 3.5))[0]
    drawing.prepare(wide)
    drawing.prepare(alone)
    assert wide.get_figwidth() == drawing.WIDEST and alone.get_figwidth() == drawing.ALONE


def test_what_would_be_large_is_a_picture_inside():
    figure, ax = plt.subplots()
    ax.scatter(*np.random.default_rng(0).normal(size=(2, 20_000)))
    text = drawing.svg(figure)
    assert len(text) < drawing.LARGEST and "data:image/png" in text


def test_what_stays_too_large_is_a_sharp_picture(monkeypatch):
    monkeypatch.setattr(drawing, "LARGEST", 10)
    figure = two_panels()
    assert drawing.svg(figure) is None and drawing.png(figure).startswith(b"\x89PNG")


def test_colours_are_those_of_the_book():
    assert drawing.SERIES == plots.PALETTE
