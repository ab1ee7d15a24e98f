"""What a run writes: small files, whole or not there, without names of places."""

from __future__ import annotations

import os

import numpy as np

from helpers.paper.results import write
from paper_toys import SETTINGS, read


def test_results_are_small_and_name_no_place(place, results):
    texts = [path.read_text(encoding="utf-8") for path in results.iterdir()]
    assert sum(map(len, texts)) < 350_000 * (1 + SETTINGS["draws"])
    for text in texts:
        assert str(place) not in text and os.sep + "tmp" not in text and "safetensors" not in text
        assert "NaN" not in text and "Infinity" not in text
    assert not list(results.glob("*.part"))


def test_numbers_are_written_with_four_digits_and_what_is_none_is_null(tmp_path):
    write(tmp_path / "new" / "x.json", {"a": np.array([1.23456, np.nan]), "b": (float("inf"), 7), "c": {"d": "text"}})
    assert read(tmp_path / "new" / "x.json") == {"a": [1.235, None], "b": [None, 7], "c": {"d": "text"}}
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["x.json"]
