"""A few members of the zoo, measured beside plain hooks as `make zoo` measures all of them."""

from __future__ import annotations

import json

import pytest

from benchmarks.zoo import CHOSEN, RESULTS, examine, is_wrong, networks


@pytest.mark.parametrize("family", CHOSEN["quick"])
def test_a_family_is_measured_right_or_refused_with_the_reason(family):
    for network in networks([family]):
        row = examine(*network)
        assert not is_wrong(row) and row["cka"] == "measured", row


def test_every_module_of_timm_is_in_the_zoo():
    from timm.models import _registry

    assert set(CHOSEN["timm"]) >= set(_registry._module_to_models) - {"sample"}


@pytest.mark.skipif(not RESULTS.exists(), reason="make zoo has not been run")
def test_nothing_in_the_stored_table_is_wrong():
    rows = json.loads(RESULTS.read_text())["rows"]
    assert not [row["network"] for row in rows if is_wrong(row)]
