"""What Sphinx reads: outputs in both languages, cards as they are written today, and nothing touched without need."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from bookbuild import staging
from bookbuild.paths import BuildError
from sample_project import write_notebook, write_twins


@pytest.fixture
def project(tmp_path, monkeypatch) -> Path:
    """One notebook, executed: its only cell printed 42 and reported a claim."""
    written = lambda record, full_size: {"text/html": f"card of {record['value']}", "text/plain": "anew"}
    monkeypatch.setattr(staging.cards, "rendered", written)
    write_twins(tmp_path, "01_twin", "print(6 * 7)")
    path = write_notebook(tmp_path / "_build" / "executed" / "01_twin.ipynb", "print(6 * 7)")
    notebook = nbformat.read(path, as_version=4)
    card = {staging.MIME: {"id": "R02", "value": 7}, "text/html": "as measured", "text/plain": "as measured"}
    notebook.cells[1].outputs = [nbformat.v4.new_output("stream", text="42\n"),
                                 nbformat.v4.new_output("display_data", data=card)]
    nbformat.write(notebook, path)
    picture = "![fields](../../book/_static/fields.svg)"
    (tmp_path / "notebooks/ko/index.md").write_text(picture, encoding="utf-8")
    return tmp_path


def staged(root: Path, language: str, **options: str) -> Path:
    folder = root / "_build" / language / "source"
    staging.stage(root, language, folder, **options)
    return folder


def outputs(folder: Path) -> list[nbformat.NotebookNode]:
    return nbformat.read(folder / "01_twin.ipynb", as_version=4).cells[1].outputs


def test_both_languages_get_the_outputs_of_one_execution(project):
    assert outputs(staged(project, "en")) == outputs(staged(project, "ko"))
    assert outputs(project / "_build/ko/source")[0].text == "42\n"
    assert "outputs\": []" in (project / "notebooks/ko/01_twin.ipynb").read_text(encoding="utf-8")


def test_staging_again_touches_only_what_changed(project):
    folder = staged(project, "ko")
    (folder / "old.md").touch()
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    (project / "notebooks/ko/index.md").write_text("# 책", encoding="utf-8")
    staged(project, "ko")
    after = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert after.keys() == {"01_twin.ipynb", "index.md"}
    assert {name for name in after if after[name] != before[name]} == {"index.md"}


def test_cards_are_written_anew_from_the_recorded_numbers(project):
    (_, card) = outputs(staged(project, "en"))
    assert card.data["text/html"] == "card of 7" and card.data["text/plain"] == "anew"
    assert card.data[staging.MIME] == {"id": "R02", "value": 7}


def test_a_card_that_cannot_be_written_names_its_notebook(project, monkeypatch):
    def refuse(record, full_size):
        raise ValueError("its rule reads 'low'")

    monkeypatch.setattr(staging.cards, "rendered", refuse)
    with pytest.raises(BuildError, match=r"01_twin\.ipynb, cell 2: .*its rule reads 'low'"):
        staged(project, "en")


def test_twins_with_different_code_are_refused(project):
    write_notebook(project / "notebooks/ko/01_twin.ipynb", "print(6 * 8)")
    with pytest.raises(BuildError, match=r"ko.01_twin\.ipynb: its code differs"):
        staged(project, "ko")


def test_a_notebook_that_was_not_executed_is_named(project):
    write_twins(project, "02_new", "1")
    with pytest.raises(BuildError, match=r"02_new\.ipynb has not been executed"):
        staged(project, "en")


def test_one_chapter_needs_no_other(project):
    write_twins(project, "02_new", "1")
    assert [path.name for path in staged(project, "ko", only="01_twin").iterdir()] == ["01_twin.ipynb"]


def test_pictures_of_the_book_are_found_from_the_staged_folder(project):
    (project / "book" / "_static").mkdir(parents=True)
    (project / "book" / "_static" / "fields.svg").touch()
    folder = staged(project, "ko")
    address = (folder / "index.md").read_text(encoding="utf-8").partition("](")[2].rstrip(")")
    assert (folder / address).is_file()
