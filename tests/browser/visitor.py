"""A reader of the built site."""

from __future__ import annotations

from plain_page import PATIENCE


class Visitor:
    """A page in a context of its own, with everything that went wrong on it."""

    def __init__(self, browser, own: str, **options):
        self.troubles: list[str] = []
        self.context = browser.new_context(**options)
        self.context.set_default_timeout(PATIENCE)
        self.context.on("request", lambda r: self._note(not r.url.startswith((own, "data:", "blob:")),
                                                        f"other host: {r.url}"))
        self.page = self.context.new_page()
        self.page.on("console", lambda m: self._note(m.type == "error", f"console: {m.text}"))
        self.page.on("pageerror", lambda error: self._note(True, f"script: {error}"))
        # A page that is left while its icon loads aborts that request: no trouble of the site.
        self.page.on("requestfailed", lambda r: self._note("ERR_ABORTED" not in r.failure, f"{r.failure}: {r.url}"))
        self.page.on("response", lambda r: self._note(r.status >= 400, f"{r.status}: {r.url}"))

    def _note(self, happened: bool, what: str) -> None:
        if happened:
            self.troubles.append(f"{self.page.url}: {what}")

    def open(self, url: str):
        """Go there and wait until formulas are set."""
        self.page.goto(url, wait_until="load")
        self.page.evaluate("window.setFormulas?.()")
        return self.page
