"""Explorers made for tests, and how their pages and packed arrays are read."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import ClassVar

import numpy as np
import traitlets

from helpers.explore.base import Explorer
from helpers.explore.traits import SHOWN, Choice, Index

LAYERS = {"vit": ["blocks.0", "blocks.1", "blocks.2"], "resnet": ["stages.0"]}


class Labelled(Explorer):
    """An explorer whose state is a text and some bytes."""

    name: ClassVar[str] = "labelled"
    scripts: ClassVar[tuple[str, ...]] = ("cka_sample.js", "cka_bias.js")
    text = traitlets.Unicode().tag(**SHOWN)
    image = traitlets.Dict().tag(**SHOWN)


class Layered(Labelled):
    """An explorer with a model and one of its layers."""

    model = Choice(lambda w: w.about)
    layer = Index(lambda w: w.about[w.model])
    token = Index(lambda w: 4, last=True)


class Elements(HTMLParser):
    """All tags of a piece of HTML and the text inside <script>."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.script = ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        self.script += data if self.tags[-1:] == ["script"] else ""


def mounted_state(html: str) -> dict:
    """The state in the call of `explorer.mount`."""
    call = re.search(r"^explorer\.mount\((.*)\);$", Elements(html).script, re.MULTILINE)
    return json.loads(f"[{call[1]}]")[1]


def unpacked(packed: dict) -> np.ndarray:
    """What `unpack` in parts.js reads."""
    codes = np.frombuffer(packed["data"], "<u2" if packed["bytes"] == 2 else np.uint8).reshape(packed["shape"])
    values = packed["low"] + packed["step"] * codes.astype(float)
    return np.where(codes == packed.get("undefined", -1), np.nan, values)


def rounded(values, digits: int = 3) -> np.ndarray:
    return np.vectorize(lambda value: float(f"{value:.{digits}f}"))(values)
