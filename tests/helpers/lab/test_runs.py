"""The lab's recipes: complete, spelt rightly, and of networks that are small enough to ship."""

from __future__ import annotations

import pytest

from helpers.lab import architectures, runs
from helpers.lab.runs import read_manifest, recipe, recipes, shipped, untrained


def test_recipes_are_complete_and_unknown_names_list_the_known():
    for name, run in recipes().items():
        model = untrained(name)
        assert run["images_seen"] > 0 and run["role"] and run["model"]["kind"] in architectures.BUILDERS
        assert 2 * sum(p.numel() for p in model.parameters()) < 2_000_000, f"{name} would be too large to ship"
    with pytest.raises(ValueError, match="vit_cls"):
        recipe("vit_xxl")


def test_a_setting_that_no_run_has_is_refused(monkeypatch, tmp_path):
    text = (runs.HERE / "runs.yml").read_text().replace("    multiply: float32", "    multiplies: float32", 1)
    (tmp_path / "runs.yml").write_text(text)
    monkeypatch.setattr(runs, "HERE", tmp_path)
    with pytest.raises(ValueError, match=r"runs.yml: vit_cls has unknown multiplies; known are seed, images_seen"):
        recipes()


def test_every_run_that_is_shipped_has_a_file_of_facts(tmp_path):
    assert set(read_manifest()) <= set(recipes())
    assert shipped("vit_cls") == read_manifest()["vit_cls"] and shipped("vit_xxl") is None
    (tmp_path / "mine.json").write_text('{"recipe": {}}')
    assert read_manifest(tmp_path) == {"mine": {"recipe": {}}} and shipped("mine", tmp_path) == {"recipe": {}}
    assert shipped("vit_cls", tmp_path) is None
