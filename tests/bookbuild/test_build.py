"""Derived settings, and a sample book built for real: the site, one chapter alone, and the plain preview."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
from babel.messages.pofile import read_po

from bookbuild import build, paths
from bookbuild.execute import code_of
from bookbuild.freshness import Digests
from bookbuild.paths import ROOT, BuildError
from sample_book import write_book

# ----------------------------------------------------------------------------------------------- settings


def test_korean_settings_are_laid_over_the_shared_ones():
    english, korean = (build.derive_config(ROOT, language) for language in ("en", "ko"))
    assert korean["title"] != english["title"]
    assert korean["repository"]["url"] == english["repository"]["url"]
    assert korean["repository"]["path_to_book"] == "notebooks/ko"
    assert korean["sphinx"]["config"]["book_other_language"] == "en"
    assert korean["html"]["baseurl"].endswith("/ko/")
    assert korean["sphinx"]["config"]["html_theme_options"]["show_toc_level"] == 2


@pytest.mark.parametrize(
    ("repository", "baseurl", "expected"),
    [
        ("https://github.com/Some-One/book", "", "https://some-one.github.io/book/"),
        ("https://github.com/a/b", "https://example.org/c", "https://example.org/c/"),
        ("https://gitlab.com/a/b", "", ""),
    ],
)
def test_address_of_the_published_site(repository, baseurl, expected):
    assert build.base_url({"repository": {"url": repository}, "html": {"baseurl": baseurl}}) == expected


def test_missing_contents_say_what_to_do(tmp_path):
    with pytest.raises(BuildError, match="make notebooks"):
        build.build_language(tmp_path, "en")


def test_korean_catalogue_is_complete():
    with (ROOT / "book/locale/ko/LC_MESSAGES/sphinx.po").open("rb") as file:
        catalogue = read_po(file, locale="ko", abort_invalid=True)
    for message in catalogue:
        assert message.string or not message.id, f"no Korean for {message.id!r}"
        assert not message.fuzzy, message.id
        assert not list(message.check(catalogue)), message.id


# ------------------------------------------------------------------------------------------- a sample book


def keep_as_executed(root: Path, output: str) -> None:
    """What the executor would keep of the chapter, had its cell printed this."""
    executed = nbformat.read(root / "notebooks/en/17_cka.ipynb", as_version=4)
    executed.cells[3].outputs = [nbformat.v4.new_output("stream", text=output)]
    place = paths.executed(root)
    place.mkdir(parents=True, exist_ok=True)
    nbformat.write(executed, place / "17_cka.ipynb")
    Digests(root).record(code_of(executed), set(), time.time(), 1.0).write(place / "17_cka.json")


@pytest.fixture(scope="module")
def book(tmp_path_factory) -> Path:
    """A repository of one chapter, executed, and one page, with the book's own settings, templates and words."""
    root = write_book(tmp_path_factory.mktemp("book"))
    for name in ("_static", "_templates", "locale"):
        shutil.copytree(ROOT / "book" / name, root / "book" / name, ignore=shutil.ignore_patterns("mathjax"))
    shutil.copytree(ROOT / "bookbuild", root / "bookbuild", ignore=shutil.ignore_patterns("__pycache__"))
    keep_as_executed(root, "forty-two\n")
    return root


@pytest.fixture(scope="module")
def site(book) -> Path:
    """The site of the sample book."""
    return build.build_site(book)


@pytest.mark.notebooks
def test_both_languages_show_the_outputs_of_one_execution(site):
    for language in ("en", "ko"):
        page = (site / language / "17_cka.html").read_text(encoding="utf-8")
        assert "forty-two" in page and f'lang="{language}"' in page and "language-switch" in page
    assert (site / "index.html").is_file() and (site / "sitemap.xml").is_file()


@pytest.mark.notebooks
def test_readers_download_the_committed_notebook(book, site):
    for language in ("en", "ko"):
        committed = (book / "notebooks" / language / "17_cka.ipynb").read_bytes()
        assert (site / language / "_sources" / "17_cka.ipynb").read_bytes() == committed


@pytest.mark.notebooks
def test_one_chapter_is_built_without_the_others(book, capsys):
    shutil.copy(book / "notebooks/en/17_cka.ipynb", book / "notebooks/en/18_other.ipynb")  # never executed
    (book / "book/chapters/19_broken.md").write_text("no source", encoding="utf-8")
    english, korean = build.build_chapter(book, "17")
    (book / "book/chapters/19_broken.md").unlink()
    (book / "notebooks/en/18_other.ipynb").unlink()
    assert "forty-two" in english.read_text(encoding="utf-8") and "forty-two" in korean.read_text(encoding="utf-8")
    assert "Notebooks: 1, of which 0 to execute" in capsys.readouterr().out


@pytest.mark.notebooks
def test_plain_jupyter_book_gives_a_preview(book, tmp_path):
    """What people try first: `jupyter-book build .` at the root."""
    command = [str(Path(sys.executable).with_name("jupyter-book")), "build", ".", "--path-output", str(tmp_path)]
    done = subprocess.run([*command, "-W", "-n", "--keep-going"], cwd=book, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    page = (tmp_path / "_build/html/notebooks/en/17_cka.html").read_text(encoding="utf-8")
    assert "language-switch" not in page and 'lang="en"' in page
    assert "forty-two" in page
