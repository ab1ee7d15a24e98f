"""What the repository says of itself is true: the map, the version, the addresses, the packages."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import helpers

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "helpers"
CONDA_NAMES = {"matplotlib-base": "matplotlib", "pytorch-cpu": "torch", "seaborn-base": "seaborn"}
COMES_WITH = {"ipython": "ipywidgets", "packaging": "lazy-loader", "traitlets": "ipywidgets"}  # in Binder's environment


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def listed(name: str) -> list[Requirement]:
    """A list of packages in pyproject.toml; Python 3.10 has no reader of TOML."""
    (inside,) = re.findall(rf"^{name} = \[\n(.*?)^\]", text("pyproject.toml"), re.MULTILINE | re.DOTALL)
    return [Requirement(found) for found in re.findall(r'^  "([^"]+)"', inside, re.MULTILINE)]


def names(requirements: list[Requirement]) -> set[str]:
    return {canonicalize_name(requirement.name) for requirement in requirements}


def imports(path: Path) -> Iterator[str]:
    """Absolute names of the modules that a file imports, `helpers.metrics` for `from ..metrics import cka`."""
    parents = path.relative_to(PACKAGE.parent).parts[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = parents[: len(parents) - node.level + 1] if node.level else ()
            yield from (".".join([*above, *filter(None, [node.module]), alias.name]) for alias in node.names)


def test_map_of_the_rooms_is_true():
    rows = re.findall(r"^\| `(\w+)` \|.*\| ([^|]+) \|$", text("CONTRIBUTING.md"), re.MULTILINE)
    said = {room: set(allowed.replace("–", "").replace(",", " ").split()) for room, allowed in rows}
    rooms = {folder.parent.name for folder in PACKAGE.glob("*/__init__.py")}
    assert said.keys() == rooms
    for room in sorted(rooms):
        used = {name.split(".")[1] for path in (PACKAGE / room).rglob("*.py") for name in imports(path)
                if name.startswith("helpers.")}
        inside = used & (rooms | {"plots"}) - {room}  # the others are public names of `helpers`
        assert inside <= said[room], f"{room} imports {', '.join(sorted(inside - said[room]))}"


def test_every_imported_package_is_declared():
    distributions = packages_distributions()
    imported = {name.split(".")[0] for path in PACKAGE.rglob("*.py") for name in imports(path)}
    foreign = imported - set(sys.stdlib_module_names) - {"helpers"}
    undeclared = {name for name in foreign if not {canonicalize_name(found) for found in distributions[name]}
                  & names(listed("dependencies"))}
    assert not undeclared


def test_data_files_travel_with_the_package():
    (inside,) = re.findall(r"^helpers = \[\n(.*?)^\]", text("pyproject.toml"), re.MULTILINE | re.DOTALL)
    packed = {path for pattern in re.findall(r'"([^"]+)"', inside) for path in PACKAGE.glob(pattern)}
    data = {path for path in PACKAGE.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")}
    assert [path.name for path in data - packed] == ["types.d.ts"]  # which only the type checker reads


def test_version_stands_where_readers_look():
    newest = re.search(r"^## (\S+)", text("CHANGELOG.md"), re.MULTILINE)
    assert newest and newest[1] == helpers.__version__
    assert yaml.safe_load(text("CITATION.cff"))["version"] == helpers.__version__


def test_addresses_are_those_of_the_book():
    address = yaml.safe_load(text("_config.yml"))["repository"]["url"]
    assert yaml.safe_load(text("CITATION.cff"))["repository-code"] == address
    for name in ("Repository", "Issues", "Changelog"):
        assert re.search(rf'^{name} = "{re.escape(address)}["/]', text("pyproject.toml"), re.MULTILINE)


@pytest.mark.parametrize("name", ["requirements.lock", "package-lock.json"])
def test_locks_name_no_place_to_download_from(name):
    assert not re.search(r"index-url|find-links|\"resolved\"|registry|@ *(https?|file):", text(name))


def test_lock_holds_what_is_declared():
    locked = {canonicalize_name(name) for name in re.findall(r"^([\w.-]+)==", text("requirements.lock"), re.MULTILINE)}
    wanted = names([*listed("dependencies"), *listed("book"), *listed("dev")])
    assert wanted <= locked


def test_binder_has_what_the_notebooks_need_and_nothing_of_the_build():
    found = [re.match(r"[\w-]+", line)[0] for line in yaml.safe_load(text("binder/environment.yml"))["dependencies"]]
    offered = {canonicalize_name(CONDA_NAMES.get(name, name)) for name in found}
    for requirement in listed("dependencies"):
        name = canonicalize_name(requirement.name)
        assert name in offered or COMES_WITH.get(name) in offered, f"binder/environment.yml lacks {name}"
    assert not offered & (names(listed("dev")) - {"jupyterlab"})
