"""The estimate of what the paper's setting costs."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.paper import cost
from helpers.paper.stored import RESULTS
from paper_toys import read

ROOT = Path(__file__).resolve().parents[3]


def test_counts_on_file_are_those_of_the_networks():
    on_file = read(RESULTS / "cost.json")
    assert set(on_file) == set(cost.COUNTED)
    counted = cost.count("resnet50_bit")
    assert counted == on_file["resnet50_bit"]
    assert counted["features"] == 3 * 256 * 56**2 + 4 * 512 * 28**2 + 6 * 1024 * 14**2 + 3 * 2048 * 7**2


def test_hours_follow_the_formula_on_the_page():
    (device,) = [cost.DEVICES["T4"]]
    one = {"flops": 35e9, "features": 1.8e6}
    expected = 20 * 10240 * ((35e9 + 2 * 1024 * 1.8e6) / (0.4 * 8.1e12) + 16 * 1.8e6 / 320e9) / 3600
    assert cost.hours([one], device) == pytest.approx(expected)
    text = (ROOT / "book" / "pages" / "full_size.md").read_text(encoding="utf-8")
    assert text.count(r"\frac{F + 2np}{0.4\,R} + \frac{16\,p}{B}") == 2
    assert (cost.EFFICIENCY, 4 * cost.REREAD, cost.BATCH, cost.PASSES * cost.IMAGES) == (0.4, 16, 1024, 204_800)
