"""`python -m benchmarks` runs everything and writes RESULTS.md; with `--only NAME …` a part, and only prints it."""

from __future__ import annotations

import argparse
import os
import platform
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy  # noqa: E402
import sklearn  # noqa: E402
import timm  # noqa: E402
import torch  # noqa: E402

from . import growth, measure, peers  # noqa: E402
from .cases import CASES  # noqa: E402

RESULTS = Path(__file__).with_name("RESULTS.md")


def processor() -> str:
    """The processor's name where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def versions() -> str:
    found = {"Python": platform.python_version(), "torch": torch.__version__, "timm": timm.__version__,
             "numpy": numpy.__version__, "scikit-learn": sklearn.__version__, **peers.installed()}
    return f"{processor()}, one thread; " + ", ".join(f"{name} {version}" for name, version in found.items()) + "."


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=[*CASES, "growth"], default=[*CASES, "growth"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-memory", action="store_true", help="only time and error")
    parser.add_argument("--memory", nargs=2, metavar=("CASE", "METHOD"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.memory:
        case_name, method = arguments.memory
        measure.print_peak(CASES[case_name](), method)
        return
    parts = []
    for name in arguments.only:
        if name == "growth":
            parts.append(growth.table(arguments.rounds))
        else:
            case = CASES[name]()
            rows = measure.run(case, arguments.rounds, case.warm_up is not None and not arguments.no_memory, name)
            parts.append(measure.table(case, rows))
        print(parts[-1], "\n", flush=True)
    if len(parts) == len(CASES) + 1:
        intro = ("Written by `make bench`. CPU seconds (not wall time) of one thread, methods in turn, the least of "
                 f"{arguments.rounds} rounds (packages that need minutes: one round). Memory: peak of a fresh process "
                 "above that of the bare forward (or loop). " + versions())
        RESULTS.write_text("# Benchmarks\n\n" + intro + "\n\n" + "\n\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
