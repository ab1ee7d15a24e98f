"""The ledger as files."""

import csv
import io
import json

from claim_samples import reported

from helpers.claims.entries import load
from helpers.claims.ledger_files import as_csv, as_json
from helpers.claims.reports import completed


def rows():
    done = completed(reported().record)
    return [(entry, done if id == "X01" else None) for id, entry in load().items()]


def test_json_has_every_claim_with_rule_and_numbers(invented):
    first, second = json.loads(as_json(rows()))
    assert (first["id"], first["verdict"], first["holds_by"]) == ("X01", "holds", "learned")
    assert first["rule"]["holds"] == "near < 0.3 and gap.low > 0" and first["statement"]["ko"] == "헤드는 가까이 본다."
    assert first["quantities"]["gap"]["values"] == [
        {"network": "trained", "value": 0.5, "low": 0.1, "high": 0.9},
        {"network": "untrained", "value": 0.0, "low": 0.0, "high": 0.0}]
    assert second["verdict"] is None


def test_csv_has_a_line_for_every_number(invented):
    lines = list(csv.DictReader(io.StringIO(as_csv(rows()))))
    assert [(line["id"], line["quantity"], line["network"]) for line in lines] == [
        ("X01", "near", "trained"), ("X01", "near", "untrained"), ("X01", "gap", "trained"), ("X01", "gap", "untrained"),
        ("X02", "", "")]
    assert (lines[0]["value"], lines[0]["primary"], lines[2]["low"]) == ("0.2", "1", "0.1")
