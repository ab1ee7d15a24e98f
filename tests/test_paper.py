"""`make paper` on toy networks and drawn photos: complete, resumable, honest about what it skips."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml
from PIL import Image
from safetensors.torch import save_file

from helpers import attention_distance, cka, claims, localization, scores
from helpers.inputs.data import photos
from helpers.paper import cost, page
from helpers.paper import run as paper
from helpers.paper.choice import Choice
from helpers.paper.measures import MEASURES, norms
from helpers.paper.networks import Network, find_networks, read_spec
from helpers.paper.results import write

ROOT = Path(__file__).resolve().parents[1]
SRC = ROOT / "src"
sys.path.insert(0, str(ROOT / "book" / "_ext"))
VIT = {"architecture": "vit_tiny_patch16_224",
       "options": {"img_size": 32, "patch_size": 8, "embed_dim": 24, "depth": 4, "num_heads": 4, "num_classes": 0},
       "weights": "vit.safetensors", "note": {"en": "A toy.", "ko": "장난감이다."}}
CNN = {"architecture": "resnet18", "options": {"channels": [4, 8, 8, 16], "stem_width": 8},
       "prepare": {"input_size": [3, 32, 32], "crop_pct": 1.0},
       "set": {"layer4.0.conv1.stride": [1, 1], "layer4.0.downsample.0.stride": [1, 1]}}
SETTINGS = {"images": dict.fromkeys(MEASURES.keys() - {"probes"}, 40), "parts": 2, "batch_size": 8,
            "control": dict.fromkeys(MEASURES.keys() - {"probes"}, 20), "field_blocks": 3,
            "field_channels": 1, "field_batch": 10}


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A folder with a description of two networks, weights for both and 40 photos of two classes."""
    folder = tmp_path_factory.mktemp("paper")
    dice = np.random.default_rng(0)
    for i in range(40):
        path = folder / "photos" / ("cat", "dog")[i % 2] / f"{i:03d}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        coarse = dice.integers(0, 256, (4, 4, 3), dtype=np.uint8)
        Image.fromarray(coarse).resize((32, 32), Image.BILINEAR).save(path)
    spec = {"networks": {"toy_vit": VIT, "toy_cnn": CNN | {"weights": "cnn.safetensors"}}, "settings": SETTINGS}
    (folder / "spec.yml").write_text(yaml.safe_dump(spec, allow_unicode=True), encoding="utf-8")
    for name, facts in (("vit", VIT), ("cnn", CNN)):
        model = Network(name, facts["architecture"], facts["options"]).load(trained=False)
        with torch.no_grad():
            for p in model.parameters():
                p += 0.02 * torch.randn(p.shape, generator=torch.Generator().manual_seed(1))
        save_file(model.state_dict(), folder / f"{name}.safetensors")
    return folder


def arguments(place: Path, results: Path, models: str = "toy_vit,toy_cnn", spec: str = "spec.yml") -> list[str]:
    return [models, str(place / "photos"), "--spec", str(place / spec), "--results", str(results), "--name", "toy"]


@pytest.fixture(scope="module")
def results(place, tmp_path_factory) -> Path:
    """The folder of a complete run."""
    folder = tmp_path_factory.mktemp("results")
    paper.main(arguments(place, folder))
    return folder / "toy"


def read(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


# ---- what a run leaves ------------------------------------------------------------------------------------------


def test_every_measurement_is_there_or_says_why_not(results):
    found = {path.stem: read(path) for path in results.glob("*.json")}
    about = found.pop("run")
    one = {name for name, measure in MEASURES.items() if len(measure.kinds) == 1}
    expected = {f"{name}.{network}" for name in one for network in ("toy_vit", "toy_cnn")}
    expected |= {f"{name}.toy_vit.toy_cnn" for name in MEASURES.keys() - one}
    assert set(found) == expected | {f"{name}.untrained" for name in expected}
    skipped = {name.removesuffix(".untrained"): result["skipped"]["en"] for name, result in found.items()
               if "skipped" in result}
    assert skipped.keys() == {"attention.toy_cnn", "cuts.toy_cnn", "accuracy.toy_vit"}
    assert "kind of network" in skipped["attention.toy_cnn"] and "1,000 classes" in skipped["accuracy.toy_vit"]
    for result in found.values():
        if "skipped" not in result:
            assert result["numbers"]
            assert result["images"] == (40 if result["trained"] or result["measure"] == "probes" else 20)
            assert all(value["low"] <= value["value"] <= value["high"] for value in result["numbers"].values()
                       if value["value"] is not None)
    assert about["images"]["photos"] == 40 and about["images"]["classes"] == 2
    assert about["networks"]["toy_vit"]["note"] == VIT["note"]
    assert about["made_with"]["torch"] == torch.__version__


def test_numbers_are_those_of_the_metrics(place, results):
    described, _ = read_spec(place / "spec.yml")
    networks = find_networks(["toy_vit", "toy_cnn"], described)
    vit, cnn = (network.load() for network in networks.values())
    sets = [photos(place / "photos", model) for model in (vit, cnn)]
    order = Choice(sets[0], SETTINGS).order.view(4, 10)
    parts, for_cnn = ([torch.stack([every[int(i)][0] for i in order[part::2].flatten()]) for part in range(2)]
                      for every in sets)
    distance = [attention_distance(vit, part) for part in parts]
    found = read(results / "attention.toy_vit.json")
    mean = np.mean([one.pixels for one in distance], axis=0)
    np.testing.assert_allclose(found["arrays"]["pixels"], mean, rtol=1e-3)
    lowest = [one.pixels[:2].min() / one.uniform for one in distance]
    assert found["numbers"]["lowest nearest"]["value"] == pytest.approx(np.mean(lowest), rel=1e-3)
    pairs = [cka(vit, x, cnn, other_images=y, batch_size=8) for x, y in zip(parts, for_cnn, strict=True)]
    found = read(results / "similarity.toy_vit.toy_cnn.json")
    np.testing.assert_allclose(found["arrays"]["cross"], np.mean([p.cross for p in pairs], 0), atol=2e-3)
    low_high = np.mean([scores.low_high(p.other) for p in pairs])
    assert found["numbers"]["low_high 1"]["value"] == pytest.approx(low_high, abs=2e-3)


def test_hit_rates_are_those_of_all_images_together(place, results):
    (vit,) = (network.load() for network in find_networks(["toy_vit"], read_spec(place / "spec.yml")[0]).values())
    every = photos(place / "photos", vit)
    order = Choice(every, SETTINGS).order.view(4, 10)
    parts = [torch.stack([every[int(i)][0] for i in order[part::2].flatten()]) for part in range(2)]
    maps = np.mean([localization(vit, part, "blocks.3", batch_size=8).maps for part in parts], axis=0)
    interior = [5, 6, 9, 10]  # of 4×4 tokens
    expected = np.mean([maps[token].argmax() == token for token in interior])
    assert read(results / "localization.toy_vit.json")["numbers"]["last hit_rate"]["value"] == expected


def test_a_branch_that_adds_nothing_is_named_and_shown_as_such(place, results, tmp_path):
    (cnn,) = (network.load() for network in find_networks(["toy_cnn"], read_spec(place / "spec.yml")[0]).values())
    torch.nn.init.zeros_(cnn.layer3[1].bn2.weight)
    torch.nn.init.zeros_(cnn.layer3[1].bn2.bias)
    with pytest.warns(UserWarning, match=r"layer3.1.bn2: the branch adds nothing"):
        found = norms([cnn], [photos(place / "photos", cnn)], SETTINGS | {"progress": False})
    shutil.copytree(results, tmp_path / "toy")
    result = read(results / "norms.toy_cnn.json")
    result["numbers"]["conv mean"] = dict.fromkeys(("value", "low", "high"), found.numbers["conv mean"])
    write(tmp_path / "toy" / "norms.toy_cnn.json", result)
    (row,) = [row for row in page.ROWS if row.claim == "R21"]
    shown = page.numbers_of(page.Results(tmp_path / "toy"), row, True, "en")
    assert shown["toy_cnn"] == ["blocks, mean: no finite value"]


def test_results_are_small_and_name_no_place(place, results):
    texts = [path.read_text(encoding="utf-8") for path in results.iterdir()]
    assert sum(map(len, texts)) < 300_000
    for text in texts:
        assert str(place) not in text and os.sep + "tmp" not in text and "safetensors" not in text
        assert "NaN" not in text and "Infinity" not in text
    assert not list(results.glob("*.part"))


# ---- going on, and refusing to ----------------------------------------------------------------------------------


def test_a_cut_run_goes_on_and_measures_only_what_is_missing(place, results, capsys):
    missing = results / "norms.toy_cnn.json"
    others = {path: path.stat().st_mtime_ns for path in results.iterdir() if path != missing}
    before = read(missing)
    missing.unlink()
    paper.main(arguments(place, results.parent))
    said = capsys.readouterr().out
    assert "[1/1] norms of toy_cnn" in said and "Together about" in said
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


def test_torchrun_gives_the_same_numbers(place, results, tmp_path):
    names = ("similarity.toy_vit.toy_cnn", "probes.toy_vit", "fields.toy_cnn", "accuracy.toy_cnn")
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
        assert together["numbers"] == alone["numbers"] and together["arrays"] == alone["arrays"]


# ---- the page ---------------------------------------------------------------------------------------------------

RECORD = {"id": "R10", "verdict": "partly", "measured": [["ViT", 0.123]], "control": None, "control_reason": None,
          "interval": None, "note": None}


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_the_page_shows_numbers_notes_and_reasons(results, lang):
    html = page.runs_html(results.parent, [RECORD], lang)
    nearest = read(results / "attention.toy_vit.json")["numbers"]["lowest nearest"]["value"]
    assert f"{nearest:.3g}" in html and "0.123" in html  # the run's and the lab's
    assert claims.claim("R10")["paper_value"][lang] in html and "19_attention_distance.html#claim-R10" in html
    assert VIT["note"][lang] in html and paper.REASONS["kind"][lang] in html
    assert html.count("<img ") == 2 and 'alt=""' not in html
    assert all(claim.claim in html for claim in page.ROWS)
    hangul = sum("가" <= c <= "힣" for c in html)
    assert hangul > 500 if lang == "ko" else hangul == 0


def test_a_run_that_is_not_complete_is_shown_as_far_as_it_is(results, tmp_path):
    (tmp_path / "toy").mkdir()
    for name in ("run", "attention.toy_vit"):
        (tmp_path / "toy" / f"{name}.json").write_bytes((results / f"{name}.json").read_bytes())
    html = page.runs_html(tmp_path, [], "en")
    assert "R10" in html and "R04" not in html and page.WORDS["en"]["missing"] in html


@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("there", [True, False])
def test_sphinx_builds_the_page_with_and_without_runs(results, tmp_path, monkeypatch, lang, there):
    import full_size
    from sphinx.application import Sphinx
    from sphinx.util.docutils import docutils_namespace, patch_docutils

    folder = results.parent if there else tmp_path / "empty"
    folder.mkdir(exist_ok=True)
    monkeypatch.setattr(full_size, "RESULTS", folder)
    counts = {name: {"flops": 10**10, "features": 10**6} for name in cost.COUNTED}
    cost.write(folder / "cost.json", counts)
    source = tmp_path / "source"
    source.mkdir()
    (source / "index.md").write_text("# T\n\n```{full-size} runs\n```\n\n```{full-size} cost\n```\n", encoding="utf-8")
    options = {"extensions": ["myst_parser", "full_size"], "language": lang}
    with patch_docutils(), docutils_namespace():
        Sphinx(str(source), None, str(tmp_path / "out"), str(tmp_path / "trees"), "html", confoverrides=options,
               status=None, warning=None, freshenv=True, warningiserror=True).build()
    text = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert ("run-toy" in text) is there and (page.WORDS[lang]["none"] in text) is not there
    assert "vit_h14 × resnet152_bit" in text


def test_rows_name_claims_measurements_and_numbers_that_exist(results):
    found = page.Results(results)
    for row in page.ROWS:
        assert row.measure in MEASURES
        shown = [page.numbers_of(found, row, trained, lang) for trained in (True, False) for lang in ("en", "ko")]
        assert all(shown), row.claim
        assert all(set(words) == {"en", "ko"} for words in row.numbers.values())
    assert list(page.MEASURED) == list(MEASURES)


# ---- the estimate -----------------------------------------------------------------------------------------------


def test_counts_on_file_are_those_of_the_networks():
    on_file = read(ROOT / "results" / "cost.json")
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


def test_branches_of_untrained_twins_do_something():
    resnet = Network("r", "resnet18", {"channels": [4, 8, 8, 16]}).load(trained=False)
    assert all(float(block.bn2.weight.detach().abs().min()) > 0 for block in resnet.layer1)
    small = {key: value for key, value in VIT["options"].items() if key != "num_classes"}
    vit = Network("v", "deit3_small_patch16_224", small).load(trained=False)
    assert all((block.ls1.gamma == 1).all() and (block.ls2.gamma == 1).all() for block in vit.blocks)
