"""A site with nothing but the studio: its page in both languages, and a page on which tests call its functions."""

from __future__ import annotations

from pathlib import Path

from filelock import FileLock

from bookbuild.paths import ROOT
from bookbuild.sphinx.studio_page import html
from bookbuild.studio.files import SCRIPTS, app_script, write_studio

CALLED = ("startEngine", "studioFile", "changedImage", "asInput", "lookReader", "ckaOf", "ckaWithInterval",
          "bytesOfText", "patchOrder", "withCover", "NOTHING_COVERED")  # what tests call by name
PAGE = """<!doctype html><html lang="{language}" data-theme="{theme}" data-content_root="./">
<head><meta charset="utf-8">
<title>Studio</title><link rel="icon" href="data:,"><meta name="viewport" content="width=device-width"><style>
body {{ margin: 8px auto; max-width: 736px; font-family: sans-serif; background: {paper} }}
html[data-theme="dark"] * {{ color-scheme: dark }}
</style></head><body><main><h1>Studio</h1>{body}</main></body></html>"""


def make_site(folder: Path, lock: FileLock) -> Path | None:
    """Write it; None when onnxruntime-web cannot be had."""
    with lock:
        write_studio(ROOT, folder / "studio")
    if not (folder / "studio").exists():
        return None
    for language in ("en", "ko"):
        (folder / language).mkdir()
        for theme, paper in (("light", "#fff"), ("dark", "#121212")):
            page = PAGE.format(language=language, theme=theme, paper=paper, body=html(language))
            (folder / language / f"studio-{theme}.html").write_text(page, encoding="utf-8")
    scripts = [name for name in SCRIPTS if name != "studio.js"]  # which starts the studio
    harness = app_script(scripts, f"Object.assign(globalThis, {{ {', '.join(CALLED)} }});")
    (folder / "studio" / "harness.js").write_text(harness, encoding="utf-8")
    body = '<script src="../studio/harness.js" data-folder="../studio/"></script>'
    page = PAGE.format(language="en", theme="light", paper="#fff", body=body)
    (folder / "en" / "harness.html").write_text(page, encoding="utf-8")
    (folder / "404.html").write_text("not here")
    return folder


def open_studio(visitor, address: str, language: str = "en", theme: str = "light", link: str = ""):
    """The page with the studio started and the first answer in words."""
    page = visitor.page
    page.goto(f"{address}/{language}/studio-{theme}.html{link}")
    page.locator("#studio-start").click()
    page.wait_for_function("/%/.test(document.querySelector('#studio-view .ex-caption')?.textContent ?? '')")
    return page
