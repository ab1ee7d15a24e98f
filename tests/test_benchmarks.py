"""The benchmarks keep what they have measured, and say truthfully what was reached."""

from __future__ import annotations

import pytest

from benchmarks import growth, report
from benchmarks.measure import Case, Log, measure, ratio


def case(calls: list[str], fails_at: int = 99) -> Case:
    def method(name: str):
        def work() -> float:
            if len(calls) == fails_at:
                raise KeyboardInterrupt
            calls.append(name)
            return 0.5

        return work

    return Case("adding", {name: method(name) for name in ("loop", "helpers", "slow")}, judge=lambda result: 2 * result,
                once=frozenset({"slow"}))


def test_a_run_that_was_cut_goes_on_where_it_stopped(tmp_path, capsys):
    path, calls = tmp_path / "log.json", []
    with pytest.raises(KeyboardInterrupt):
        measure("add", lambda: case(calls, fails_at=4), 2, Log(path, "v1"))
    assert calls == ["loop", "helpers", "slow", "loop"]  # in turn
    measure("add", lambda: case(calls), 2, Log(path, "v1"))
    assert calls == ["loop", "helpers", "slow", "loop", "helpers"]  # the slow one ran in the first round only
    measure("add", lambda: pytest.fail("nothing is left to do"), 2, Log(path, "v1"))
    assert Log(path, "v1").case("add")["judged"] == dict.fromkeys(("loop", "helpers", "slow"), 1.0)
    assert Log(path, "v2").case("add")["seconds"] == {}  # another version measures anew


KNOWN = {"title": "adding", "what": "error", "megabytes": {"forward": 0.0, "helpers": 25.0},
         "judged": {"helpers": 1e-9},
         "seconds": {"forward": [1.0, 10.0, 2.0], "helpers": [1.05, 10.6, 2.1], "pytorch-cka 1": [2.1]}}


def test_ratios_are_taken_within_a_round():
    assert ratio(KNOWN, "helpers", "forward") == pytest.approx(1.05)
    assert ratio(KNOWN, "pytorch-cka 1", "helpers") == pytest.approx(2.0)


def test_the_table_and_the_targets():
    assert "|  | helpers | 2.10 | 1.05 | 25 | 1e-09 |" in report.table({"cka-small": KNOWN})
    lines = report.targets({"cka-small": KNOWN}).splitlines()[2:]
    assert [line.split(" | ")[-1].strip(" |") for line in lines] == ["yes", "yes", "**no**"]  # 25 MB are too many


def test_growth_is_compared_with_the_operations():
    rows = growth.table([[1.0, 4, 16, 2, 4, 2, 4]]).splitlines()[2:]
    assert [row.split(" | ")[4] for row in rows] == ["1.00", "4.00", "16.00", "2.00", "4.00", "2.00", "4.00"]
    assert [row.split(" | ")[5].strip(" |") for row in rows][:3] == ["1.00", "4.00", "16.00"]
