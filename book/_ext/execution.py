"""Where executed notebooks are kept: one jupyter-cache for each state of the code that they import."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def cache_path(root: Path = ROOT) -> Path:
    """The cache for this src/ and requirements.lock; jupyter-cache itself looks at the notebook only."""
    source = [p for p in (root / "src").rglob("*") if p.is_file() and not _made_by_python(p)]
    digest = hashlib.sha256()
    for path in sorted([*source, root / "requirements.lock"]):
        digest.update(f"{path.relative_to(root).as_posix()}\0".encode() + path.read_bytes())
    return root / "_build" / f"executed-{digest.hexdigest()[:12]}"


def _made_by_python(path: Path) -> bool:
    return any(part == "__pycache__" or part.endswith(".egg-info") for part in path.parts)


def _use_cache(app, config) -> None:
    config.nb_execution_cache_path = str(cache_path())
    os.environ["BOOK_STATIC"] = "1"  # explorers give HTML that needs no kernel


def setup(app):
    app.connect("config-inited", _use_cache)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
