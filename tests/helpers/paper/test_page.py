"""The page of full-size results."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch

from helpers import claims
from helpers.claims.reports import completed
from helpers.inputs.photos import photos
from helpers.paper import cost, page
from helpers.paper import run as paper
from helpers.paper.measures import MEASURES, norms
from helpers.paper.networks import find_networks, read_spec
from helpers.paper.results import write
from paper_toys import SETTINGS, VIT, read


def test_a_branch_that_adds_nothing_is_named_and_shown_as_such(place, results, tmp_path):
    vit, cnn = (network.load() for network in
                find_networks(["toy_vit", "toy_cnn"], read_spec(place / "spec.yml")[0]).values())
    torch.nn.init.zeros_(cnn.layer3[1].bn2.weight)
    torch.nn.init.zeros_(cnn.layer3[1].bn2.bias)
    with pytest.warns(UserWarning, match=r"layer3.1.bn2: the branch adds nothing"):
        norms([vit, cnn], [photos(place / "photos", model) for model in (vit, cnn)], SETTINGS | {"progress": False})
    shutil.copytree(results, tmp_path / "toy")
    name = "norms.toy_vit.toy_cnn.json"
    result = read(results / name)
    result["numbers"]["cls_fall"] = dict.fromkeys(("value", "low", "high"), float("inf"))
    write(tmp_path / "toy" / name, result)
    (row,) = [row for row in page.ROWS if row.claim == "R22"]
    assert "no finite value" in page._numbers_html(page.Results(tmp_path / "toy"), row, True, "en")


STATE = lambda nearest: ["A", [["lowest_nearest", nearest], ["lowest_farthest", 0.9]]]
RECORD = completed({"id": "R10", "trained": [STATE(0.123)], "untrained": [STATE(1.0), STATE(0.99)], "facts": {}})


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_the_page_shows_numbers_notes_and_reasons(results, lang):
    html = page.runs_html(results.parent, [RECORD], lang)
    nearest = read(results / "attention.toy_vit.json")["numbers"]["lowest_nearest"]["value"]
    assert f"{nearest:.3g}" in html and "0.123" in html  # the run's and the lab's
    assert claims.claim("R10")["paper_value"][lang] in html and "19_attention_distance.html#claim-R10" in html
    assert VIT["note"][lang] in html and paper.REASONS["kind"][lang] in html
    assert html.count("<img ") == 3 and 'alt=""' not in html
    assert "trained 0.123" in html or "학습한 신경망 0.123" in html  # in the number line, as it is heard
    assert all(claim.claim in html for claim in page.ROWS)
    hangul = sum("가" <= c <= "힣" for c in html)
    assert hangul > 500 if lang == "ko" else hangul == 0


def test_a_run_that_is_not_complete_is_shown_as_far_as_it_is(results, tmp_path):
    (tmp_path / "toy").mkdir()
    for name in ("run", "attention.toy_vit"):
        (tmp_path / "toy" / f"{name}.json").write_bytes((results / f"{name}.json").read_bytes())
    html = page.runs_html(tmp_path, [], "en")
    assert "<img " not in html and 'class="strip"' in html
    assert "R10" in html and "R04" not in html and page.WORDS["en"]["missing"] in html


@pytest.mark.notebooks
@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("there", [True, False])
def test_sphinx_builds_the_page_with_and_without_runs(results, tmp_path, monkeypatch, lang, there):
    from sphinx.application import Sphinx
    from sphinx.util.docutils import docutils_namespace, patch_docutils

    from bookbuild.sphinx import full_size

    folder = results.parent if there else tmp_path / "empty"
    folder.mkdir(exist_ok=True)
    monkeypatch.setattr(full_size, "RESULTS", folder)
    counts = {name: {"flops": 10**10, "features": 10**6} for name in cost.COUNTED}
    cost.write(folder / "cost.json", counts)
    source = tmp_path / "source"
    source.mkdir()
    (source / "index.md").write_text("# T\n\n```{full-size} runs\n```\n\n```{full-size} cost\n```\n", encoding="utf-8")
    options = {"extensions": ["myst_parser", "bookbuild.sphinx.full_size"], "language": lang}
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
        counts = {len(draws) for trained in (True, False) for draws in page.numbers_of(found, row, trained).values()}
        assert counts == ({1, SETTINGS["draws"]} if row.claim != "R27" else set()), row.claim  # the toy has no classes
        assert row.named("en").keys() == row.named("ko").keys()
    assert list(page.MEASURED) == list(MEASURES)


def test_full_size_is_judged_by_the_chapters_rule(results, tmp_path):
    folder = Path(shutil.copytree(results, tmp_path / "toy"))
    (row,) = [row for row in page.ROWS if row.claim == "R10"]
    task = folder / "attention.toy_vit.json"
    for nearest, verdict in ((0.2, "holds"), (0.5, "partly"), (0.9, "fails")):
        result = read(task)
        result["numbers"]["lowest_nearest"] = dict.fromkeys(("value", "low", "high"), nearest)
        result["numbers"]["lowest_farthest"] = dict.fromkeys(("value", "low", "high"), 1.0)
        write(task, result)
        assert page.verdicts_of(page.Results(folder), row, True) == {"toy_vit": verdict}
    assert "verdict-fails" in page._numbers_html(page.Results(folder), row, True, "ko")


def test_several_untrained_draws_are_shown_as_mean_and_range_and_earn_the_middle_verdict(results, tmp_path):
    folder = Path(shutil.copytree(results, tmp_path / "toy"))
    (row,) = [row for row in page.ROWS if row.claim == "R10"]
    for draw, nearest in enumerate((0.2, 0.8)):
        path = folder / f"attention.toy_vit.untrained-{draw}.json"
        result = read(path)
        result["numbers"]["lowest_nearest"] = dict.fromkeys(("value", "low", "high"), nearest)
        result["numbers"]["lowest_farthest"] = dict.fromkeys(("value", "low", "high"), 1.0)
        write(path, result)
    assert page.verdicts_of(page.Results(folder), row, False) == {"toy_vit": "fails"}
    assert "0.5 (0.2 to 0.8)" in page._numbers_html(page.Results(folder), row, False, "en")


def test_what_all_pairs_share_stands_once(results, tmp_path):
    folder = Path(shutil.copytree(results, tmp_path / "toy"))
    (row,) = [row for row in page.ROWS if row.claim == "R04"]
    pair = read(folder / "similarity.toy_vit.toy_cnn.json")
    pair["networks"] = ["another_vit", "toy_cnn"]
    pair["numbers"]["low_high_vit"]["value"] += 0.5
    write(folder / "similarity.another_vit.toy_cnn.json", pair)
    lines = page._numbers_html(page.Results(folder), row, True, "en").split("<br>")
    named = row.named("en")
    times = lambda key: sum(line.startswith(f"{named[key]}: ") for line in lines)
    assert times("low_high_resnet") == 1 and times("low_high_vit") == 2


def test_no_interval_goes_where_its_number_cannot(results):
    (row,) = [row for row in page.ROWS if row.claim == "R28"]
    stored = {"numbers": {"R28 hit_rate": {"value": 0.9, "low": 0.7, "high": 1.14}}}
    hit_rate = row.values(stored)["hit_rate"]
    assert (hit_rate.low, hit_rate.high) == (0.7, 1)
