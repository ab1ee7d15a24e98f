"""What was changed in the rules after they were fixed: none changes without an entry in amendments.yml.

fixed.yml holds of every claim a fingerprint of its rule, its kind and its primary number as they stood when they were
fixed; it is never rewritten. An amendment carries what is new of the three, so that the last one says what must stand
in NN.yml now.
"""

from __future__ import annotations

import datetime
import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from .entries import LANGUAGES, Entry, control_is_asked, load, rule_of
from .verdicts import VERDICTS

HERE = Path(__file__).parent
FIXED = ("rule", "kind", "primary")
NEEDED = ("id", "date", "old", "new", "what", "why")
Amendment = dict[str, Any]


def fingerprint(entry: Entry) -> str:
    """Eight characters that change with the rule: its parts, its margin, and whether a control is asked."""
    parts = {part: " ".join(rule.split()) for part, rule in rule_of(entry).items()}
    parts |= {part: entry[part] for part in ("testable", "holds") if entry.get(part) is False}
    text = json.dumps([sorted(parts.items()), control_is_asked(entry)], default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


@cache
def amendments() -> tuple[Amendment, ...]:
    """All amendments, oldest first."""
    return tuple(yaml.safe_load((HERE / "amendments.yml").read_text(encoding="utf-8")))


@cache
def fixed() -> dict[str, dict[str, str]]:
    """Rule, kind and primary of every claim as they were first fixed."""
    return yaml.safe_load((HERE / "fixed.yml").read_text(encoding="utf-8"))


def present(entry: Entry) -> dict[str, str | None]:
    """Rule, kind and primary of a claim as they stand now."""
    return {"rule": fingerprint(entry), "kind": entry["kind"], "primary": entry.get("primary")}


def unamended() -> list[str]:
    """What differs from what was fixed and amended, in words; a test asks."""
    found = [f"{id} is fixed but no longer a claim: say so in an amendment" for id in fixed().keys() - load().keys()]
    for id, entry in load().items():
        stands = dict.fromkeys(FIXED) | fixed().get(id, {})
        for amendment in amendments():
            if amendment["id"] == id:
                stands |= {name: amendment[name] for name in FIXED if name in amendment}
        found += [f"{id}: its {name} is now {now!r} but was fixed as {stands[name]!r}; if that is meant, add "
                  f"an entry with `{name}: {now}` to amendments.yml"
                  for name, now in present(entry).items() if now != stands[name]]
    return found


def problems(amendment: Amendment) -> list[str]:
    """What is wrong with an amendment, in words."""
    found = [f"no {name}" for name in NEEDED if not amendment.get(name)]
    found += [f"unknown field {name!r}" for name in sorted(amendment.keys() - {*NEEDED, *FIXED})]
    found += [f"{name} is {amendment.get(name)!r}, no verdict" for name in ("old", "new")
              if amendment.get(name) not in VERDICTS]
    found += [f"{name} must be written in both languages" for name in ("what", "why")
              if not all((amendment.get(name) or {}).get(lang) for lang in LANGUAGES)]
    if not isinstance(amendment.get("date"), datetime.date):
        found.append("its date must read YYYY-MM-DD")
    if amendment.get("id") not in load():
        found.append(f"{amendment.get('id')!r} is no claim")
    return found
