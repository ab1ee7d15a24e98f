"""`python -m benchmarks` runs everything and writes RESULTS.md; with `--only NAME …` a part, and only prints it."""

from __future__ import annotations

import argparse
import datetime
import os
import platform
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy  # noqa: E402
import sklearn  # noqa: E402
import timm  # noqa: E402
import torch  # noqa: E402

from helpers.metrics.probe import RIDGES  # noqa: E402

from . import growth, kernels, peers, report  # noqa: E402
from .cases import CASES  # noqa: E402
from .measure import Log, measure, print_peak  # noqa: E402

RESULTS = Path(__file__).with_name("RESULTS.md")
UNFINISHED = RESULTS.parents[1] / "_build" / "benchmarks.json"

INTRO = """# Benchmarks

Written by `make bench` on {date}. {versions}

Networks are untrained and images made up, since speed depends on neither. CPU seconds (not wall time) of one thread;
the methods of a case run in turn, and both the times and the ratios to the first method of the case are medians over
{rounds} rounds (packages that need minutes: one round). Memory is the peak of a fresh process above that of the first
method. The error is the largest difference from the same quantity in float64 (receptive field: relative to the loop).

- **CKA** means three matrices, within both networks and across, one tap per block: `helpers` needs one call, the other
  packages three. *forward* is both networks' bare forward pass. *Without the forward passes* the networks hand out
  features computed before, so that only the cost of the libraries remains.
- **Attention distance** is compared with timm's AttentionExtract, which keeps the maps, and the same arithmetic.
- **Receptive field**: the loop takes one backward pass per channel, written by hand.
- **Probes**: one for every token of every layer, λ chosen among {ridges}. The loops run over scikit-learn's
  RidgeClassifier for every probe and λ with a held-out fifth, and over its RidgeClassifierCV; both were timed on a part
  of the probes.
"""


def processor() -> str:
    """The processor's name where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def versions() -> str:
    """One sentence: processor, threads, packages."""
    found = {"Python": platform.python_version(), "torch": torch.__version__, "timm": timm.__version__,
             "numpy": numpy.__version__, "scikit-learn": sklearn.__version__, **peers.installed()}
    return f"{processor()}, one thread; " + ", ".join(f"{name} {version}" for name, version in found.items()) + "."


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=[*CASES, "growth"], default=[*CASES, "growth"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--again", action="store_true", help="forget what an unfinished run has measured")
    parser.add_argument("--memory", nargs=2, metavar=("CASE", "METHOD"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.memory:
        case_name, method = arguments.memory
        print_peak(CASES[case_name](), method)
        return
    if arguments.again:
        UNFINISHED.unlink(missing_ok=True)
    log = Log(UNFINISHED, versions())
    for name in arguments.only:
        if name == "growth":
            growth.measure(arguments.rounds, log)
        else:
            measure(name, CASES[name], arguments.rounds, log)
    text = results(log, arguments.only, arguments.rounds)
    print(text)
    if arguments.only == [*CASES, "growth"]:
        kernels.main()
    if len(arguments.only) == len(CASES) + 1:
        RESULTS.write_text(text)
        UNFINISHED.unlink()


def results(log: Log, only: list[str], rounds: int) -> str:
    """All of RESULTS.md, with the cases in `only`."""
    cases = {name: log.case(name) for name in only if name in CASES}
    intro = INTRO.format(date=datetime.date.today(), versions=versions(), rounds=rounds, ridges=len(RIDGES))
    parts = [intro, report.table(cases), "## What was to be reached", report.targets(cases)]
    if "growth" in only:
        parts += ["## How the cost of CKA grows", "One minibatch without the forward pass, one quantity doubled at a "
                  "time, beside the floating-point operations of the Gram matrices and of all pairs.",
                  growth.table(growth.measure(rounds, log))]
    return "\n\n".join(part.strip() for part in parts) + "\n"


if __name__ == "__main__":
    main()
