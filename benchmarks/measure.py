"""How everything is measured: CPU seconds of one thread, methods in turn, peak memory in a process of its own.

Every number is written down as soon as it is known, so that a run that was cut short goes on where it stopped.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any


@dataclass(frozen=True)
class Case:
    """Methods that do the same work; the first is the baseline that times are divided by."""

    title: str
    methods: dict[str, Callable[[], Any]]
    judge: Callable[[Any], float] | None = None  # of a method's result
    judged: str = "error"  # what `judge` gives
    once: frozenset[str] = frozenset()  # too slow to repeat
    part: dict[str, float] = field(default_factory=dict)  # share of the work a method does; its time is divided by it
    warm_up: Callable[[], Any] | None = None  # what memory is counted from


class Log:
    """Measurements in a JSON file; those of other versions or of another machine are dropped."""

    def __init__(self, path: Path, versions: str) -> None:
        self.path, self.data = path, {"versions": versions, "cases": {}}
        if path.exists() and (found := json.loads(path.read_text()))["versions"] == versions:
            self.data = found

    def case(self, name: str) -> dict[str, Any]:
        """What is known about one case: seconds {method: [round, …]}, megabytes and judged {method: number}."""
        return self.data["cases"].setdefault(name, {"seconds": {}, "megabytes": {}, "judged": {}})

    def save(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps(self.data, indent=1))


def measure(name: str, make: Callable[[], Case], rounds: int, log: Log) -> None:
    """Every method in turn, `rounds` times, then the memory of each."""
    known = log.case(name)
    if known.get("rounds") == rounds:
        return
    case = make()
    known |= {"title": case.title, "what": case.judged}
    if case.warm_up is not None:
        case.warm_up()
    for turn in range(rounds):
        for method, work in case.methods.items():
            times = known["seconds"].setdefault(method, [])
            if len(times) > turn or (turn and method in case.once):
                continue
            print(f"  {name}: {method}, round {turn + 1}", file=sys.stderr, flush=True)
            start = time.process_time()  # not wall time: what other programs use does not count
            result = work()
            times.append((time.process_time() - start) / case.part.get(method, 1))
            if case.judge is not None and result is not None:
                known["judged"][method] = float(case.judge(result))
            log.save()
    for method in case.methods if case.warm_up is not None else ():
        if method not in known["megabytes"]:
            known["megabytes"][method] = peak_megabytes(name, method)
            log.save()
    known["rounds"] = rounds
    log.save()


def ratio(known: dict[str, Any], method: str, to: str) -> float:
    """How many times longer `method` takes than `to`: the median over rounds, each round with itself."""
    pairs = zip(known["seconds"][method], known["seconds"][to], strict=False)  # slow methods have one round
    return median(a / b for a, b in pairs)


def peak_megabytes(case: str, method: str) -> float:
    """Peak memory above that of the warm-up, of one method in a fresh process."""
    print(f"  {case}: memory of {method}", file=sys.stderr, flush=True)
    command = [sys.executable, "-m", "benchmarks", "--memory", case, method]
    own_block_per_tensor = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536"}  # so that freed memory is given back
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=own_block_per_tensor)
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
