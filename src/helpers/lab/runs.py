"""Which networks the lab has: the recipe of every run in runs.yml, and what is known of the shipped weights."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import yaml
from torch import nn

from . import architectures

HERE = Path(__file__).parent
WEIGHTS = HERE.parent / "weights"


def recipes() -> dict[str, dict[str, Any]]:
    """Every run of runs.yml, completed with the defaults."""
    table = yaml.safe_load((HERE / "runs.yml").read_text())
    return {name: _complete(name, table["defaults"], own) for name, own in table["runs"].items()}


def _complete(name: str, defaults: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """One run with all its settings; one that nobody reads would be lost without a word."""
    if strange := own.keys() - defaults.keys() - {"role", "model", "objective"}:
        raise ValueError(f"runs.yml: {name} has unknown {', '.join(sorted(strange))}; known are {', '.join(defaults)}.")
    return defaults | own | {"model": architectures.settings(**own["model"])}


def recipe(name: str) -> dict[str, Any]:
    """One run's recipe; an unknown name lists the known ones."""
    known = recipes()
    if name not in known:
        raise ValueError(f"No run called {name!r} in runs.yml; there are {', '.join(known)}.")
    return known[name]


def untrained(name: str, seed: int | None = None) -> nn.Module:
    """The network of a run before its first step; another seed gives a twin with other random weights."""
    entry = shipped(name)
    run = entry["recipe"] if entry else recipe(name)
    return architectures.build(seed=run["seed"] if seed is None else seed, **run["model"])


def shipped(name: str, folder: Path | None = None) -> dict[str, Any] | None:
    """What is known of one run's weights: recipe, accuracy, hash, curve; None if they are not shipped.

    A file for each run, so that a notebook depends on the runs that it loads and on no other.
    """
    path = (folder or WEIGHTS) / f"{name}.json"
    return json.loads(path.read_text()) if path.is_file() else None


def read_manifest(folder: Path | None = None) -> dict[str, Any]:
    """The entries of all shipped runs, by name."""
    return {path.stem: json.loads(path.read_text()) for path in sorted((folder or WEIGHTS).glob("*.json"))}


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def json_text(content: dict[str, Any]) -> str:
    """As JSON for people and for git: indented, but a row of numbers on one line."""
    number = r"\s*(?:-?[\d.]+(?:e[+-]?\d+)?|null)"
    text = json.dumps(content, ensure_ascii=False, indent=1)
    return re.sub(rf"\[{number}(?:,{number})*\s*\]", lambda row: " ".join(row[0].split()), text) + "\n"
