"""The measurements as Markdown: one table of everything, and what the library set out to reach."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any

from .measure import ratio

Known = dict[str, Any]
OURS = "helpers"


def table(cases: dict[str, Known]) -> str:
    """One row per case and method; a case's first method is what its times are divided by."""
    lines = ["| what | by | CPU s | × first | peak MB above it | error or accuracy |", "|---|---|---:|---:|---:|---:|"]
    for known in cases.values():
        first = next(iter(known["seconds"]))
        for method, seconds in known["seconds"].items():
            megabytes, judged = known["megabytes"].get(method), known["judged"].get(method)
            cells = [known["title"] if method == first else "", method, f"{median(seconds):.2f}",
                     f"{ratio(known, method, first):.2f}", "" if megabytes is None else f"{megabytes:.0f}",
                     "" if judged is None else f"{judged:.0e}" if known["what"] == "error" else f"{judged:.3f}"]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _times_forward(known: Known) -> float:
    return ratio(known, OURS, "forward")


def _megabytes(known: Known) -> float:
    return known["megabytes"][OURS]


def _slower(start: str) -> Callable[[Known], float]:
    """How many times longer the quickest of the methods whose names begin with `start` takes than the library."""
    return lambda known: min(ratio(known, name, OURS) for name in known["seconds"] if name.startswith(start))


TARGETS: list[tuple[str, str, Callable[[Known], float], str, float]] = [
    ("three CKA matrices, × both forward passes", "cka", _times_forward, "≤", 1.10),
    ("the same three by pytorch-cka, × helpers", "cka", _slower("pytorch-cka"), "≥", 1.9),
    ("CKA without forward passes by torch-cka, × helpers", "cost", _slower("torch-cka"), "≥", 15),
    ("CKA, peak MB above the forward passes", "cka", _megabytes, "≤", 20),
    ("attention distance, × forward pass", "attention", _times_forward, "≤", 1.2),
    ("attention distance, peak MB above the forward pass", "attention", _megabytes, "≤", 20),
    ("probes by scikit-learn in a loop over probes and λ, × helpers", "probe", _slower("scikit-learn, loop over p"),
     "≥", 20),
]


def targets(cases: dict[str, Known]) -> str:
    """What was to be reached, and what was measured in each case it concerns."""
    lines = ["| target | | case | measured | reached |", "|---|---:|---|---:|---|"]
    for text, kind, value, sign, bound in TARGETS:
        for name, known in cases.items():
            if name.startswith(kind):
                try:
                    measured = value(known)
                except ValueError:  # that package is not installed
                    continue
                reached = "yes" if (measured <= bound if sign == "≤" else measured >= bound) else "**no**"
                lines.append(f"| {text} | {sign} {bound:g} | {name} | {measured:.2f} | {reached} |")
    return "\n".join(lines)
