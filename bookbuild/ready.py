"""What a first installation stumbles over, said before the download: `python bookbuild/ready.py .venv`."""

import importlib.util
import shutil
import sys
from pathlib import Path

OLDEST = (3, 10)
GIGABYTES = 8  # PyTorch brings its CUDA libraries along


def problem(venv: str, version: tuple = tuple(sys.version_info), free: "float | None" = None) -> "str | None":
    """The first thing that is missing, with what to do, or None; runs with any Python 3."""
    if tuple(version[:2]) < OLDEST:
        return "The book needs Python {}.{} or newer, and this one is {}.{}: say make PYTHON=/path/to/python3.".format(
            *OLDEST, *version[:2])
    if importlib.util.find_spec("venv") is None or importlib.util.find_spec("ensurepip") is None:
        return "This Python cannot make environments; on Debian and Ubuntu: apt install python3-venv."
    place = next(folder for folder in [Path(venv).resolve(), *Path(venv).resolve().parents] if folder.exists())
    free = shutil.disk_usage(str(place)).free if free is None else free
    if free < GIGABYTES * 1e9:
        return (f"The packages take about {GIGABYTES} GB and the disk of {venv} has {free / 1e9:.1f}: make some room, "
                "or say make VENV=/another/disk/venv.")
    return None


if __name__ == "__main__":
    sys.exit(problem(sys.argv[1]))
