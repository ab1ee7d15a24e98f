"""The built site, served below a sub-path, and a Chromium that can reach nothing else."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import tarfile
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from filelock import FileLock
from plain_page import PATIENCE, PlainPage
from visitor import Visitor

ROOT = Path(__file__).resolve().parents[2]
SUBPATH = "/seminar/room-1"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = [f"--{x}" for x in ("no-sandbox", "disable-gpu", "disable-sync")]
FLAGS += ["--disable-background-networking", "--disable-component-update"]  # Chromium's own requests
# No other host is found. A route in Python would do the same, but it switches Chromium's cache off, and every page
# would then read and compile MathJax again: more than half of the processor time of a visit.
FLAGS += ["--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"]


def only_one_at_a_time() -> FileLock:
    """Work below _build that two test processes must not do at once."""
    (ROOT / "_build").mkdir(exist_ok=True)
    return FileLock(ROOT / "_build" / "tests.lock")


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def site() -> Path:
    """BOOK_SITE when it was just built (make test); otherwise _site, built now by the first worker that needs it."""
    if ready := os.environ.get("BOOK_SITE"):
        return Path(ready).resolve()
    this_run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    mark = ROOT / "_build" / "site-of-test-run"
    with only_one_at_a_time():
        if not mark.exists() or mark.read_text() != this_run:
            done = subprocess.run([sys.executable, "-m", "bookbuild", "site"], cwd=ROOT, capture_output=True, text=True)
            assert done.returncode == 0, f"python -m bookbuild site failed:\n{done.stdout}{done.stderr}"
            mark.write_text(this_run)
    return ROOT / "_site"


class _BelowSubpath(SimpleHTTPRequestHandler):
    def translate_path(self, path: str) -> str:
        return super().translate_path(path.removeprefix(SUBPATH) if path.startswith(SUBPATH) else "/outside")

    def send_error(self, code, message=None, explain=None) -> None:
        """A wrong address gets the book's own page, as on GitHub Pages."""
        body = Path(self.directory, "404.html").read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args) -> None:
        """Say nothing."""


@pytest.fixture(scope="session")
def serve():
    """serve(directory) → the address at which it is served, below a sub-path."""
    servers = []

    def start(directory: Path) -> str:
        server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_BelowSubpath, directory=str(directory)))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}{SUBPATH}"

    yield start
    for server in servers:
        server.shutdown()


@pytest.fixture(scope="session")
def address(site: Path, serve) -> str:
    """Where the site is served."""
    return serve(site)


@pytest.fixture(scope="module")
def browser():
    """Chromium, or a skip that says what is missing.

    It ends with its file of tests: Playwright's event loop would forbid the next file in this process one of its own.
    """
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed (Debian: apt install chromium), so the site was not opened in a browser")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser, request):
    """visit(own=address of the site, **context options) → Visitor; closed after the test."""
    visitors = []

    def start(own: str | None = None, **options) -> Visitor:
        visitors.append(Visitor(browser, own or request.getfixturevalue("address"), **options))
        return visitors[-1]

    yield start
    for visitor in visitors:
        visitor.context.close()


@pytest.fixture
def plain(browser, tmp_path):
    """plain(**context options) → PlainPage; it must end without errors and without a request to any host."""
    pages = []

    def start(**options) -> PlainPage:
        pages.append(PlainPage(browser, tmp_path, **options))
        return pages[-1]

    yield start
    for page in pages:
        page.context.close()
        assert page.troubles == []


@pytest.fixture(scope="session")
def studio_site(tmp_path_factory) -> Path:
    """A site with nothing but the studio; without npm the tests are skipped and say so."""
    from studio_site import make_site

    folder = make_site(tmp_path_factory.mktemp("studio"), only_one_at_a_time())
    return folder or pytest.skip("onnxruntime-web could not be fetched with npm, so the studio was not run")


@pytest.fixture(scope="session")
def axe_if_there() -> Path | None:
    """axe-core from npm, kept below _build."""
    place = ROOT / "_build" / "npm"
    script = place / "package" / "axe.min.js"
    with only_one_at_a_time():
        if not script.exists():
            _fetch_axe(place)
    return script if script.exists() else None


@pytest.fixture(scope="session")
def axe(axe_if_there: Path | None) -> Path:
    """axe-core; without npm the test is skipped and says so."""
    if axe_if_there is None:
        pytest.skip("axe-core could not be fetched with npm, so accessibility was not measured")
    return axe_if_there


def _fetch_axe(place: Path) -> None:
    place.mkdir(parents=True, exist_ok=True)
    try:
        fetch = ["npm", "pack", "axe-core@4", "--silent"]
        subprocess.run(fetch, cwd=place, check=True, capture_output=True, timeout=120)
    except (OSError, subprocess.SubprocessError):
        return
    with tarfile.open(next(place.glob("axe-core-*.tgz"))) as archive:
        archive.extract("package/axe.min.js", place, filter="data")
