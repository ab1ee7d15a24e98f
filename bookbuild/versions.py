"""Run the notebooks with the oldest or newest versions that pyproject.toml allows.

Nothing but the package and what it asks for is installed, and the notebooks run in an empty directory, as in Colab.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from .paths import ROOT, chapters

RESOLUTION = {"oldest": "lowest-direct", "newest": "highest"}
PYTHON = {"oldest": "3.10", "newest": ">=3.12"}  # the newest packages have left older Pythons behind
RUNNER = ["nbclient", "ipykernel"]  # what runs a notebook where no Jupyter is
EXECUTE = """
import sys, nbclient, nbformat
nbclient.NotebookClient(nbformat.read(sys.argv[1], as_version=4), timeout=1200).execute()
"""
SHOWN = ("torch", "torchvision", "timm", "numpy", "pandas", "matplotlib", "ipywidgets", "anywidget")


def try_versions(which: str, numbers: list[str]) -> None:
    """Run all chapters, or those with these numbers; exit with a sentence when one fails."""
    if not shutil.which("uv"):
        sys.exit("This check needs uv, which finds the oldest versions: pip install uv")
    chosen = chapters(numbers)
    python = make_environment(which)
    failed = [path.stem for path in chosen if not runs(python, path)]
    if failed:
        sys.exit(f"With the {which} versions {len(failed)} of {len(chosen)} notebooks fail: {', '.join(failed)}")
    print(f"With the {which} versions all {len(chosen)} notebooks run.")


def make_environment(which: str) -> Path:
    """A fresh environment with this checkout's package; its Python."""
    place = ROOT / "_build" / "versions" / which
    python = place / ("Scripts" if os.name == "nt" else "bin") / "python"
    print(f"Installing the {which} versions into {place.relative_to(ROOT)}; this takes some minutes", flush=True)
    target = ["--quiet", "--python", str(python)]
    for command in (
        ["uv", "venv", "--quiet", "--clear", "--python", PYTHON[which], str(place)],
        ["uv", "pip", "install", *target, "--resolution", RESOLUTION[which], str(ROOT)],
        ["uv", "pip", "install", *target, *RUNNER],  # Colab's own are recent
    ):
        if subprocess.run(command, cwd=ROOT).returncode:
            sys.exit(f"Could not install the {which} versions: `{' '.join(command[:3])}` says above why.")
    listed = subprocess.run(["uv", "pip", "freeze", *target], capture_output=True, text=True, check=True)
    versions = dict(line.split("==") for line in listed.stdout.split() if "==" in line)
    print("  " + ", ".join(f"{name} {versions[name]}" for name in SHOWN if name in versions), flush=True)
    return python


def runs(python: Path, notebook: Path) -> bool:
    """Whether a notebook runs from top to bottom, alone in a directory; says how long it took or what went wrong."""
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as empty:
        alone = shutil.copy(notebook, empty)
        path = os.pathsep.join([str(python.parent), os.environ["PATH"]])  # the kernel is the `python` found first
        done = subprocess.run([python, "-c", EXECUTE, alone], cwd=empty, env=os.environ | {"PATH": path}, text=True,
                              capture_output=True)
    outcome, seconds = "FAILS" if done.returncode else "ok", time.perf_counter() - began
    print(f"  {notebook.stem}: {outcome} after {seconds:.0f} s", flush=True)
    if done.returncode:
        print("\n".join(done.stderr.splitlines()[-15:]), flush=True)
    return done.returncode == 0
