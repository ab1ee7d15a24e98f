"""A page with nothing but explorers, written by Python and opened from disk."""

from __future__ import annotations

from pathlib import Path

PATIENCE = 120_000  # ms: a busy machine is no failure of the site


class PlainPage:
    """HTML pages written by the test and opened from disk, with everything that went wrong on them."""

    def __init__(self, browser, folder: Path, **options) -> None:
        self.context = browser.new_context(accept_downloads=True, **options)
        self.context.set_default_timeout(PATIENCE)
        self.page, self.folder, self.troubles = self.context.new_page(), folder, []
        self.page.on("console", lambda m: self.troubles.append(m.text) if m.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("request", lambda r: None if r.url.startswith(("file:", "blob:")) else self.troubles.append(r.url))

    def write(self, *body: str, lang: str = "en", theme: str = "light") -> str:
        file = self.folder / f"{lang}-{theme}.html"
        paper = "#121212" if theme == "dark" else "#ffffff"
        file.write_text(
            f'<!doctype html><html lang="{lang}" data-theme="{theme}"><head><meta charset="utf-8"><title>Page</title>'
            '<meta name="viewport" content="width=device-width"></head>'
            f'<body style="background:{paper}"><main>{"".join(body)}</main></body></html>',
            encoding="utf-8",
        )
        return file.as_uri()

    def open(self, *body: str, **look):
        self.page.goto(self.write(*body, **look))
        return self.page


def press(page, label: str, key: str, times: int = 1) -> None:
    for _ in range(times):
        page.get_by_label(label, exact=True).press(key)


def picture_of(page, index: int) -> str:
    """Pixels of one canvas, once the reader's last change is drawn."""
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return page.locator(".explorer canvas").nth(index).evaluate("canvas => canvas.toDataURL()")
