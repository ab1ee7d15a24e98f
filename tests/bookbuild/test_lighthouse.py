"""What is promised of which page, and what the server of the measurement sends."""

from __future__ import annotations

import functools
import gzip
import threading
import urllib.request
from http.server import ThreadingHTTPServer

import pytest

from bookbuild import lighthouse


def result(**scores: float) -> dict:
    """A report of Lighthouse without audits."""
    return {"categories": {key.replace("_", "-"): {"score": score, "auditRefs": []} for key, score in scores.items()},
            "audits": {}}


@pytest.mark.parametrize(("page", "performance", "missed"), [
    ("index", 0.9, []), ("index", 0.89, ["en/index performance 89 < 90"]), ("18_structure", 0.8, []),
    ("18_structure", 0.79, ["en/18_structure performance 79 < 80"]),
])
def test_pages_have_their_promises(page, performance, missed, capsys):
    measured = result(performance=performance, accessibility=1, best_practices=1, seo=1)
    assert lighthouse.report(f"en/{page}", measured, lighthouse.promise(page)) == missed


def test_accessibility_is_complete_or_missed(capsys):
    measured = result(performance=1, accessibility=0.96, best_practices=1, seo=1)
    assert lighthouse.report("ko/index", measured, lighthouse.promise("index")) == ["ko/index accessibility 96 < 100"]


def test_the_heaviest_chapter_is_measured(tmp_path):
    (tmp_path / "notebooks/en").mkdir(parents=True)
    (tmp_path / "_site/en").mkdir(parents=True)
    for name, size in (("01_small", 10), ("02_large", 1000)):
        (tmp_path / f"notebooks/en/{name}.ipynb").touch()
        (tmp_path / f"_site/en/{name}.html").write_text("x" * size, encoding="utf-8")
    assert lighthouse.heaviest(tmp_path, tmp_path / "_site") == "02_large"


def test_text_is_sent_compressed(tmp_path):
    (tmp_path / "page.html").write_text("<p>text</p>", encoding="utf-8")
    (tmp_path / "picture.png").write_bytes(b"picture")
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(lighthouse.Compressed, directory=str(tmp_path)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/page.html") as answer:
        assert answer.headers["Content-Encoding"] == "gzip" and gzip.decompress(answer.read()) == b"<p>text</p>"
    with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/picture.png") as answer:
        assert answer.headers["Content-Encoding"] is None and answer.read() == b"picture"
    server.shutdown()
