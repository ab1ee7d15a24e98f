"""The builder and the Sphinx extensions: search words, cache key, error messages, derived settings, the preview."""

from __future__ import annotations

import asyncio
import importlib.util
import itertools
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from babel.messages.pofile import read_po
from docutils import nodes
from sphinx.errors import ExtensionError

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "book" / "_ext"))

import claims_ledger  # noqa: E402
import execution  # noqa: E402
from korean_search import SearchKorean  # noqa: E402

from helpers import claims  # noqa: E402


@pytest.fixture(scope="session")
def site():
    """tools/site.py; the standard library owns the name `site`, so it is loaded by path."""
    spec = importlib.util.spec_from_file_location("book_site", ROOT / "tools" / "site.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# ------------------------------------------------------------------------------------------------- search


@pytest.fixture(scope="session")
def korean():
    return SearchKorean({})


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("표현은", "표현"),
        ("비유사도를", "유사도"),
        ("셀프어텐션의", "어텐션"),
        ("특징맵", "특징"),
        ("층마다", "층"),
        ("CKA는", "CKA"),
    ],
)
def test_words_are_indexed_inside_longer_words(korean, text, word):
    assert word in korean.split(text)
    assert korean.word_filter(korean.stem(word))


def test_english_is_not_cut(korean):
    assert korean.split("minibatch CKA") == ["minibatch", "CKA"]
    assert korean.stem("representations") == korean.stem("representation")


# ---------------------------------------------------------------------------------------------- executing


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A book without chapters."""
    (tmp_path / "src" / "helpers").mkdir(parents=True)
    (tmp_path / "src" / "helpers" / "cka.py").write_text("biased = False\n")
    (tmp_path / "requirements.lock").write_text("torch==2.14.1\n")
    for language in ("en", "ko"):
        (tmp_path / "notebooks" / language).mkdir(parents=True)
    return tmp_path


def write_notebook(path: Path, *code: str) -> Path:
    cells = [nbformat.v4.new_markdown_cell("# Title"), *map(nbformat.v4.new_code_cell, code)]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), path)
    return path


def test_cache_depends_on_code_and_lock(tree):
    first = execution.cache_path(tree)
    assert execution.cache_path(tree) == first
    (tree / "src" / "helpers" / "cka.py").write_text("biased = True\n")
    second = execution.cache_path(tree)
    (tree / "requirements.lock").write_text("torch==2.14.2\n")
    third = execution.cache_path(tree)
    assert len({first, second, third}) == 3


def test_cache_ignores_what_python_writes(tree):
    first = execution.cache_path(tree)
    (tree / "src" / "helpers" / "__pycache__").mkdir()
    (tree / "src" / "helpers" / "__pycache__" / "cka.pyc").write_bytes(b"\0")
    assert execution.cache_path(tree) == first


def elsewhere(function, *arguments, **options):
    """Playwright keeps an event loop in the main thread of a test session; a build runs one of its own."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function, *arguments, **options).result()


@pytest.mark.notebooks
def test_failing_cell_is_named(site, tree):
    path = write_notebook(tree / "notebooks" / "en" / "03_wrong.ipynb", "x = 1", "raise ValueError('no patches')")
    with pytest.raises(site.BuildError, match=r"03_wrong\.ipynb, cell 3: CellExecutionError[\s\S]*no patches"):
        elsewhere(asyncio.run, site.execute(path, timeout=60, threads=1))


@pytest.mark.notebooks
def test_a_failing_notebook_ends_the_others_and_keeps_the_finished(site, tree):
    wrong = f"""
import pathlib, time
while not list(pathlib.Path({str(execution.cache_path(tree))!r}).rglob("base.ipynb")):  # until 01_fine is kept
    time.sleep(0.1)
1 / 0"""
    for name, code in {"01_fine": "1", "02_wrong": wrong, "03_long": "import time; time.sleep(300)"}.items():
        for language in ("en", "ko"):
            write_notebook(tree / "notebooks" / language / f"{name}.ipynb", code)
    with pytest.raises(site.BuildError, match=r"02_wrong\.ipynb, cell 2"):
        elsewhere(site.execute_all, tree, timeout=600)
    cached = site.get_cache(execution.cache_path(tree)).list_cache_records()
    assert {Path(record.uri).stem for record in cached} == {"01_fine"}


@pytest.mark.notebooks
def test_an_interrupt_ends_every_kernel(tree):
    for language, name in itertools.product(("en", "ko"), ("01_long", "02_long")):
        here = tree / f"{name}.pid"
        code = f"import os, pathlib, time; pathlib.Path({str(here)!r}).write_text(str(os.getpid())); time.sleep(300)"
        write_notebook(tree / "notebooks" / language / f"{name}.ipynb", code)
    script = f"""
import importlib.util, pathlib
spec = importlib.util.spec_from_file_location("book_site", {str(ROOT / "tools" / "site.py")!r})
site = importlib.util.module_from_spec(spec)
spec.loader.exec_module(site)
site.execute_all(pathlib.Path({str(tree)!r}), timeout=600)
"""
    build = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    started = [tree / f"{name}.pid" for name in ("01_long", "02_long")][: os.cpu_count()]
    while build.poll() is None and not all(path.is_file() and path.read_text() for path in started):
        time.sleep(0.2)
    build.send_signal(signal.SIGINT)
    _, errors = build.communicate(timeout=120)
    assert "KeyboardInterrupt" in errors
    for path in started:
        with pytest.raises(ProcessLookupError):
            os.kill(int(path.read_text()), 0)


@pytest.mark.notebooks
def test_one_execution_serves_both_languages(site, tree, capsys):
    code = "import os; print(os.environ['BOOK_STATIC'], 6 * 7)"
    for language in ("en", "ko"):
        write_notebook(tree / "notebooks" / language / "01_twin.ipynb", code)
    elsewhere(site.execute_all, tree, timeout=60)
    elsewhere(site.execute_all, tree, timeout=60)
    assert [line.strip() for line in capsys.readouterr().out.splitlines() if "of which" in line] == [
        "Notebooks: 1, of which 1 to execute",
        "Notebooks: 1, of which 0 to execute",
    ]
    korean = nbformat.read(tree / "notebooks" / "ko" / "01_twin.ipynb", as_version=4)
    _, executed = site.get_cache(execution.cache_path(tree)).merge_match_into_notebook(korean)
    assert executed.cells[1].outputs[0].text == "1 42\n"


def test_twins_with_different_code_are_refused(site, tree):
    english = nbformat.read(write_notebook(tree / "notebooks" / "en" / "01_twin.ipynb", "x = 1"), as_version=4)
    korean = write_notebook(tree / "notebooks" / "ko" / "01_twin.ipynb", "x = 2")
    with pytest.raises(site.BuildError, match=r"ko.01_twin\.ipynb: its code differs"):
        site.with_outputs(korean, english)


# ----------------------------------------------------------------------------------------------- settings


def test_korean_settings_are_laid_over_the_shared_ones(site):
    english, korean = (site.derive_config(ROOT, language) for language in ("en", "ko"))
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
def test_address_of_the_published_site(site, repository, baseurl, expected):
    assert site.base_url({"repository": {"url": repository}, "html": {"baseurl": baseurl}}) == expected


def test_missing_contents_say_what_to_do(site, tree):
    with pytest.raises(site.BuildError, match="make notebooks"):
        site.build_language(tree, "en")


def test_korean_catalogue_is_complete():
    with (ROOT / "book/locale/ko/LC_MESSAGES/sphinx.po").open("rb") as file:
        catalogue = read_po(file, locale="ko", abort_invalid=True)
    for message in catalogue:
        assert message.string or not message.id, f"no Korean for {message.id!r}"
        assert not message.fuzzy, message.id
        assert not list(message.check(catalogue)), message.id


# ------------------------------------------------------------------------------------------------- claims


def environment(**chapters: tuple[str, ...]) -> SimpleNamespace:
    """A Sphinx environment that has read these chapters, each with a cell that reports these claims."""
    read = {}
    for name, ids in chapters.items():
        outputs = [{"data": {claims.MIME: {"id": claim}}} for claim in ids]
        cells = [{"cell_type": "markdown"}, {"cell_type": "code", "outputs": outputs}]
        read[name] = claims.collect({"cells": cells}, name)
    return SimpleNamespace(book_claims=read, book_ledger_pages={"ledger"})


def test_a_page_with_an_overview_is_written_again_too():
    document = nodes.container("", nodes.raw("", claims.overview("18")._repr_html_(), format="html"))
    assert claims_ledger.shows_verdicts(document)
    assert claims_ledger.shows_verdicts(nodes.container("", claims_ledger.LedgerNode()))
    assert not claims_ledger.shows_verdicts(nodes.container("", nodes.raw("", "<p>claims</p>", format="html")))
    app = SimpleNamespace(env=environment(), config=SimpleNamespace(language="ko"))
    claims_ledger.fill(app, document, "29_discussion")
    assert "아직 재지 않음" in document.astext() and "not measured" not in document.astext()


def test_ledger_is_written_again_when_claims_may_have_changed():
    assert claims_ledger.check(None, environment(a_cka=("R02", "R03"))) == ["ledger"]


def test_claim_reported_twice_stops_the_build():
    env = environment(a_cka=("R02",), b_other=("R03", "R02"))
    with pytest.raises(ExtensionError, match="b_other, cell 2: claim R02 was already reported by a_cka, cell 2"):
        claims_ledger.check(None, env)


def test_unknown_claim_stops_the_build():
    with pytest.raises(ExtensionError, match="a_cka, cell 2: claim 'R99x' is not in"):
        claims_ledger.check(None, environment(a_cka=("R99x",)))


# ------------------------------------------------------------------------------------------------ preview


@pytest.mark.notebooks
def test_plain_jupyter_book_gives_a_preview(site, tmp_path):
    """What people try first: `jupyter-book build .` at the root."""
    elsewhere(site.execute_all, ROOT, timeout=900)
    command = [str(Path(sys.executable).with_name("jupyter-book")), "build", ".", "--path-output", str(tmp_path)]
    done = subprocess.run([*command, "-W", "-n", "--keep-going"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    pages = tmp_path / "_build" / "html" / "notebooks" / "en"
    text = (pages / "index.html").read_text(encoding="utf-8")
    assert "language-switch" not in text and 'lang="en"' in text
    assert list(pages.glob("[0-9]*.html"))
    shutil.rmtree(tmp_path / "_build")
