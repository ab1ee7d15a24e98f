"""Progress bars: for long work only, at the rate of images, never on a page."""

from __future__ import annotations

import time

import pytest
import torch

from helpers.runtime import progress
from helpers.runtime.progress import progress_bar, with_progress


def slow():
    """Thirty images in a second and a half."""
    for batch in torch.zeros(30, 1).split(10):
        time.sleep(0.5)
        yield batch


def shown(capfd, show: bool | None) -> str:
    """What is written while the images are counted."""
    assert sum(len(batch) for batch in with_progress(slow(), 30, show)) == 30
    out, err = capfd.readouterr()
    assert out == ""
    return err


def test_long_work_shows_images_per_second(capfd):
    assert "images/s" in shown(capfd, True)
    assert shown(capfd, False) == ""


def test_unasked_a_bar_waits_until_the_work_is_long(capfd, monkeypatch):
    assert shown(capfd, None) == ""
    monkeypatch.setattr(progress, "PATIENCE", 0.7)
    assert "images/s" in shown(capfd, None)


def test_a_page_of_the_book_shows_no_bar(capfd, monkeypatch):
    monkeypatch.setenv("BOOK_STATIC", "1")
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    assert shown(capfd, True) == shown(capfd, None) == ""


@pytest.mark.parametrize("total", [8, None])
def test_a_slow_rate_is_not_turned_upside_down(total):
    with progress_bar(total, show=True) as bar:
        text = bar.format_meter(2.0, total, elapsed=10, unit=bar.unit, bar_format=bar.bar_format)
    assert "0.20 images/s" in text and ("2/8" if total else "2 images") in text
