"""`make paper` on toy networks and drawn photos: complete, resumable, honest about what it skips."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import yaml
from PIL import Image

from helpers.paper import run as paper
from helpers.paper.measures import MEASURES
from paper_toys import VIT, arguments, read

ROOT = Path(__file__).resolve().parents[3]
SRC = ROOT / "src"


# ---- what a run leaves ------------------------------------------------------------------------------------------


def test_every_measurement_is_there_or_says_why_not(results):
    found = {path.stem: read(path) for path in results.glob("*.json")}
    about = found.pop("run")
    one = {name for name, measure in MEASURES.items() if len(measure.kinds) == 1}
    expected = {f"{name}.{network}" for name in one for network in ("toy_vit", "toy_cnn")}
    expected |= {f"{name}.toy_vit.toy_cnn" for name in MEASURES.keys() - one}
    assert set(found) == expected | {f"{name}.untrained-{draw}" for name in expected for draw in range(2)}
    skipped = {name.partition(".untrained")[0]: result["skipped"]["en"] for name, result in found.items()
               if "skipped" in result}
    assert skipped.keys() == {"attention.toy_cnn", "cuts.toy_cnn", "accuracy.toy_vit"}
    assert "kind of network" in skipped["attention.toy_cnn"] and "1,000 classes" in skipped["accuracy.toy_vit"]
    for result in found.values():
        if "skipped" not in result:
            assert result["numbers"]
            assert result["images"] == (40 if result["trained"] or result["measure"] == "probes" else 20)
            assert all(value["low"] <= value["value"] <= value["high"] for value in result["numbers"].values()
                       if isinstance(value, dict) and value["value"] is not None)
    assert about["images"]["photos"] == 40 and about["images"]["classes"] == 2
    assert about["networks"]["toy_vit"]["note"] == VIT["note"]
    assert about["made_with"]["torch"] == torch.__version__


# ---- going on, and refusing to ----------------------------------------------------------------------------------


def test_a_cut_run_goes_on_and_measures_only_what_is_missing(place, results, capsys):
    missing = results / "norms.toy_vit.toy_cnn.json"
    others = {path: path.stat().st_mtime_ns for path in results.iterdir() if path != missing}
    before = read(missing)
    missing.unlink()
    paper.main(arguments(place, results.parent))
    said = capsys.readouterr().out
    assert "[1/1] norms of toy_vit × toy_cnn" in said and "Together about" in said
    assert read(missing)["numbers"] == before["numbers"]
    assert {path: path.stat().st_mtime_ns for path in others} == others
    paper.main(arguments(place, results.parent))
    assert "[1/" not in capsys.readouterr().out


@pytest.mark.parametrize(("change", "message"), [
    (lambda spec: spec["settings"].update(batch_size=10), "holds a run with other settings"),
    (lambda spec: spec["networks"]["toy_vit"].update(note={"en": "b", "ko": "b"}), "holds a run with other networks"),
    (lambda spec: spec["settings"].update(batches=3), "unknown batches; known are images, control"),
    (lambda spec: spec["settings"]["images"].update(norm=3), "images: unknown norm"),
    (lambda spec: spec["settings"]["control"].update(norms=19), "norms with fewer than 20 images"),
    (lambda spec: spec["networks"]["toy_vit"].update(weight="x"), "toy_vit has unknown weight"),
    (lambda spec: spec["networks"]["toy_vit"].update(weights="x"), "weights of toy_vit are not there"),
    (lambda spec: spec["networks"]["toy_vit"].pop("architecture"), "needs an architecture"),
    (lambda spec: spec["networks"]["toy_vit"].update(set={"blocks.9.x": 1}), "no 'blocks.9.x' that could be set"),
    (lambda spec: spec.update(model=1), "unknown model"),
])
def test_what_is_wrong_or_changed_is_said_in_a_sentence(place, results, change, message):
    spec = yaml.safe_load((place / "spec.yml").read_text(encoding="utf-8"))
    change(spec)
    (place / "changed.yml").write_text(yaml.safe_dump(spec, allow_unicode=True), encoding="utf-8")
    with pytest.raises(SystemExit, match=message):
        paper.main(arguments(place, results.parent, spec="changed.yml"))


def test_other_photos_unknown_networks_and_an_empty_folder_are_refused(place, results, tmp_path):
    with pytest.raises(SystemExit, match="'vit_b17' is neither in SPEC, nor in the zoo"):
        paper.main(arguments(place, results.parent, models="vit_b17"))
    with pytest.raises(SystemExit, match="MODELS is empty"):
        paper.main(arguments(place, results.parent, models=""))
    with pytest.raises(SystemExit, match="No photos below"):
        paper.main([arg if arg != str(place / "photos") else str(tmp_path) for arg in arguments(place, results.parent)])
    photo = place / "photos" / "cat" / "000.png"
    original = photo.read_bytes()
    try:
        Image.new("RGB", (32, 32)).save(photo)
        with pytest.raises(SystemExit, match="holds a run with other images"):
            paper.main(arguments(place, results.parent))
    finally:
        photo.write_bytes(original)


@pytest.mark.slow
def test_torchrun_gives_the_same_numbers(place, results, tmp_path):
    names = ("similarity.toy_vit.toy_cnn", "probes.toy_vit", "fields.toy_vit.toy_cnn", "accuracy.toy_cnn")
    (tmp_path / "toy").mkdir()
    for path in results.iterdir():
        if path.stem not in names:
            (tmp_path / "toy" / path.name).write_bytes(path.read_bytes())
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "-m",
               "helpers.paper", *arguments(place, tmp_path)]
    environment = os.environ | {"PYTHONPATH": str(SRC), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    for name in names:
        alone, together = read(results / f"{name}.json"), read(tmp_path / "toy" / f"{name}.json")
        assert together["made_with"]["processes"] == 2
        assert together["arrays"] == alone["arrays"]
        if name.startswith("probes"):  # ten examples: another order of sums may turn one of 320 answers
            for token, number in alone["numbers"].items():
                assert together["numbers"][token]["value"] == pytest.approx(number["value"], abs=0.01), token
        else:
            assert together["numbers"] == alone["numbers"]


def test_draws_of_random_weights_differ(results):
    first, second = (read(results / f"attention.toy_vit.untrained-{draw}.json") for draw in range(2))
    assert (first["draw"], second["draw"]) == (0, 1) and first["arrays"] != second["arrays"]
