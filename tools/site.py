"""Execute every notebook once and build both languages into _site/: `python tools/site.py`."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import copy
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlparse

import nbformat
import yaml
from jinja2 import Environment, FileSystemLoader
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

ROOT = Path(__file__).resolve().parents[1]
LANGUAGES = ("en", "ko")
KERNELS = 2  # notebooks that run at the same time; each takes about 1.5 GB of memory
UNUSED = (".buildinfo", "objects.inv", "locales", "*.map", "*.ttf", "all.min.js*")  # what themes ship and no page loads

sys.path[:0] = [str(ROOT / "book" / "_ext"), str(ROOT / "tools")]
from execution import cache_path  # noqa: E402  (the extension and this tool must agree on the place)
from kernels import own_sockets  # noqa: E402


class BuildError(Exception):
    """Something the author can mend; the message says what and where."""


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bundle", action="store_true", help="also zip the site for a room without internet")
    args = parser.parse_args()
    try:
        site = build_site(ROOT)
    except BuildError as error:
        sys.exit(f"\n{error}")
    if args.bundle:
        archive = shutil.make_archive(str(ROOT / "_build" / "vit-cnn-book"), "zip", site.parent, site.name)
        size = Path(archive).stat().st_size / 1e6
        print(f"Bundle: {_relative(Path(archive))} ({size:.1f} MB). Unzip it anywhere and open _site/index.html.")
    print(f"The book is in {_relative(site)}/. Read it with `make serve`, or open {_relative(site)}/index.html.")


def build_site(root: Path) -> Path:
    """Execute, build both languages, add the pages of the root; returns the site's directory."""
    settings = load_settings(root, "en")
    execute_all(root, settings["execute"]["timeout"])
    site = root / "_site"
    html = {language: build_language(root, language) for language in LANGUAGES}
    shutil.rmtree(site, ignore_errors=True)
    for language, built in html.items():
        shutil.copytree(built, site / language, ignore=shutil.ignore_patterns(*UNUSED))
    write_root_pages(root, site, base_url(settings))
    return site


# ---------------------------------------------------------------------------------------------- executing


def execute_all(root: Path, timeout: int) -> None:
    """Fill the cache: each notebook runs once, in English, and its Korean twin gets the same outputs."""
    place = cache_path(root)
    for stale in set(place.parent.glob("executed-*")) - {place}:
        shutil.rmtree(stale)
    cache = get_cache(place)
    notebooks = sorted((root / "notebooks" / "en").glob("*.ipynb"))
    fresh = [path for path in notebooks if not _cached(cache, path)]
    print(f"Notebooks: {len(notebooks)}, of which {len(fresh)} to execute", flush=True)

    def keep(path: Path, executed: nbformat.NotebookNode, seconds: float) -> None:
        for language in LANGUAGES:
            twin = root / "notebooks" / language / path.name
            bundle = CacheBundleIn(with_outputs(twin, executed), str(twin), data={"execution_seconds": seconds})
            cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)

    asyncio.run(_execute_side_by_side(fresh, timeout, keep))


async def _execute_side_by_side(paths: list[Path], timeout: int, keep: Callable) -> None:
    """Small networks gain little from a second thread: notebooks run side by side, each on its share of the cores."""
    cores = os.cpu_count() or 1
    places, threads = asyncio.Semaphore(min(KERNELS, cores)), max(1, cores // KERNELS)

    async def run(path: Path) -> None:
        async with places:
            keep(path, *await execute(path, timeout, threads))

    await asyncio.gather(*map(run, paths))  # the first error ends the others


def _cached(cache, path: Path) -> bool:
    """Whether the outputs for both languages are known."""
    try:
        for language in LANGUAGES:
            cache.match_cache_notebook(nbformat.read(path.parents[1] / language / path.name, as_version=4))
    except KeyError:
        return False
    return True


async def execute(path: Path, timeout: int, threads: int) -> tuple[nbformat.NotebookNode, float]:
    """Run a notebook from top to bottom and say what took long; a cell that raises stops the build."""
    notebook = nbformat.read(path, as_version=4)
    at, slow = {"cell": 0, "since": 0.0}, []

    def starts(cell, cell_index):
        at.update(cell=cell_index + 1, since=time.perf_counter())

    def ends(cell, cell_index, execute_reply):
        seconds = time.perf_counter() - at["since"]
        if seconds >= 5:
            slow.append(f"cell {cell_index + 1} {seconds:.0f} s")

    print(f"  {path.stem}: {len(notebook.cells)} cells, running", flush=True)
    begin = time.perf_counter()
    options = {
        "timeout": timeout,
        "resources": {"metadata": {"path": str(path.parent)}},
        "extra_arguments": ["--log-level=ERROR"],  # a local kernel need not warn that its sockets are plain
        "on_notebook_start": _leave_signals_alone,
        "on_cell_start": starts,
        "on_cell_executed": ends,
    }
    try:
        with own_sockets() as config:
            client = NotebookClient(notebook, config=config, **options)
            await client.async_execute(env=os.environ | {"BOOK_STATIC": "1", "OMP_NUM_THREADS": str(threads)})
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        trace = re.sub(r"\x1b\[[0-9;]*m", "", str(error))  # IPython's colours
        raise BuildError(f"{_relative(path)}, cell {at['cell']}: {type(error).__name__}\n{trace}") from error
    seconds = time.perf_counter() - begin
    print(f"  {path.stem}: done in {seconds:.0f} s" + f" ({', '.join(slow)})" * bool(slow), flush=True)
    return notebook, seconds


def _leave_signals_alone(notebook) -> None:
    """Ctrl-C ends the build: nbclient would end one kernel with it and leave the other running."""
    for name in ("SIGINT", "SIGTERM"):
        with contextlib.suppress(NotImplementedError):  # Windows
            asyncio.get_running_loop().remove_signal_handler(getattr(signal, name))


def with_outputs(path: Path, executed: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The notebook at `path` with another one's outputs; their code must be the same."""
    notebook = nbformat.read(path, as_version=4)
    mine, theirs = ([c for c in nb.cells if c.cell_type == "code"] for nb in (notebook, executed))
    if [c.source for c in mine] != [c.source for c in theirs]:
        raise BuildError(f"{_relative(path)}: its code differs from the English notebook; run `make notebooks`")
    for cell, source in zip(mine, theirs, strict=True):
        cell.outputs, cell.execution_count = copy.deepcopy(source.outputs), source.execution_count
    return notebook


# ----------------------------------------------------------------------------------------------- building


def load_settings(root: Path, language: str) -> dict:
    """_config.yml with what book/locale/<language>/config.yml says differently."""
    settings = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    overlay = root / "book" / "locale" / language / "config.yml"
    if overlay.exists():
        _lay_over(settings, yaml.safe_load(overlay.read_text(encoding="utf-8")))
    return settings


def _lay_over(settings: dict, overlay: dict) -> None:
    for key, value in overlay.items():
        if isinstance(value, dict) and isinstance(settings.get(key), dict):
            _lay_over(settings[key], value)
        else:
            settings[key] = value


def derive_config(root: Path, language: str) -> dict:
    """The Jupyter Book configuration of one language: paths made absolute, addresses filled in."""
    settings = load_settings(root, language)
    config = settings["sphinx"]["config"]
    base = base_url(settings)
    settings["repository"]["path_to_book"] = f"notebooks/{language}"
    settings["logo"] = str(root / settings["logo"])
    settings["html"]["favicon"] = str(root / settings["html"]["favicon"])
    settings["html"]["baseurl"] = f"{base}{language}/" if base else ""
    extensions = settings["sphinx"]["local_extensions"]
    settings["sphinx"]["local_extensions"] = {name: str(root / path) for name, path in extensions.items()}
    for key in ("html_static_path", "templates_path", "locale_dirs"):
        config[key] = [str(root / path) for path in config[key]]
    config["book_base_url"] = base
    config["book_other_language"] = next(other for other in LANGUAGES if other != language)
    return settings


def base_url(settings: dict) -> str:
    """Where the site is published: html.baseurl, or else the repository's own GitHub Pages."""
    if settings["html"].get("baseurl"):
        return settings["html"]["baseurl"].rstrip("/") + "/"
    match = re.fullmatch(r"https://github\.com/([^/]+)/([^/]+?)/?", settings["repository"]["url"])
    return f"https://{match[1].lower()}.github.io/{match[2]}/" if match else ""


def build_language(root: Path, language: str) -> Path:
    """One Sphinx build in which a warning is an error; returns the directory of the pages."""
    source, out = root / "notebooks" / language, root / "_build" / language
    if not (source / "_toc.yml").exists():
        raise BuildError(f"{_relative(source)}/_toc.yml is missing; run `make notebooks`")
    out.mkdir(parents=True, exist_ok=True)
    config = out / "_config.yml"
    config.write_text(
        yaml.safe_dump(derive_config(root, language), allow_unicode=True, sort_keys=False), encoding="utf-8"
    )
    print(f"Pages ({language}): building", end="", flush=True)
    begin = time.perf_counter()
    jupyter_book = [sys.executable, "-c", "from jupyter_book.cli.main import main; main()"]  # this environment's own
    command = [*jupyter_book, "build", str(source), "--config", str(config)]
    command += ["--toc", str(source / "_toc.yml"), "--path-output", str(out), "-W", "-n", "--keep-going", "-q"]
    done = subprocess.run(command, cwd=root, env=os.environ | {"BOOK_STATIC": "1"}, capture_output=True, text=True)
    if done.returncode:
        raise BuildError(f"The {language} pages could not be built:\n{done.stdout}{done.stderr}")
    print(f" · {time.perf_counter() - begin:.1f} s", flush=True)
    return out / "_build" / "html"


def write_root_pages(root: Path, site: Path, base: str) -> None:
    """Above both languages: the page that chooses one, the page for a wrong address, the map for search engines."""
    templates = Environment(loader=FileSystemLoader(root / "book" / "_templates" / "site"), autoescape=True)
    both = {
        language: {p.name for p in (site / language).glob("*.html")} - {"search.html", "genindex.html"}
        for language in LANGUAGES
    }
    facts = {
        "titles": {language: load_settings(root, language)["title"] for language in LANGUAGES},
        "base": base,
        "base_path": urlparse(base).path or "/",
        "pages": sorted(set.intersection(*both.values())),
    }
    names = ["index.html", "404.html"] + (["sitemap.xml", "robots.txt"] if base else [])
    for name in names:
        (site / name).write_text(templates.get_template(name).render(facts), encoding="utf-8")
    shutil.copy(root / "book" / "_static" / "cover.png", site)
    shutil.copy(root / "book" / "_static" / "favicon.ico", site)
    (site / ".nojekyll").touch()


def _relative(path: Path) -> Path:
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


if __name__ == "__main__":
    main()
