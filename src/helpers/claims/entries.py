"""The claims of the papers, a file per chapter: NN.yml beside this module says of each what follows.

    chapter: 19_attention_distance
    R10:
      paper: raghu                           # or vit, background
      section: "§5, Fig. 3"
      kind: learned                          # learned effect · architecture: holds without training · arithmetic
      evidence: E                            # E run on weights · T trained in the book · D arithmetic or document check
      statement: {en: …, ko: …}
      paper_value: {en: …, ko: …}            # what the paper itself reports; it says so where a number is ours
      test: {en: …, ko: …}                   # how a chapter decides, in words
      quantities:                            # what the judge returns, in the order in which a card shows it
        nearest: {en: …, ko: …, range: [0, 2]}
      primary: nearest                       # the one number that decides first
      margin: 0.05                           # how large "no difference" may be; a rule reads it as `margin`
      testable: farthest > 0.5               # otherwise the claim cannot be tested here; or `testable: no`
      holds: nearest < 0.3                   # the rule (rules.py), for every network; `no`: it cannot hold here
      partly: nearest < 0.6                  # asked in this order: testable, holds, partly, inconclusive, else fails
      inconclusive: nearest.low < 0.3        # neither shown nor refuted: the interval holds both answers
      threshold: {en: …, ko: …}              # where the rule's numbers come from: the paper, or why this grid can pass
      no_control: {en: …, ko: …}             # why no untrained network is asked, where that is so
      note: {en: …, ko: …}                   # {name:.2f} stands for a fact that `report` is given
"""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from . import rules

HERE = Path(__file__).parent
LANGUAGES = ("en", "ko")
KINDS = ("learned", "architecture", "arithmetic")
EVIDENCE = ("E", "T", "D", "E/T")
PARTS = ("testable", "holds", "partly", "inconclusive")  # of a rule, in the order in which they are asked
TEXTS = ("statement", "paper_value", "test", "threshold", "note", "no_control")
NEEDED = ("paper", "section", "kind", "evidence", "statement", "paper_value", "test", "quantities")
FIELDS = {*NEEDED, *PARTS, "primary", "margin", *TEXTS}
Entry = dict[str, Any]


def _read(path: Path) -> dict[str, Entry]:
    table = yaml.safe_load(path.read_text(encoding="utf-8"))
    chapter = table.pop("chapter")
    return {id: {"id": id, "chapter": chapter, **entry} for id, entry in table.items()}


@cache
def invented() -> dict[str, Entry]:
    """Claims of no paper: chapter 0 explains cards with them, and no ledger counts them."""
    return _read(HERE / "examples.yml")


@cache
def _all() -> dict[str, Entry]:
    found: dict[str, Entry] = {}
    for path in sorted(HERE.glob("[0-9][0-9].yml")):
        found |= _read(path)
    return dict(sorted(found.items(), key=lambda item: ("BVR".index(item[0][0]), item[0])))


def load() -> dict[str, Entry]:
    """All claims by id: background (B), the ViT paper (V), Raghu et al. 2021 (R)."""
    _announce(_all().values())
    return dict(_all())


def _announce(entries: Iterable[Entry]) -> None:
    """Say which files were asked for: all are read at once, and a notebook depends on those it asks for only."""
    for number in sorted({entry["chapter"][:2] for entry in entries}):
        sys.audit("helpers.claims.used", str(HERE / f"{number}.yml"))  # bookbuild/recorder.py listens


def claim(id: str) -> Entry:
    """One claim; an unknown id names its nearest neighbours."""
    if id in invented():
        return invented()[id]
    if id not in _all():
        near = difflib.get_close_matches(id[:1].upper() + id[1:].zfill(2), _all(), n=3, cutoff=0)
        raise ValueError(f"unknown claim {id!r}; the nearest ids are {', '.join(near)}")
    _announce([_all()[id]])
    return _all()[id]


def of_chapters(chapters: str | list[str]) -> tuple[str, ...]:
    """Ids of the claims of one chapter ("18") or several, in order."""
    numbers = [chapters] if isinstance(chapters, str) else chapters
    ids = tuple(id for id, entry in _all().items() if entry["chapter"][:2] in numbers)
    if not ids:
        raise ValueError(f"no claims in chapter {', '.join(numbers)}; give two digits, such as '18'")
    _announce(_all()[id] for id in ids)
    return ids


def called(entry: Entry, lang: str) -> dict[str, str]:
    """What each quantity of a claim is called."""
    return {name: quantity[lang] for name, quantity in entry["quantities"].items()}


def rule_of(entry: Entry) -> dict[str, str]:
    """The parts of a claim's rule that there are, with its margin as a number."""
    margin = str(entry.get("margin", "margin"))
    return {part: re.sub(r"\bmargin\b", margin, entry[part]) for part in PARTS if isinstance(entry.get(part), str)}


def control_is_asked(entry: Entry) -> bool:
    """Whether untrained networks are measured: not for tables of a paper, nor where a claim says why not."""
    return entry["kind"] != "arithmetic" and "no_control" not in entry


def problems(entry: Entry) -> list[str]:
    """What is wrong with an entry, in words; a test asks all of them."""
    found = [f"unknown field {name!r}" for name in sorted(entry.keys() - FIELDS - {"id", "chapter"})]
    found += [f"no {name}" for name in NEEDED if not entry.get(name)]
    found += [f"{name} is {entry[name]!r}, not one of {', '.join(known)}"
              for name, known in {"kind": KINDS, "evidence": EVIDENCE}.items() if entry.get(name) not in (None, *known)]
    found += _without_primary(entry)
    texts = {name: entry[name] for name in TEXTS if name in entry} | dict(entry.get("quantities") or {})
    found += [f"{name} must be written in both languages" for name, text in texts.items()
              if not isinstance(text, dict) or not all(text.get(lang) for lang in LANGUAGES)]
    if entry.get("testable") is not False and not rule_of(entry).keys() & {"holds", "partly"}:
        found.append("no rule: say when it `holds`, or `testable: no`")
    for part, rule in rule_of(entry).items():
        try:
            unknown = rules.names(rule) - set(entry.get("quantities") or {})
        except ValueError as error:
            found.append(str(error))
            continue
        found += [f"{part} reads {name!r}, which is no quantity of it" for name in sorted(unknown)]
    return found


def _without_primary(entry: Entry) -> list[str]:
    """A learned effect names the number that decides first; whoever names one must have it, and read it."""
    primary, rule = entry.get("primary"), rule_of(entry)
    if primary is None:
        asked = entry.get("kind") == "learned" and entry.get("testable") is not False
        return ["no primary: say which quantity decides first"] if asked else []
    if primary not in (entry.get("quantities") or {}):
        return [f"its primary is {primary!r}, which is no quantity of it"]
    read = any(re.search(rf"\b{primary}\b", text) for text in rule.values())
    return [] if read else [f"no part of its rule reads its primary, {primary!r}"]
