"""Where things are. Functions that build take the root of a repository, so that tests can give them a small one."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LANGUAGES = ("en", "ko")


class BuildError(Exception):
    """Something the author can mend; the message says what and where."""


def relative(path: Path, root: Path = ROOT) -> Path:
    """The path as a reader would type it at the root."""
    return path.relative_to(root) if path.is_relative_to(root) else path


def notebooks(root: Path, language: str) -> Path:
    """The committed notebooks and pages of a language, without outputs."""
    return root / "notebooks" / language


def executed(root: Path) -> Path:
    """The English notebooks with their outputs, each beside a record of what it used. Only bookbuild.execute writes."""
    return root / "_build" / "executed"


def chapters(numbers: list[str], root: Path = ROOT) -> list[Path]:
    """The English notebooks with these numbers ("18"), or all of them when there are no numbers."""
    found = sorted(notebooks(root, "en").glob("*.ipynb"))
    unknown = set(numbers) - {path.name[:2] for path in found}
    if unknown:
        named = ", ".join(sorted(unknown))
        raise BuildError(f"There is no chapter {named} in notebooks/en; give two digits, such as 18.")
    return [path for path in found if not numbers or path.name[:2] in numbers]
