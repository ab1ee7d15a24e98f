"""The data of explorers is read from executed notebooks."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest

from bookbuild.sphinx import explorer_parts
from helpers.explore import stored
from helpers.explore.packing import PARTS_MIME


@pytest.fixture
def app(tmp_path) -> SimpleNamespace:
    """A Sphinx that has built one page and one notebook, whose outputs hold a part."""
    output = nbformat.v4.new_output("display_data", data={PARTS_MIME: {"abc": {"values": [1, 2]}}})
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("explorer", outputs=[output])])
    (tmp_path / "_build" / "executed").mkdir(parents=True)
    nbformat.write(notebook, tmp_path / "_build" / "executed" / "01_maps.ipynb")
    sources = {"01_maps": "01_maps.ipynb", "index": "index.md", "02_new": "02_new.ipynb"}
    env = SimpleNamespace(found_docs=set(sources), doc2path=lambda name: f"source/{sources[name]}")
    return SimpleNamespace(env=env, config=SimpleNamespace(book_root=str(tmp_path)), outdir=str(tmp_path / "html"),
                           builder=SimpleNamespace(format="html"))


def test_parts_are_written_anew(app):
    folder = Path(app.outdir, explorer_parts.FOLDER)
    folder.mkdir(parents=True)
    (folder / "old.js").touch()
    explorer_parts.write_parts(app, None)
    assert [path.name for path in folder.iterdir()] == ["abc.js"]
    assert "abc" in (folder / "abc.js").read_text(encoding="utf-8")


def test_a_stored_part_is_written_from_the_package(app, tmp_path):
    address = stored.address_of("photo.chelsea")
    output = nbformat.v4.new_output("display_data", data={PARTS_MIME: {address: None}})
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("explorer", outputs=[output])])
    for name in ("01_maps", "02_new"):  # two pages share it
        nbformat.write(notebook, tmp_path / "_build" / "executed" / f"{name}.ipynb")
    explorer_parts.write_parts(app, None)
    (script,) = Path(app.outdir, explorer_parts.FOLDER).iterdir()
    assert script.name == f"{address}.js" and '"shape": [224, 224, 3]' in script.read_text(encoding="utf-8")


def test_a_failed_build_touches_nothing(app):
    explorer_parts.write_parts(app, ValueError())
    assert not Path(app.outdir).exists()
