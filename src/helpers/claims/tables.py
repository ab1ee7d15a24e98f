"""Tables of the papers as data: every printed number stands once, in tables.yml, with its place."""

from __future__ import annotations

import difflib
from functools import cache
from importlib.resources import files

import pandas as pd
import yaml


@cache
def _all() -> dict[str, dict]:
    return yaml.safe_load(files("helpers").joinpath("claims/tables.yml").read_text(encoding="utf-8"))


def names() -> list[str]:
    """Every table there is: "vit.2", "vit.5", …"""
    return list(_all())


def table(name: str) -> pd.DataFrame:
    """A table as the paper prints it; `.attrs` say its `source` and, in both languages, `what` it shows.

    >>> float(table("vit.5").loc["JFT-300M", "ViT-H/14"])
    88.04
    """
    if name not in _all():
        near = difflib.get_close_matches(name, names(), 3, cutoff=0)
        raise ValueError(f"No table {name!r}; the nearest are {', '.join(near)}. tables.names() lists all.")
    entry = _all()[name]
    frame = pd.DataFrame.from_dict(entry["rows"], orient="index", columns=entry["columns"])
    frame.attrs = {"source": entry["source"], "what": entry["what"], "unit": entry.get("unit", {})}
    return frame
