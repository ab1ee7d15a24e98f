"""Measure the built site with Lighthouse (npm) as a phone gets it, and fail below the promise: `make lighthouse`."""

from __future__ import annotations

import functools
import gzip
import io
import json
import os
import shutil
import subprocess
import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import IO, Any

from .paths import LANGUAGES

PROMISED = {"accessibility": 100, "best-practices": 95, "seo": 95}
FAST, HEAVIEST = 90, 80  # performance of the index and the ledger, and of the chapter with the largest page
CHROME_FLAGS = "--headless=new --no-sandbox --disable-gpu"
TEXT = (".html", ".css", ".js", ".svg", ".json")


class Compressed(SimpleHTTPRequestHandler):
    """Files of a folder, compressed and over one connection, as any host of pages sends them."""

    protocol_version = "HTTP/1.1"

    def send_head(self) -> io.BytesIO | IO[bytes] | None:  # type: ignore[override]
        """Text compressed, everything else as it is."""
        path = Path(self.translate_path(self.path))
        if not (path.is_file() and path.suffix in TEXT):
            return super().send_head()
        body = gzip.compress(path.read_bytes(), mtime=0)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "max-age=600")
        self.end_headers()
        return io.BytesIO(body)

    def log_message(self, *args: object) -> None:
        """Say nothing."""


def measure_site(root: Path, names: list[str] | None = None) -> None:
    """Measure the index, the ledger and the heaviest chapter, or the pages named, in both languages."""
    site = root / "_site"
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if not (shutil.which("npx") and chromium and site.is_dir()):
        sys.exit("make lighthouse needs npm, Chromium and a built site (make book).")
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Compressed, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    missed = []
    for name in names or ["index", "ledger", heaviest(root, site)]:
        for language in LANGUAGES:
            url = f"http://127.0.0.1:{server.server_port}/{language}/{name}.html"
            missed += report(f"{language}/{name}", measure(url, chromium), promise(name))
    if missed:
        sys.exit("Below the promise: " + "; ".join(missed))


def heaviest(root: Path, site: Path) -> str:
    """The chapter with the largest page."""
    chapters = [path.stem for path in (root / "notebooks" / "en").glob("*.ipynb")]
    return max(chapters, key=lambda name: (site / "en" / f"{name}.html").stat().st_size)


def promise(name: str) -> dict[str, int]:
    """The least scores of a page."""
    return {"performance": FAST if name in ("index", "ledger") else HEAVIEST, **PROMISED}


def measure(url: str, chromium: str) -> dict[str, Any]:
    """Lighthouse's report on one page."""
    command = ["npx", "--yes", "lighthouse@12", url, "--quiet", "--output=json", f"--chrome-flags={CHROME_FLAGS}"]
    command.append(f"--only-categories=performance,{','.join(PROMISED)}")
    done = subprocess.run(command, env=os.environ | {"CHROME_PATH": chromium}, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"Lighthouse did not run, so {url} was not measured:\n{done.stderr[-2000:]}")
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def report(name: str, result: dict[str, Any], promised: dict[str, int]) -> list[str]:
    """Print the scores and what cost points; returns what is below the promise."""
    scores = {key: round(100 * result["categories"][key]["score"]) for key in promised}
    audits = result["audits"]
    paint = [audits.get(f"{which}-contentful-paint", {}).get("displayValue", "") for which in ("first", "largest")]
    weight = round(audits.get("total-byte-weight", {}).get("numericValue", 0) / 1024)
    print(f"{name:24}", *(f"{key} {score:3}" for key, score in scores.items()), sep="  ", flush=True)
    print(f"    first and largest paint {' / '.join(paint)}, {weight} KiB")
    for key in PROMISED:
        for entry in result["categories"][key]["auditRefs"]:
            audit = audits[entry["id"]]
            if entry["weight"] and audit["score"] is not None and audit["score"] < 1:
                print(f"    {audit['id']}: {audit['title']}")
    return [f"{name} {key} {scores[key]} < {least}" for key, least in promised.items() if scores[key] < least]
