"""The executor: what is run again after which edit, and what remains when something fails."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest

from bookbuild import paths
from bookbuild.execute import execute_all, stale
from bookbuild.freshness import Digests, Record
from bookbuild.paths import ROOT, BuildError
from sample_project import CLAIMS, METRIC, elsewhere, write_notebook, write_project, write_twins

pytestmark = pytest.mark.notebooks


@pytest.fixture(scope="module")
def executed(tmp_path_factory) -> Path:
    """The sample project after its first build."""
    root = write_project(tmp_path_factory.mktemp("project"))
    elsewhere(execute_all, root, timeout=120)
    return root


@pytest.fixture
def project(executed, tmp_path) -> Path:
    """A copy to edit."""
    return shutil.copytree(executed, tmp_path / "copy")


def to_run(root: Path) -> dict[str, str]:
    """{notebook: why} of what a build would execute now."""
    tasks = stale(paths.chapters([], root), Digests(root), paths.executed(root))
    return {task.name: task.why for task in tasks}


def test_used_files_are_recorded_and_nothing_else(executed):
    record = Record.read(executed / "_build" / "executed" / "01_uses.json")
    assert set(record.files) == {"src/sample/__init__.py", "src/sample/metric.py", "src/sample/data.txt",
                                 "src/helpers/claims/01.yml"}
    assert set(record.folders) == {"src/sample/weights"}
    assert record.seconds > 0
    assert "src/sample/other.py" in Record.read(executed / "_build" / "executed" / "02_other.json").files


def test_hidden_code_leaves_no_trace(executed):
    notebook = nbformat.read(executed / "_build" / "executed" / "01_uses.ipynb", as_version=4)
    assert [cell.get("execution_count") for cell in notebook.cells] == [None, 1, 2]
    assert notebook.cells[2].outputs[0].text == "6 1\n"


def edit(root: Path, name: str, before: str, after: str) -> None:
    text = (root / name).read_text(encoding="utf-8")
    assert before in text
    (root / name).write_text(text.replace(before, after), encoding="utf-8")


@pytest.mark.parametrize(("name", "before", "after"), [
    ("src/sample/metric.py", '"""Twice."""', '"""Two times,\n\n    as a sum would give."""'),
    ("src/sample/metric.py", "  # simple", ""),
    ("src/sample/metric.py", METRIC, METRIC.replace('    """Twice."""\n', "")),
    ("src/helpers/claims/01.yml", "It grows.", "It becomes larger."),
    ("src/helpers/claims/01.yml", "low < high", "low < 0.5 * high"),
])
def test_words_run_nothing_again(project, name, before, after):
    edit(project, name, before, after)
    assert to_run(project) == {}


@pytest.mark.parametrize(("name", "before", "after", "runs"), [
    ("src/sample/metric.py", "2 * x", "3 * x", {"01_uses"}),
    ("src/sample/other.py", "1", "2", {"02_other"}),
    ("src/sample/data.txt", "3", "4", {"01_uses"}),
    ("src/helpers/claims/01.yml", CLAIMS, CLAIMS.replace("{low:", "{middle: {en: middle}, low:"), {"01_uses"}),
    ("requirements.lock", "2.14.1", "2.14.2", {"01_uses", "02_other"}),
])
def test_an_edit_runs_those_who_use_the_file(project, name, before, after, runs):
    edit(project, name, before, after)
    assert to_run(project) == dict.fromkeys(runs, f"{name} changed")


def test_a_file_that_is_gone(project):
    (project / "src/sample/data.txt").unlink()
    assert to_run(project) == {"01_uses": "src/sample/data.txt changed"}


def test_a_new_file_in_a_folder_that_was_listed(project):
    (project / "src/sample/weights/b.txt").touch()
    (project / "src/sample/unused.py").touch()  # the import system has listed this folder, no notebook has
    assert to_run(project) == {"01_uses": "src/sample/weights/ changed"}


def test_a_cell_that_changed(project):
    write_twins(project, "02_other", "print(1)")
    assert to_run(project) == {"02_other": "its code changed"}


def test_outputs_without_a_record_do_not_count(project):
    (project / "_build/executed/02_other.json").unlink()
    assert to_run(project) == {"02_other": "not executed yet"}


def test_a_chapter_that_is_gone_leaves_nothing(project):
    (project / "notebooks/en/02_other.ipynb").unlink()
    elsewhere(execute_all, project, timeout=60)
    assert {path.name for path in (project / "_build/executed").iterdir()} == {"01_uses.ipynb", "01_uses.json"}


def test_only_what_is_stale_runs_and_the_longest_first(project, capsys):
    for name, seconds in (("01_uses", 3), ("02_other", 50)):
        path = project / "_build/executed" / f"{name}.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"seconds": seconds, "lock": "another"}))
    assert list(to_run(project)) == ["02_other", "01_uses"]
    elsewhere(execute_all, project, timeout=60, chosen=[project / "notebooks/en/02_other.ipynb"])
    said = capsys.readouterr().out.splitlines()
    assert said[:3] == ["Notebooks: 1, of which 1 to execute", "  02_other: requirements.lock changed",
                        "  02_other: 2 cells, running"]
    assert list(to_run(project)) == ["01_uses"]


def test_a_failing_cell_is_named_and_the_finished_are_kept(tmp_path):
    finished = tmp_path / "_build" / "executed" / "01_fine.json"
    wrong = f"""
import pathlib, time
while not pathlib.Path({str(finished)!r}).exists():
    time.sleep(0.1)
raise ValueError("no patches")"""
    for name, code in {"01_fine": "1", "02_wrong": wrong, "03_long": "import time; time.sleep(300)"}.items():
        write_notebook(tmp_path / "notebooks" / "en" / f"{name}.ipynb", code)
    with pytest.raises(BuildError, match=r"^notebooks.en.02_wrong\.ipynb, cell 2: CellExecutionError[\s\S]*no patches"):
        elsewhere(execute_all, tmp_path, timeout=600)
    assert {path.stem for path in finished.parent.iterdir()} == {"01_fine"}


def test_an_interrupt_ends_every_kernel(tmp_path):
    names = ("01_long", "02_long")
    for name in names:
        here = str(tmp_path / f"{name}.pid")
        code = f"import os, pathlib, time; pathlib.Path({here!r}).write_text(str(os.getpid())); time.sleep(300)"
        write_notebook(tmp_path / "notebooks" / "en" / f"{name}.ipynb", code)
    script = ("import pathlib; from bookbuild.execute import execute_all; "
              f"execute_all(pathlib.Path({str(tmp_path)!r}), timeout=600)")
    build = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True)
    started = [tmp_path / f"{name}.pid" for name in names][: os.cpu_count()]
    while build.poll() is None and not all(path.is_file() and path.read_text() for path in started):
        time.sleep(0.2)
    build.send_signal(signal.SIGINT)
    _, errors = build.communicate(timeout=120)
    assert "KeyboardInterrupt" in errors
    for path in started:
        with pytest.raises(ProcessLookupError):
            os.kill(int(path.read_text()), 0)
