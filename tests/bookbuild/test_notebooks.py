"""The generator: what it writes, what it refuses, and that the committed notebooks are what it writes."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from bookbuild import notebooks
from bookbuild.paths import ROOT
from bookbuild.source import SourceError, read_source
from sample_book import CHAPTER, INDEX, doctor, write_book


@pytest.fixture
def book(tmp_path):
    return write_book(tmp_path)


def complaints(book: Path) -> str:
    return "\n".join(notebooks.run(book, check=True))


def problems_of(tmp_path: Path, text: str, folder: str = "chapters") -> str:
    """What reading this source complains about."""
    path = tmp_path / folder / "99_sample.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SourceError) as error:
        read_source(path)
    assert "99_sample.md" in str(error.value)
    return str(error.value)


def read(book: Path, lang: str) -> nbformat.NotebookNode:
    return nbformat.read(book / "notebooks" / lang / "17_cka.ipynb", as_version=4)


# ------------------------------------------------------------------------------------ the repository itself


def test_committed_files_are_what_the_sources_give():
    files = notebooks.generate(ROOT)
    assert not notebooks.outdated(ROOT, files)
    assert not notebooks.stray_files(ROOT, files)


def test_languages_of_every_chapter_share_code_and_ids():
    for path in sorted((ROOT / "notebooks" / "en").glob("*.ipynb")):
        english, korean = (nbformat.read(ROOT / "notebooks" / lang / path.name, as_version=4) for lang in ("en", "ko"))
        assert [cell.id for cell in english.cells] == [cell.id for cell in korean.cells]
        assert [cell.cell_type for cell in english.cells] == [cell.cell_type for cell in korean.cells]
        sources = [[cell.source for cell in nb.cells if cell.cell_type == "code"] for nb in (english, korean)]
        assert sources[0] == sources[1], path
        assert not any(cell.get("outputs") for cell in english.cells + korean.cells), path


# ------------------------------------------------------------------------------------------- what is written


def test_both_notebooks_have_the_same_cells_in_their_own_language(book):
    english, korean = read(book, "en"), read(book, "ko")
    assert (english.metadata.lang, korean.metadata.lang) == ("en", "ko")
    assert english.metadata.kernelspec.name == "python3"
    assert [cell.id for cell in english.cells] == [cell.id for cell in korean.cells]
    assert [c.source for c in english.cells if c.cell_type == "code"] == [
        c.source for c in korean.cells if c.cell_type == "code"
    ]
    assert english.cells[2].source.startswith("# 17. CKA: how alike")
    assert korean.cells[2].source.startswith("# 17. CKA: 두 층은")
    assert english.cells[3].metadata == {"tags": ["hide-input"], "mystnb": {"image": {"alt": "A rising line."}}}
    assert korean.cells[3].metadata.mystnb.image.alt == "올라가는 선."
    assert korean.metadata.myst.html_meta.description == "두 층이 닮은 정도."


def test_links_are_made_from_the_address_in_the_configuration(book):
    config = book / "_config.yml"
    text = config.read_text(encoding="utf-8").replace("github.com/vit-cnn-book/vit-cnn-book", "github.com/someone/fork")
    config.write_text(text, encoding="utf-8")
    assert notebooks.run(book, check=False) == []
    links, setup = (cell.source for cell in read(book, "ko").cells[:2])
    assert "https://colab.research.google.com/github/someone/fork/blob/main/notebooks/ko/17_cka.ipynb" in links
    assert "https://mybinder.org/v2/gh/someone/fork/main?labpath=notebooks%2Fko%2F17_cka.ipynb" in links
    assert "https://raw.githubusercontent.com/someone/fork/main/notebooks/ko/17_cka.ipynb" in links
    assert "/blob/main/notebooks/en/17_cka.ipynb" in links
    assert "https://github.com/someone/fork/archive/refs/heads/main.zip" in setup
    assert "vit-cnn-book/vit-cnn-book" not in links + setup


def test_writing_twice_gives_the_same_bytes(book):
    before = {path: path.read_bytes() for path in book.rglob("notebooks/**/*.*")}
    assert notebooks.run(book, check=False) == []
    assert before == {path: path.read_bytes() for path in book.rglob("notebooks/**/*.*")}


def test_contents_list_what_exists_and_the_map_announces_the_rest(book):
    contents = (book / "notebooks/ko/_toc.yml").read_text(encoding="utf-8")
    assert "17_cka" in contents and "18_representation_structure" not in contents
    assert "file: notebooks/en/17_cka" in (book / "_toc.yml").read_text(encoding="utf-8")
    page = (book / "notebooks/ko/index.md").read_text(encoding="utf-8")
    assert "](17_cka.ipynb)" in page and "18\\. 표현의 구조 (준비 중)" in page
    assert '(17_cka.ipynb)\\\n  §3 · 약 5분 · 먼저 알 것은 없다\n' in page


def test_a_chapter_without_its_line_for_the_map_is_named(book):
    assert "17_cka.md: below the en title should stand *what it mirrors" in doctor(book, "about 5 minutes · ", "")


# ------------------------------------------------------------------------------------------------- the set-up


def run_setup(book: Path, cwd: Path, *importable: Path) -> str:
    """Run the set-up cell where only `importable` folders hold packages; a pip of our own prints its arguments."""
    pip = book / "stub" / "pip"
    pip.mkdir(parents=True, exist_ok=True)
    (pip / "__init__.py").touch()
    (pip / "__main__.py").write_text("import sys; print('pip', *sys.argv[1:], flush=True)")
    cell = next(cell for cell in read(book, "en").cells if cell.id == "17_cka-setup")
    environment = {"PYTHONPATH": ":".join(map(str, (pip.parent, *importable)))}
    done = subprocess.run(
        [sys.executable, "-S", "-c", cell.source], cwd=cwd, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def package(folder: Path, name: str) -> Path:
    (folder / name).mkdir(parents=True)
    (folder / name / "__init__.py").touch()
    return folder


def test_setup_installs_what_is_missing_and_no_dependency(book, tmp_path_factory):
    alone = tmp_path_factory.mktemp("alone")
    printed = run_setup(book, alone, package(alone / "site", "timm")).splitlines()
    arguments = printed[0].split()
    assert "--no-deps" in arguments and arguments[-1].endswith("/archive/refs/heads/main.zip")
    assert {"anywidget", "safetensors"} < set(arguments)
    assert not {"timm", "torch", "numpy", "ipywidgets"} & set(arguments)
    assert printed[1].startswith("Installed: anywidget")


def test_setup_does_nothing_where_helpers_can_be_imported(book, tmp_path_factory):
    alone = tmp_path_factory.mktemp("installed")
    assert run_setup(book, alone, package(alone / "site", "helpers")) == ""


def test_setup_uses_a_clone_before_it_installs(book):
    package(book / "src", "helpers")
    assert run_setup(book, book / "notebooks" / "en") == ""


def test_setup_is_short(book):
    assert len(read(book, "en").cells[1].source.splitlines()) <= 12


# -------------------------------------------------------------------------------------------- what is noticed


def test_command_line_says_what_is_wrong_and_fails(book):
    shutil.copytree(ROOT / "bookbuild", book / "bookbuild", ignore=shutil.ignore_patterns("__pycache__"))
    (book / "_toc.yml").unlink()
    command = [sys.executable, "-m", "bookbuild", "notebooks", "--check"]
    done = subprocess.run(command, cwd=book, capture_output=True, text=True, encoding="utf-8")
    assert (done.returncode, done.stderr) == (1, "_toc.yml: is missing; edit book/, then run `make notebooks`\n")


def test_check_accepts_what_was_just_written(book):
    assert notebooks.run(book, check=True) == []


def test_check_names_the_cell_of_a_notebook_that_was_edited(book):
    path = book / "notebooks" / "ko" / "17_cka.ipynb"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    notebook["cells"][3]["source"] = ["gram = features.T @ features"]
    path.write_text(json.dumps(notebook), encoding="utf-8")
    errors = complaints(book)
    assert "notebooks/ko/17_cka.ipynb: differs from its source at cell 4" in errors
    assert "make notebooks" in errors


def test_check_names_outputs_missing_and_stray_files(book):
    path = book / "notebooks" / "en" / "17_cka.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[1].outputs = [nbformat.v4.new_output("stream", text="hello")]
    nbformat.write(notebook, path)
    (book / "notebooks" / "ko" / "_toc.yml").unlink()
    (book / "notebooks" / "en" / "old.ipynb").write_text("{}", encoding="utf-8")
    errors = complaints(book)
    assert "notebooks/en/17_cka.ipynb: differs from its source at cell 2" in errors
    assert "notebooks/ko/_toc.yml: is missing" in errors
    assert "notebooks/en/old.ipynb: comes from no file in book/" in errors


def test_dropped_korean_block_is_named(book):
    korean = CHAPTER[CHAPTER.rindex("+++") :]
    assert "17_cka.md: line 31: en block without ko twin" in doctor(book, korean, "")


def test_chapter_that_the_contents_do_not_know_is_named(book):
    (book / "book/chapters/17_cka.md").rename(book / "book/chapters/30_more.md")
    assert "30_more.md: not listed in book/toc.yml" in complaints(book)


def test_title_that_differs_from_the_contents_is_named(book):
    errors = doctor(book, "# 17. CKA: how", "# 17. HSIC: how")
    assert "title “17. HSIC: how alike are two layers?” is “17. CKA: how alike are two layers?”" in errors


def test_unknown_marker_is_named(book):
    (book / "book/pages/index.md").write_text(INDEX.replace("chapters:map", "chapters:list"), encoding="utf-8")
    assert "unknown marker <!-- chapters:list -->; there are chapters:map" in complaints(book)


@pytest.mark.parametrize(
    ("before", "after", "complaint"),
    [
        ('{"lang": "ko"}\n\n# 17', '{"lang": "kr"}\n\n# 17', "line 15: unknown language 'kr'; the book has"),
        ('+++ {"lang": "en"}\n\n## What', "## What", "line 29: prose without a language"),
        ("\n## 무엇을 보았는가?\n", "\n", "line 33: empty block"),
        ("## What did we see?", "```{note}\nLook.\n```", "'```{note}' works on the site only"),
        ("## What did we see?", ":::{note}\nLook.\n:::", "':::{note}' works on the site only"),
        ("## What did we see?", "See {cite}`raghu`.", "'{cite}' works on the site only"),
        ("## What did we see?", "![](plot.png)", "image without alternative text: ![](plot.png)"),
        ("## What did we see?", '<img src="plot.png">', "image without alternative text: <img"),
        ("## What did we see?", "- %p: points", "a line that starts with % is a comment for MyST and vanishes: '- %p"),
        ("## What did we see?", "# Second title", "the first block, and no other, must start with the title"),
        ("tags: [hide-input]", "tag: hide-input", "unknown metadata 'tag'"),
        ("{en: A rising line., ko: 올라가는 선.}", "A rising line.", "alt must be {en: …, ko: …}"),
        ("gram = features @ features.T", "gram = 1  # 그람 행렬", "code serves both languages"),
        ("gram = features @ features.T", "gram = {'en': 'a', 'ko': '가'}", "words belong to claims"),
        ("gram = features @ features.T", f"gram = {'1 + ' * 22}1", "a line of 96 characters is cut off"),
        ("gram = features @ features.T", "", "empty code cell"),
        ("gram = features @ features.T", "a = 1\n" * 251, "251 lines of code; a notebook has at most 250"),
        ('+++ {"lang": "en"}\n\n# 17', "+++ {lang: en}\n\n# 17", "could not be read"),
        ("description: {en: How alike two layers are., ko: 두 층이 닮은 정도.}", "title: CKA", "needs description"),
    ],
)
def test_bad_source_is_refused_with_file_and_place(tmp_path, before, after, complaint):
    assert before in CHAPTER
    assert complaint in problems_of(tmp_path, CHAPTER.replace(before, after, 1))


def test_too_many_cells_are_refused(tmp_path):
    extra = "\n```{code-cell} ipython3\nx = 1\n```\n" * 36
    assert "41 cells with links and set-up; a notebook has at most 40" in problems_of(tmp_path, CHAPTER + extra)


def test_pages_hold_directives_but_no_code(tmp_path):
    assert "a page has no code cells" in problems_of(tmp_path, CHAPTER, folder="pages")
    page = tmp_path / "pages" / "ledger.md"
    page.write_text(INDEX.replace("<!-- chapters:map -->", "```{claims-ledger}\n```"), encoding="utf-8")
    assert "```{claims-ledger}" in read_source(page).blocks[0].text["ko"]


def test_directives_may_be_shown_as_code(tmp_path):
    path = tmp_path / "chapters" / "99_sample.md"
    path.parent.mkdir()
    shown = "Use `{math}` or\n\n```text\n:::{note}\n```"
    path.write_text(CHAPTER.replace("## What did we see?", shown), encoding="utf-8")
    assert read_source(path).blocks[2].kind == "markdown"


def test_all_problems_are_listed_at_once(tmp_path):
    text = CHAPTER.replace("## What did we see?", "![](a.png)").replace("tags:", "tag:")
    assert len(problems_of(tmp_path, text).splitlines()) == 2
