"""The folder beside the languages."""

from __future__ import annotations

import json

import pytest

from bookbuild.studio import files, runtime


@pytest.fixture
def quick(monkeypatch):
    """One small network and a runtime of three letters."""
    monkeypatch.setattr(files, "NETWORKS", ("mixer",))
    monkeypatch.setattr(runtime, "parts", lambda cache: {"library": "a", "loader": "b", "machine": "c"})


def data_of(path) -> dict:
    """What a data script brings."""
    return json.loads(path.read_text(encoding="utf-8").split(" = ", 1)[1].rstrip(";\n"))


def test_the_folder_holds_all_and_is_written_anew(tmp_path, quick):
    folder = tmp_path / "_site" / "studio"
    folder.mkdir(parents=True)
    (folder / "old.js").touch()
    files.write_studio(tmp_path, folder)
    names = {path.name for path in folder.iterdir()}
    assert names == {"about.js", "mixer.js", "mixer-untrained.js", "runtime.js", "runtime-license.txt", "studio.js"}
    about = data_of(folder / "about.js")
    assert set(about["networks"]) == {"mixer", "mixer-untrained"}
    assert len(about["samples"]["labels"]) == files.SAMPLES
    assert len(about["classes"]["en"]) == len(about["classes"]["ko"]) == 10


def test_networks_are_exported_once(tmp_path, quick, monkeypatch):
    files.write_studio(tmp_path, tmp_path / "first")
    monkeypatch.setattr(files, "exported_networks", lambda: pytest.fail("exported again"))
    files.write_studio(tmp_path, tmp_path / "second")
    first, second = ((tmp_path / name / "mixer.js").read_bytes() for name in ("first", "second"))
    assert first == second


def test_without_the_runtime_there_is_no_studio(tmp_path, monkeypatch, capsys):
    def missing(cache):
        raise runtime.RuntimeMissing("no npm here")

    monkeypatch.setattr(runtime, "parts", missing)
    files.write_studio(tmp_path, tmp_path / "studio")
    assert not (tmp_path / "studio").exists()
    assert "The studio was left out: no npm here" in capsys.readouterr().out


def test_the_studio_is_one_script_without_imports():
    script = files.app_script()
    assert script.startswith("(() => {") and "\nimport " not in script and "\nexport " not in script
    assert "fetch(" not in script  # a page from a disk may not
    assert script.index("function defineExplorer") < script.index("startStudio();")
