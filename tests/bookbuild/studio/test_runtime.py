"""onnxruntime-web comes from npm, as the one package that the book was tested with, or not at all."""

from __future__ import annotations

import base64
import gzip
import subprocess

import pytest

from bookbuild.studio import runtime


def test_what_is_kept_is_not_fetched_again(tmp_path, monkeypatch):
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: pytest.fail("npm was asked"))
    for name in runtime.PARTS.values():
        (tmp_path / name).write_bytes(name.encode())
    parts = runtime.parts(tmp_path)
    assert {part: gzip.decompress(base64.b64decode(text)).decode() for part, text in parts.items()} == runtime.PARTS


def test_without_npm_it_says_so(tmp_path, monkeypatch):
    def no_npm(*args, **options):
        raise FileNotFoundError("npm")

    monkeypatch.setattr(subprocess, "run", no_npm)
    with pytest.raises(runtime.RuntimeMissing, match="with npm and a connection, build again"):
        runtime.parts(tmp_path / "new")


def test_another_package_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(subprocess, "run", lambda command, cwd, **options:
                        (cwd / f"onnxruntime-web-{runtime.VERSION}.tgz").write_bytes(b"something else"))
    with pytest.raises(runtime.RuntimeMissing, match="not the file that this book was tested with"):
        runtime.parts(tmp_path)
    assert not list(tmp_path.iterdir())
