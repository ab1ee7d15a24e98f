"""What counts as a change, on files alone."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest

from bookbuild.freshness import Digests, Record, used_in_repository

STUB = "from .cka import cka as cka\nfrom .probe import probe as probe\n"


@pytest.fixture
def package(tmp_path):
    """A package whose public names are loaded when they are used; the notebook has used cka."""
    for name, text in {"__init__.py": "", "__init__.pyi": STUB, "cka.py": "", "probe.py": "", "cka2.py": ""}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(("stub", "changed"), [
    (STUB + "from .probe import fit as fit\n", False),  # a name of a module that was not loaded
    (STUB.replace(".probe", ".other"), False),
    (STUB.replace(".cka import", ".cka2 import"), True),  # the name means something else now
    (STUB + "from .cka import CKA as CKA\n", True),
])
def test_a_stub_counts_by_the_names_that_could_matter(package, stub, changed):
    used = ["__init__.py", "__init__.pyi", "cka.py"]
    before = Digests(package).file("__init__.pyi", used)
    (package / "__init__.pyi").write_text(stub)
    assert (Digests(package).file("__init__.pyi", used) != before) is changed


def test_a_file_that_was_edited_during_the_run_never_counts_as_fresh(tmp_path):
    (tmp_path / "a.txt").write_text("new")
    used = {("file", "a.txt")}
    times = time.time() - 60, time.time() + 60
    during, before = (Digests(tmp_path).record(["1"], used, began, 1.0) for began in times)
    assert Digests(tmp_path).why_stale(["1"], during) == "a.txt changed"
    assert Digests(tmp_path).why_stale(["1"], before) == ""


def test_a_file_that_was_looked_for_and_appears(tmp_path):
    record = Digests(tmp_path).record([], {("file", "a.txt"), ("file", "b.txt")}, time.time(), 1.0)
    assert Digests(tmp_path).why_stale([], record) == ""
    (tmp_path / "a.txt").touch()
    (tmp_path / "b.txt").touch()
    assert Digests(tmp_path).why_stale([], record) == "a.txt and 1 more changed"


def test_only_files_of_the_repository_are_kept_and_bytecode_stands_for_its_source(tmp_path):
    root = tmp_path.resolve()
    noted = [f"{root}/src/__pycache__/cka.cpython-311.pyc", f"{root}/src/data.yml", f"{root}/_build/x", "/etc/hosts",
             f"{root}/.venv/lib/site-packages/torch/a.py", f"{root}/src/book.egg-info/PKG-INFO"]
    log = tmp_path / "used"
    log.write_text("".join(json.dumps(["file", path]) + "\n" for path in noted))
    assert used_in_repository(log, root) == {("file", "src/cka.py"), ("file", "src/data.yml")}


@pytest.mark.parametrize("text", ["", "[]", '{"code": "an older form"}'])
def test_a_record_that_cannot_be_read_counts_as_none(tmp_path, text):
    path = tmp_path / "01.json"
    path.write_text(text)
    assert Record.read(path) is None and Record.read(tmp_path / "missing.json") is None


def test_files_that_do_not_parse_count_by_their_bytes(tmp_path):
    (tmp_path / "a.py").write_text("def (")
    first = Digests(tmp_path).file("a.py", ())
    (tmp_path / "a.py").write_text("def ((")
    assert first and Digests(tmp_path).file("a.py", ()) != first


def test_of_claims_only_those_count_that_were_asked_for(tmp_path):
    place = f"{tmp_path.resolve()}/src/helpers/claims"
    read = [["folder", place], ["file", f"{place}/05.yml"], ["file", f"{place}/18.yml"], ["file", f"{place}/rules.py"]]
    log = tmp_path / "used"
    log.write_text("".join(json.dumps(note) + "\n" for note in [*read, ["claims", f"{place}/18.yml"]]))
    assert {name for _, name in used_in_repository(log, tmp_path)} == {
        "src/helpers/claims/18.yml", "src/helpers/claims/rules.py"}
    log.write_text("".join(json.dumps(note) + "\n" for note in read))
    assert len(used_in_repository(log, tmp_path)) == 4  # nobody said which


@pytest.mark.parametrize(("after", "changed"), [
    ("R01: {kind: E, holds: a < 2, quantities: {a: {en: the first}}}", False),
    ("R01: {kind: E, holds: a < 1, quantities: {a: {en: first}}, no_control: {en: none}}", True),
    ("R01: {kind: D, holds: a < 1, quantities: {a: {en: first}}}", True),
    ("R01: {kind: E, holds: a < 1, quantities: {a: {en: first, range: [0, 1]}}}", True),
    ("R01: {kind: E, holds: a < 1, quantities: {b: {en: first}}}", True),
])
def test_claims_count_by_what_they_want_measured(tmp_path, after, changed):
    name = "src/helpers/claims/01.yml"
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_text("R01: {kind: E, holds: a < 1, quantities: {a: {en: first}}}")
    before = Digests(tmp_path).file(name, ())
    (tmp_path / name).write_text(after)
    assert (Digests(tmp_path).file(name, ()) != before) is changed


def test_what_the_recorder_hears_of_the_books_own_claims():
    """In a process of its own: a hook cannot be taken off again."""
    code = ("import sys; heard = []; sys.addaudithook(lambda event, args: heard.append(args[0][-6:]) "
            "if event == 'helpers.claims.used' else None); from helpers.claims.entries import claim, of_chapters; "
            "claim('R10'); of_chapters('20'); print(*heard)")
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["19.yml", "20.yml"]
