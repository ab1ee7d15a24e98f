"""Build both languages into _site/, or one chapter into _build/chapter/."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import yaml
from jinja2 import Environment, FileSystemLoader

from . import paths
from .execute import execute_all
from .notebooks import write_chapter
from .paths import LANGUAGES, ROOT, BuildError
from .source import SourceError
from .staging import stage, write_if_changed
from .stylesheets import join_stylesheets

UNUSED = (".buildinfo", "objects.inv", "locales", "*.map", "*.ttf", "fontawesome")  # what themes ship and no page loads
STRICT = ("-W", "-n", "--keep-going")
Settings = dict[str, Any]


def build_site(root: Path) -> Path:
    """Execute, build both languages, add the pages of the root; returns the site's directory."""
    settings = load_settings(root, "en")
    execute_all(root, settings["execute"]["timeout"])
    site = root / "_site"
    html = in_both_languages(lambda language: build_language(root, language))
    shutil.rmtree(site, ignore_errors=True)
    for language, built in html.items():
        shutil.copytree(built, site / language, ignore=shutil.ignore_patterns(*UNUSED))
        for notebook in paths.notebooks(root, language).glob("*.ipynb"):
            shutil.copy(notebook, site / language / "_sources")  # what readers download: as committed, no outputs
        join_stylesheets(site / language)
    if (site / LANGUAGES[0] / "studio.html").exists():
        from .studio.files import write_studio  # loads PyTorch

        write_studio(root, site / "studio")
    write_root_pages(root, site, base_url(settings))
    return site


def bundle(site: Path, archive: Path) -> Path:
    """The site as a zip file, for a room without internet."""
    return Path(shutil.make_archive(str(archive), "zip", site.parent, site.name))


def build_chapter(root: Path, number: str) -> list[Path]:
    """Write one chapter's notebooks, execute it if it must be, and build its page in both languages; returns the pages.

    Links to other chapters lead nowhere, since those are not built. Neither a warning nor a slip in the prose stops it.
    """
    number = number.zfill(2)
    try:
        for problem in write_chapter(root, number):
            print(problem, flush=True)
    except SourceError as error:
        raise BuildError(str(error)) from error
    (notebook,) = paths.chapters([number], root)
    execute_all(root, load_settings(root, "en")["execute"]["timeout"], [notebook])
    html = in_both_languages(lambda language: build_page(root, language, notebook.stem))
    return [built / f"{notebook.stem}.html" for built in html.values()]


def in_both_languages(build: Callable[[str], Path]) -> dict[str, Path]:
    """Sphinx uses one core: the languages are built side by side."""
    with ThreadPoolExecutor(len(LANGUAGES)) as pool:
        return dict(zip(LANGUAGES, pool.map(build, LANGUAGES), strict=True))


def build_language(root: Path, language: str) -> Path:
    """All pages of a language; a warning is an error."""
    contents = paths.notebooks(root, language) / "_toc.yml"
    if not contents.exists():
        raise BuildError(f"{paths.relative(contents, root)} is missing; run `make notebooks`")
    out = root / "_build" / language
    stage(root, language, out / "source")
    return run_sphinx(root, language, out, out / "source" / "_toc.yml", STRICT)


def build_page(root: Path, language: str, name: str) -> Path:
    """One chapter of a language as a book of its own."""
    out = root / "_build" / "chapter" / language
    stage(root, language, out / "source", only=name)
    contents = out / "_toc.yml"
    write_if_changed(contents, yaml.safe_dump({"format": "jb-book", "root": name}))
    return run_sphinx(root, language, out, contents, ())


def run_sphinx(root: Path, language: str, out: Path, contents: Path, options: tuple[str, ...]) -> Path:
    """One Sphinx build of out/source; returns the directory of the pages."""
    config = out / "_config.yml"
    text = yaml.safe_dump(derive_config(root, language), allow_unicode=True, sort_keys=False)
    write_if_changed(config, text)
    begin = time.perf_counter()
    jupyter_book = [sys.executable, "-c", "from jupyter_book.cli.main import main; main()"]  # this environment's own
    command = [*jupyter_book, "build", str(out / "source"), "--config", str(config), "--toc", str(contents)]
    command += ["--path-output", str(out), *options, "-q"]
    done = subprocess.run(command, cwd=root, env=os.environ | {"BOOK_STATIC": "1"}, capture_output=True, text=True)
    if done.returncode:
        said = f"{done.stdout}{done.stderr}"
        raise BuildError(f"The {language} pages could not be built (exit code {done.returncode}):\n{said}")
    print(f"Pages ({language}): built in {time.perf_counter() - begin:.0f} s", flush=True)
    return out / "_build" / "html"


# ----------------------------------------------------------------------------------------------- settings


def load_settings(root: Path, language: str) -> Settings:
    """_config.yml with what book/locale/<language>/config.yml says differently."""
    settings: Settings = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    overlay = root / "book" / "locale" / language / "config.yml"
    if overlay.exists():
        _lay_over(settings, yaml.safe_load(overlay.read_text(encoding="utf-8")))
    return settings


def _lay_over(settings: Settings, overlay: Settings) -> None:
    for key, value in overlay.items():
        if isinstance(value, dict) and isinstance(settings.get(key), dict):
            _lay_over(settings[key], value)
        else:
            settings[key] = value


def derive_config(root: Path, language: str) -> Settings:
    """The Jupyter Book configuration of one language: paths made absolute, addresses filled in, nothing executed."""
    settings = load_settings(root, language)
    config = settings["sphinx"]["config"]
    base = base_url(settings)
    settings["repository"]["path_to_book"] = f"notebooks/{language}"
    settings["logo"] = str(root / settings["logo"])
    settings["html"]["favicon"] = str(root / settings["html"]["favicon"])
    settings["html"]["baseurl"] = f"{base}{language}/" if base else ""
    settings["execute"]["execute_notebooks"] = "off"
    extensions = settings["sphinx"]["local_extensions"]
    settings["sphinx"]["local_extensions"] = {name: str(ROOT / path) for name, path in extensions.items()}
    for key in ("html_static_path", "templates_path", "locale_dirs"):
        config[key] = [str(root / path) for path in config[key]]
    config["book_root"] = str(root)
    config["book_base_url"] = base
    config["book_other_language"] = next(other for other in LANGUAGES if other != language)
    return settings


def base_url(settings: Settings) -> str:
    """Where the site is published: html.baseurl, or else the repository's own GitHub Pages."""
    if settings["html"].get("baseurl"):
        return str(settings["html"]["baseurl"]).rstrip("/") + "/"
    match = re.fullmatch(r"https://github\.com/([^/]+)/([^/]+?)/?", settings["repository"]["url"])
    return f"https://{match[1].lower()}.github.io/{match[2]}/" if match else ""


def write_root_pages(root: Path, site: Path, base: str) -> None:
    """Above both languages: the page that chooses one, the page for a wrong address, the map for search engines."""
    templates = Environment(loader=FileSystemLoader(root / "book" / "_templates" / "site"), autoescape=True)
    both = [
        {page.name for page in (site / language).glob("*.html")} - {"search.html", "genindex.html"}
        for language in LANGUAGES
    ]
    facts = {
        "titles": {language: load_settings(root, language)["title"] for language in LANGUAGES},
        "base": base,
        "base_path": urlparse(base).path or "/",
        "pages": sorted(set.intersection(*both)),
    }
    names = ["index.html", "404.html"] + (["sitemap.xml", "robots.txt"] if base else [])
    for name in names:
        (site / name).write_text(templates.get_template(name).render(facts), encoding="utf-8")
    shutil.copy(root / "book" / "_static" / "cover.png", site)
    shutil.copy(root / "book" / "_static" / "favicon.ico", site)
    (site / ".nojekyll").touch()
