"""How everything is measured: CPU seconds of one thread, methods in turn, peak memory in a process of its own."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Case:
    """Methods that do the same work; the first is the baseline that times are divided by."""

    title: str
    methods: dict[str, Callable[[], Any]]
    judge: Callable[[Any], float] | None = None  # of a method's result
    judged: str = "max error vs float64"  # what `judge` gives
    once: frozenset[str] = frozenset()  # too slow to repeat
    part: dict[str, float] = field(default_factory=dict)  # share of the work a method does; its time is divided by it
    warm_up: Callable[[], Any] | None = None  # what memory is counted from


@dataclass
class Row:
    """One line of a table."""

    method: str
    seconds: float
    ratio: float
    megabytes: float | None
    error: float | None


def run(case: Case, rounds: int, memory: bool, case_name: str) -> list[Row]:
    """Every method in turn, `rounds` times; the least time of each counts."""
    seconds: dict[str, list[float]] = {name: [] for name in case.methods}
    errors: dict[str, float] = {}
    for turn in range(rounds):
        for name, method in case.methods.items():
            if turn and name in case.once:
                continue
            print(f"  {case.title}: {name}, round {turn + 1}", file=sys.stderr, flush=True)
            start = time.process_time()  # not wall time: other programs on the machine do not count
            result = method()
            seconds[name].append((time.process_time() - start) / case.part.get(name, 1))
            if case.judge is not None and result is not None:
                errors[name] = case.judge(result)
    base = min(seconds[next(iter(case.methods))])
    return [Row(name, min(times), min(times) / base, peak_megabytes(case_name, name) if memory else None,
                errors.get(name)) for name, times in seconds.items()]


def peak_megabytes(case_name: str, method: str) -> float:
    """Peak memory above that of the warm-up, of one method in a fresh process."""
    command = [sys.executable, "-m", "benchmarks", "--memory", case_name, method]
    own_block_per_tensor = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536"}  # so that freed memory is given back
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=own_block_per_tensor)
    return float(done.stdout.split()[-1])


def print_peak(case: Case, method: str) -> None:
    """The other side of `peak_megabytes`: warm up, take the peak of warm-up and method, print the difference."""
    assert case.warm_up is not None
    case.warm_up()
    before, after = (_peak_while(work) for work in (case.warm_up, case.methods[method]))
    print((after - before) / 1024)


def _peak_while(work: Callable[[], Any]) -> int:
    """High-water mark of resident memory in kB while `work` runs (Linux lets it be reset; elsewhere it only grows)."""
    status, reset = Path("/proc/self/status"), Path("/proc/self/clear_refs")
    if not reset.exists():
        work()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    reset.write_text("5")
    work()
    return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM"))


def table(case: Case, rows: list[Row]) -> str:
    """Markdown."""
    base = next(iter(case.methods))
    columns = ["method", "CPU s", f"× {base}"]
    columns += ["peak MB above it"] * (rows[0].megabytes is not None) + [case.judged] * (case.judge is not None)
    lines = [f"### {case.title}", "", f"| {' | '.join(columns)} |", "|---|" + "---:|" * (len(columns) - 1)]
    for row in rows:
        cells = [row.method, f"{row.seconds:.2f}", f"{row.ratio:.2f}"]
        if row.megabytes is not None:
            cells.append(f"{row.megabytes:.0f}")
        if case.judge is not None:
            cells.append("" if row.error is None else f"{row.error:.3f}" if row.error > 0.01 else f"{row.error:.0e}")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
