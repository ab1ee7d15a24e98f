"""Is what a notebook gave still what it would give? It is when its code, the lock and every file it used are unchanged.

Files count by what they mean to a run: Python without comments and docstrings, the claims of a chapter by
what they want measured (the build writes their words anew), everything else by its bytes.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import json
import re
from collections.abc import Iterable, Set
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import yaml

NOT_OURS = {"_build", "_site", ".git", ".venv", "site-packages", ".ipynb_checkpoints"}
CLAIMS_FOLDER = "src/helpers/claims"
CLAIMS = re.compile(rf"{CLAIMS_FOLDER}/\d\d\.yml")
EVERYWHERE = ("requirements.lock", "bookbuild/drawing.py")
ALWAYS_STALE = "changed while the notebook ran"


@dataclass(frozen=True)
class Record:
    """What a notebook's outputs were made from: digests of its code, of the lock and of all that it used."""

    code: str
    lock: str
    files: dict[str, str | None]  # None: it was looked for and not there
    folders: dict[str, str | None]
    seconds: float

    @staticmethod
    def read(path: Path) -> Record | None:
        """The record in a file; None when there is none, or one of an older make."""
        try:
            return Record(**json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def write(self, path: Path) -> None:
        """Keep it as JSON."""
        path.write_text(json.dumps(asdict(self), indent=1, sort_keys=True) + "\n", encoding="utf-8")


class Digests:
    """Digests of the files below a root, each computed once."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self._known: dict[tuple[str, str], str | None] = {}

    @property
    def lock(self) -> str:
        """Digest of what every notebook runs with: the packages, and how figures are drawn."""
        return " ".join(self.file(name, ()) or "none" for name in EVERYWHERE)

    def file(self, name: str, used: Iterable[str]) -> str | None:
        """Digest of a file; None when it is not there. What a stub says depends on which files are `used`."""
        path = self.root / name
        if path.suffix == ".pyi" and path.is_file():
            return _digest(_names_of_stub(path, {self.root / file for file in used}))
        if ("file", name) not in self._known:
            self._known["file", name] = _file_digest(path, name) if path.is_file() else None
        return self._known["file", name]

    def folder(self, name: str) -> str | None:
        """Digest of the names in a folder; None when it is not there."""
        if ("folder", name) not in self._known:
            self._known["folder", name] = _listing_digest(self.root / name) if (self.root / name).is_dir() else None
        return self._known["folder", name]

    def record(self, code: list[str], used: Iterable[tuple[str, str]], began: float, seconds: float) -> Record:
        """The record of a notebook that ran from `began` on and used these files and folders of the repository."""
        files = sorted({name for kind, name in used if kind == "file"})
        folders = sorted({name for kind, name in used if kind == "folder"})
        return Record(
            code=code_digest(code),
            lock=self.lock,
            files={name: self._unless_younger(name, began, self.file(name, files)) for name in files},
            folders={name: self._unless_younger(name, began, self.folder(name)) for name in folders},
            seconds=round(seconds, 1),
        )

    def _unless_younger(self, name: str, began: float, digest: str | None) -> str | None:
        """A file that was edited during the run: nobody knows which version was read."""
        path = self.root / name
        return ALWAYS_STALE if path.is_file() and path.stat().st_mtime > began else digest

    def why_stale(self, code: list[str], record: Record | None) -> str:
        """Why a notebook has to run, in a few words; empty when it has not."""
        if record is None:
            return "not executed yet"
        if record.code != code_digest(code):
            return "its code changed"
        if record.lock != self.lock:
            then = zip(EVERYWHERE, record.lock.split(), self.lock.split(), strict=False)
            return f"{next((name for name, old, new in then if old != new), EVERYWHERE[-1])} changed"
        changed = [name for name, digest in record.files.items() if self.file(name, record.files) != digest]
        changed += [f"{name}/" for name, digest in record.folders.items() if self.folder(name) != digest]
        if not changed:
            return ""
        others = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        return f"{changed[0]} changed" if not others else f"{changed[0]}{others} changed"


def used_in_repository(log: Path, root: Path) -> set[tuple[str, str]]:
    """What the recorder noted, as (kind, name below the root); bytecode stands for its source."""
    found: set[tuple[str, str]] = set()
    for line in log.read_text(encoding="utf-8").splitlines():
        kind, path = json.loads(line)
        if path.endswith(".pyc"):
            path = _source_of(path)
        name = _name_below(Path(path), root.resolve())
        if name is not None:
            found.add((kind, name))
    return _with_claims_it_asked_for(found)


def _with_claims_it_asked_for(used: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """helpers.claims reads the files of all chapters and says which were asked for: only those count."""
    asked = {("file", name) for kind, name in used if kind == "claims"}
    if not asked:
        return used
    read = {("folder", CLAIMS_FOLDER)} | {(kind, name) for kind, name in used if CLAIMS.fullmatch(name)}
    return used - read | asked


def _source_of(bytecode: str) -> str:
    try:
        return importlib.util.source_from_cache(bytecode)
    except ValueError:
        return bytecode


def _name_below(path: Path, root: Path) -> str | None:
    if not path.is_relative_to(root):
        return None
    name = path.relative_to(root)
    made_by_tools = "__pycache__" in name.parts or any(part.endswith(".egg-info") for part in name.parts)
    return None if made_by_tools or NOT_OURS & set(name.parts) else name.as_posix()


def code_digest(code: list[str]) -> str:
    """Digest of a notebook's code cells."""
    return _digest(json.dumps(code))


def _file_digest(path: Path, name: str) -> str:
    content = path.read_bytes()
    try:
        if path.suffix == ".py":
            return _digest(_without_docstrings(ast.parse(content)))
        if CLAIMS.fullmatch(name):
            return _digest(_what_claims_ask_for(content))
    except (SyntaxError, ValueError, yaml.YAMLError):
        pass  # whoever reads it will complain
    return hashlib.sha256(content).hexdigest()


def _listing_digest(folder: Path) -> str:
    return _digest("\n".join(sorted(child.name for child in folder.iterdir() if child.name != "__pycache__")))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _without_docstrings(module: ast.Module) -> str:
    """What a module does, whatever its comments, its layout and its docstrings say."""
    for node in ast.walk(module):
        match node:
            case ast.Module() | ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef() if ast.get_docstring(node):
                node.body = node.body[1:]
    return ast.dump(module)


def _names_of_stub(path: Path, used: Set[Path]) -> str:
    """The names that a package takes from modules which the notebook used; other names would not have mattered."""
    names = []
    for node in ast.parse(path.read_bytes()).body:
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            module = path.parent.joinpath(*(node.module or "").split("."))
            if {module.with_suffix(".py"), module / "__init__.py"} & used:
                names += [f"{node.module} {alias.name} {alias.asname}" for alias in node.names]
    return "\n".join(sorted(names))


def _what_claims_ask_for(content: bytes) -> str:
    """What a measurement must give: quantities with their ranges, and whether an untrained network is asked.

    Words and rules are applied to the recorded numbers afterwards.
    """
    claims = yaml.safe_load(content)
    if not isinstance(claims, dict):
        raise ValueError("not a mapping of claims")
    entries = {name: entry for name, entry in claims.items() if isinstance(entry, dict)}
    asked = {name: [entry.get("kind"), "no_control" in entry, _ranges(entry)] for name, entry in entries.items()}
    return json.dumps(asked, sort_keys=True)


def _ranges(claim: dict[str, Any]) -> dict[str, Any]:
    return {name: (quantity or {}).get("range") for name, quantity in (claim.get("quantities") or {}).items()}
