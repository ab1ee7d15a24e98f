"""What lies in results/, as cards and the ledger read it."""

import json
import os
import subprocess
import sys

from helpers.claims.intervals import Interval
from helpers.paper import stored


def run_in(folder, **draws):
    """A run with one attention measurement: {"trained": …, "untrained": …}, each the number of the nearest head."""
    place = folder / "toy"
    place.mkdir()
    (place / "run.json").write_text(json.dumps({"networks": {"toy_vit": {"kind": "vit"}}}))
    for state, nearest in draws.items():
        numbers = {"lowest_nearest": {"value": nearest, "low": nearest, "high": nearest},
                   "lowest_farthest": {"value": 0.9, "low": 0.9, "high": 0.9}}
        result = {"measure": "attention", "networks": ["toy_vit"], "trained": state == "trained", "draw": None,
                  "numbers": numbers}
        (place / f"attention.toy_vit.{state}.json").write_text(json.dumps(result))


def test_evidence_is_judged_by_the_claims_own_rule(tmp_path):
    run_in(tmp_path, trained=0.1, untrained=0.95)
    (one,) = stored.evidence(tmp_path)["R10"]
    assert (one["run"], one["networks"], one["trained"]["verdict"]) == ("toy", ["toy_vit"], "holds")
    assert one["trained"]["values"]["lowest_nearest"] == Interval(0.1, 0.1, 0.1)
    assert [draw["values"]["lowest_nearest"].value for draw in one["untrained"]] == [0.95]


def test_a_result_that_changes_is_read_again(tmp_path):
    run_in(tmp_path, trained=0.1)
    path = tmp_path / "toy" / "attention.toy_vit.trained.json"
    assert stored.evidence(tmp_path)["R10"][0]["trained"]["verdict"] == "holds"
    path.write_text(path.read_text().replace("0.1", "0.8"))
    os.utime(path, ns=(1, 1))
    assert stored.evidence(tmp_path)["R10"][0]["trained"]["verdict"] != "holds"


def test_no_results_no_evidence(tmp_path):
    assert stored.evidence(tmp_path) == {}


def test_reading_results_needs_no_torch():
    code = "import sys, helpers.paper.stored; sys.exit('torch' in sys.modules or 'matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
