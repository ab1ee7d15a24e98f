"""What every explorer shares: its state, its page form and its live form.

An explorer is one ES module. A live widget takes its module as one string, and a page opened from a folder cannot
import a second file, so nothing is imported: `module_source` joins `drawing.js`, `common.js` and the explorer's own
`scripts`. The result defines `explorer` with two methods: `render` for a live kernel (it is the default export) and
`mount` for a page without one. What a script has to provide stands at the top of `common.js`.

    book build (BOOK_STATIC=1)   show(...) is a plain object whose HTML calls `explorer.mount`; no widget is created,
                                 since one open comm makes the page load a whole widget manager
    live kernel                  show(...) is an anywidget with the same traits; `w.n` can be read and set
    widget cannot be shown       its output also carries the page form, which draws itself if no live view appears
"""

from __future__ import annotations

import base64
import itertools
import json
import math
import numbers
import os
import uuid
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import anywidget
import numpy as np
import traitlets
from IPython.display import display

HERE = Path(__file__).parent
SHOWN = {"sync": True, "explorer": True}  # tags of a trait that the page sees
LIVE_VIEW_WAIT_MS = 5000  # a live view has this long to appear before the page form takes its place

_page_ids = itertools.count(1)


@cache
def module_source(scripts: tuple[str, ...]) -> str:
    """The ES module of an explorer with these scripts: shared code first, then its own."""
    return "\n".join((HERE / script).read_text(encoding="utf-8") for script in ("drawing.js", "common.js", *scripts))


@cache
def stylesheet() -> str:
    """The CSS of all explorers."""
    return (HERE / "explorer.css").read_text(encoding="utf-8")


class Number(traitlets.TraitType):
    """A number between `low` and `high`, shown in the page; `whole` ones are integers."""

    def __init__(self, default: float, low: float, high: float, *, whole: bool = True) -> None:
        super().__init__(default_value=default)
        self.low, self.high, self.whole = low, high, whole
        self.tag(**SHOWN)

    def validate(self, obj: Any, value: Any) -> int | float:
        kind = numbers.Integral if self.whole else numbers.Real
        number = float(value) if isinstance(value, kind) and not isinstance(value, bool) else math.nan
        if self.low <= number <= self.high:
            return int(number) if self.whole else number
        what = "a whole number" if self.whole else "a number"
        raise traitlets.TraitError(f"{self.name} must be {what} from {self.low} to {self.high}, but it is {value!r}")


def pack(values: np.ndarray) -> dict[str, Any]:
    """Any array → one byte per value; `unpack` in common.js gives it back to within half a step."""
    values = np.asarray(values, dtype=np.float64)
    if values.size == 0 or not np.isfinite(values).all():
        raise ValueError(f"pack needs a non-empty array of finite values, got shape {values.shape}; remove NaN and ∞")
    low = float(values.min())
    step = (float(values.max()) - low) / 255 or 1.0
    return {
        "data": np.rint((values - low) / step).astype(np.uint8).tobytes(),
        "shape": list(values.shape),
        "low": low,
        "step": step,
    }


def script_json(value: Any) -> str:
    """JSON that is safe inside <script>: bytes as base64, and no `<` that could end the element."""
    return json.dumps(value, ensure_ascii=False, default=lambda data: base64.b64encode(data).decode()).replace(
        "<", "\\u003c"
    )


class Explorer(traitlets.HasTraits):
    """State of one explorer; on its own it shows the page form. Subclasses add traits tagged SHOWN."""

    name: ClassVar[str]  # also in share links and file names
    scripts: ClassVar[tuple[str, ...]]
    lang = traitlets.Enum(("", "en", "ko"), "", help="'' follows the page").tag(**SHOWN)

    def state(self) -> dict[str, Any]:
        """What the page gets: every trait tagged SHOWN."""
        return {key: getattr(self, key) for key in self.trait_names(explorer=True)}

    def html(self, element_id: str | None = None, *, host: str = "page", wait: int = 0) -> str:
        """The page form. `host` is "page" (share links, language of the page) or "notebook"; `wait` see `mount`."""
        element_id = element_id or f"{self.name}-{next(_page_ids)}"
        arguments = ", ".join(map(script_json, (element_id, self.state() | {"host": host}, wait)))
        return (
            f"<style>{stylesheet()}</style>\n"
            f'<div id="{element_id}" class="explorer-place"><noscript>'
            '<p class="bi" lang="en">This explorer needs JavaScript.</p>'
            '<p class="bi" lang="ko">이 탐색기는 자바스크립트가 있어야 움직인다.</p></noscript></div>\n'
            f'<script type="module">\n{module_source(self.scripts)}\nexplorer.mount({arguments});\n</script>'
        )

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/html": self.html(), "text/plain": f"{type(self).__name__}({self.state()})"}


class LiveExplorer(anywidget.AnyWidget):
    """The same state as a widget. Mixed with an Explorer by `live_class`."""

    place = traitlets.Unicode(help="id of the element in which the page form waits").tag(sync=True)

    def __init__(self, **state: Any) -> None:
        super().__init__(place=f"explorer-{uuid.uuid4().hex}", **state)

    def _ipython_display_(self, **_: Any) -> None:
        """Two outputs: the page form, asleep while a live view is on the page, and the live view.

        One output with both MIME types is not enough: JupyterLab picks the widget type as soon as it knows ipywidgets,
        even if it cannot load anywidget or the kernel is gone, and then shows an error instead of the picture.
        """
        waiting = self.html(self.place, host="notebook", wait=LIVE_VIEW_WAIT_MS)
        display({"text/html": waiting, "text/plain": ""}, raw=True)
        data, metadata = self._repr_mimebundle_() or ({}, {})
        display(data, metadata=metadata, raw=True)


@cache
def live_class(explorer: type[Explorer]) -> type[LiveExplorer]:
    """The widget class of an explorer."""
    body = {"_esm": module_source(explorer.scripts), "_css": stylesheet(), "__module__": explorer.__module__}
    return type(explorer.__name__, (LiveExplorer, explorer), body)


def show(explorer: type[Explorer], **state: Any) -> Explorer | LiveExplorer:
    """The page form while the book is built (BOOK_STATIC=1), otherwise a live widget."""
    return explorer(**state) if os.environ.get("BOOK_STATIC") == "1" else live_class(explorer)(**state)
