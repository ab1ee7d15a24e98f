"""What a newcomer stumbles over ends in one sentence that says what to do."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

from bookbuild import cli, ready
from bookbuild.paths import ROOT


@pytest.mark.parametrize(("given", "sentence"), [
    ({"version": (3, 9, 2)}, "needs Python 3.10 or newer, and this one is 3.9: say make PYTHON="),
    ({"free": 2e9}, "about 8 GB and the disk of .venv has 2.0: make some room, or say make VENV="),
    ({"free": 9e9}, None),
])
def test_before_anything_is_installed(given, sentence):
    found = ready.problem(".venv", **given)
    assert found is None if sentence is None else sentence in found


def test_the_first_check_needs_no_package(tmp_path):
    said = subprocess.run([sys.executable, "-S", "bookbuild/ready.py", str(tmp_path)], cwd=ROOT, capture_output=True)
    assert b"Traceback" not in said.stderr


def test_a_python_without_venv(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert "apt install python3-venv" in ready.problem(".venv", free=9e9)


def start_server(folder: Path, port: int) -> subprocess.Popen:
    """The command in another checkout, by a Python that has no packages (-S): nothing needs to be installed to read."""
    shutil.copytree(ROOT / "bookbuild", folder / "bookbuild", ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-S", "-u", "-m", "bookbuild", "serve", str(port)]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_reading_the_built_book(tmp_path):
    (tmp_path / "_site").mkdir()
    (tmp_path / "_site" / "index.html").write_text("the book")
    with start_server(tmp_path, 0) as server:
        address = server.stdout.readline().split()[4]
        assert urlopen(address).read() == b"the book"
        server.terminate()


def test_a_port_in_use(tmp_path):
    (tmp_path / "_site").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as taken, start_server(tmp_path, taken.getsockname()[1]) as server:
        _, said = server.communicate(timeout=300)
        assert said.strip().endswith(f"make serve PORT={taken.getsockname()[1] + 1}") and len(said.splitlines()) == 1


def test_nothing_built_yet(tmp_path):
    with start_server(tmp_path, 0) as server:
        assert server.communicate(timeout=300)[1] == "There is no _site/ yet: make book\n"


def test_a_python_that_is_not_there(tmp_path):
    command = ["make", "-s", "setup", f"VENV={tmp_path / 'venv'}", "PYTHON=python-of-nowhere"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert said.returncode and said.stdout.startswith("There is no python-of-nowhere here: install Python 3.10")
    assert len(said.stdout.splitlines()) == 1


def test_no_browser_and_no_right_to_install_one(tmp_path):
    """A PATH without chromium, fc-list, apt-get and sudo."""
    for name in ("sh", "id", "echo"):
        (tmp_path / name).symlink_to(shutil.which(name))
    command, path = ["sh", "bookbuild/browser.sh"], {"PATH": str(tmp_path)}
    said = subprocess.run(command, cwd=ROOT, env=path, capture_output=True, text=True)
    assert said.stdout.startswith("Please install chromium fonts-nanum (Debian, Ubuntu: sudo apt install chromium ")
    assert said.returncode == 0 and not said.stderr


def test_commands_without_what_they_need(tmp_path):
    for name, sentence in (("paper", "Say which networks and photos: make paper MODELS="),
                           ("chapter", "Say which chapter: make chapter N=18")):
        command = ["make", "-s", name, f"VENV={tmp_path}", "-o", "setup"]
        said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        assert said.returncode and said.stdout.startswith(sentence)


def test_every_command_that_the_makefile_calls_exists():
    called = set(re.findall(r"-m bookbuild ([a-z-]+)", (ROOT / "Makefile").read_text(encoding="utf-8")))
    assert {"site", "chapter"} <= called
    for name in called:
        with pytest.raises(SystemExit) as ended:
            cli.parser().parse_args([name, "--help"])
        assert ended.value.code == 0, name


def test_a_chapter_that_is_not_there():
    with pytest.raises(SystemExit, match=r"There is no chapter 99 in book/chapters"):
        cli.main(["chapter", "99"])
