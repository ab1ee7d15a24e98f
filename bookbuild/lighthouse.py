"""Measure the built site with Lighthouse (npm) and fail below what the book promises: `make lighthouse`."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
import threading
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

from .serve import Quiet

PROMISED = {"accessibility": 100, "best-practices": 95, "seo": 95}
CHROME_FLAGS = "--headless=new --no-sandbox --disable-gpu"


def measure_site(root: Path) -> None:
    """Measure one chapter, the index and the ledger in both languages."""
    site = root / "_site"
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if not (shutil.which("npx") and chromium and site.is_dir()):
        sys.exit("make lighthouse needs npm, Chromium and a built site (make book).")
    chapter = min(path.stem for path in (root / "notebooks" / "en").glob("*.ipynb"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    missed = False
    for name in (chapter, "index", "ledger"):
        for language in ("en", "ko"):
            url = f"http://127.0.0.1:{server.server_port}/{language}/{name}.html"
            missed |= report(f"{language}/{name}", measure(url, chromium))
    if missed:
        sys.exit(f"Below the promise of {PROMISED}.")


def measure(url: str, chromium: str) -> dict[str, Any]:
    """Lighthouse's report on one page."""
    command = ["npx", "--yes", "lighthouse@12", url, "--quiet", "--output=json", f"--chrome-flags={CHROME_FLAGS}"]
    command.append(f"--only-categories={','.join(PROMISED)}")
    done = subprocess.run(command, env=os.environ | {"CHROME_PATH": chromium}, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"Lighthouse did not run, so {url} was not measured:\n{done.stderr[-2000:]}")
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def report(name: str, result: dict[str, Any]) -> bool:
    """Print the scores and what cost points; whether one is below the promise."""
    scores = {key: round(100 * result["categories"][key]["score"]) for key in PROMISED}
    print(f"{name:24}", *(f"{key} {score:3}" for key, score in scores.items()), sep="  ", flush=True)
    for key in PROMISED:
        for entry in result["categories"][key]["auditRefs"]:
            audit = result["audits"][entry["id"]]
            if entry["weight"] and audit["score"] is not None and audit["score"] < 1:
                print(f"    {audit['id']}: {audit['title']}")
    return any(scores[key] < PROMISED[key] for key in PROMISED)
