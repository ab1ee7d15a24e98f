"""The package's rooms: names that are loaded when used, none that hides a module, no cycle, no long module."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import helpers

PACKAGE = Path(helpers.__file__).parent
ROOMS = sorted(found.name for found in pkgutil.iter_modules(helpers.__path__) if found.ispkg)
PACKAGES = ["helpers", *(f"helpers.{room}" for room in ROOMS)]
MODULES = {".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path
           for path in sorted(PACKAGE.rglob("*.py"))}


def loaded_by(code: str) -> set[str]:
    """The modules that a new process has loaded after running the code."""
    said = subprocess.run([sys.executable, "-c", f"{code}; import sys; print(*sys.modules)"], check=True,
                          capture_output=True, text=True).stdout
    return set(said.splitlines()[-1].split())


def test_importing_the_package_loads_neither_torch_nor_pandas():
    assert not {"torch", "pandas", "matplotlib", "timm"} & loaded_by("import helpers")


def test_a_check_loads_its_own_chapter_only():
    loaded = loaded_by("from helpers.exercises import check; check('19.uniform', 1)")
    chapters = "helpers.exercises.chapter_"
    assert [name for name in loaded if name.startswith(chapters)] == [f"{chapters}19"]


@pytest.mark.parametrize("package", PACKAGES)
def test_no_exported_name_hides_a_module(package):
    module = importlib.import_module(package)
    modules = {found.name for found in pkgutil.iter_modules(module.__path__)}
    stub = Path(module.__file__).with_suffix(".pyi")
    nodes = ast.parse(stub.read_text()).body if stub.is_file() else []
    exported = {alias.name for node in nodes if node.module for alias in node.names}  # `from . import x` is the module
    assert not exported & modules


@pytest.mark.parametrize("package", [name for name in PACKAGES if hasattr(importlib.import_module(name), "__all__")])
def test_every_exported_name_exists_and_functions_say_what_they_do(package):
    module = importlib.import_module(package)
    for name in module.__all__:
        value = getattr(module, name)
        assert not callable(value) or value.__doc__, name


def imported_modules(name: str) -> set[str]:
    """The modules of the package that a module imports when it is loaded, not inside its functions."""
    path = MODULES[name]
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.level:
            base = ".".join(package.split(".")[: len(package.split(".")) - node.level + 1])
            base = f"{base}.{node.module}" if node.module else base
            found |= {f"{base}.{alias.name}" if f"{base}.{alias.name}" in MODULES else base for alias in node.names}
    return (found & MODULES.keys()) - {name}


def test_no_module_imports_itself_through_others():
    imports = {name: imported_modules(name) for name in MODULES}
    assert imports["helpers.metrics.cka"] >= {"helpers.metrics.stream", "helpers.plots"}  # the reader of imports works
    while free := [name for name, others in imports.items() if not others & imports.keys()]:
        for name in free:
            del imports[name]
    assert not imports, f"a cycle among {', '.join(imports)}"


@pytest.mark.parametrize("name", MODULES)
def test_modules_stay_short(name):
    assert len(MODULES[name].read_text().splitlines()) <= 300


def test_every_module_has_its_test_file():
    """In the same room of tests/helpers/; what only starts or describes something else needs none."""
    tests = Path(__file__).parent
    missing = [name for name, path in MODULES.items() if path.stem not in ("__init__", "__main__")
               and not (tests / path.relative_to(PACKAGE).parent / f"test_{path.stem}.py").is_file()]
    assert not missing
