"""What every explorer shares: its state, its page form and its live form.

An explorer is one ES module. A live widget takes its module as one string, and a page opened from a folder cannot
import a second file, so nothing is imported: `module_source` joins the SHARED scripts and the explorer's own `scripts`.
The result defines `explorer` with two methods: `render` for a live kernel (it is the default export) and `mount` for a
page without one. What a script has to provide stands at the top of `common.js`.

    book build (BOOK_STATIC=1)   show(...) is a plain object whose HTML calls `explorer.mount`; no widget is created,
                                 since one open comm makes the page load a whole widget manager
    live kernel                  show(...) is an anywidget with the same traits; `w.n` can be read and set
    widget cannot be shown       its output also carries the page form, which draws itself if no live view appears

Data comes in two traits: `about`, small, is known to the page at once (names, sizes); `parts`, one for each model or
pair, can be large. A book build puts the parts beside the page, and the page loads the ones it shows; everywhere else
they travel with the explorer. A part may also be only the address of data that the package has stored (stored.py): it
goes to a page or a live view when the reader asks for it.
"""

from __future__ import annotations

import itertools
import json
import os
import uuid
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import anywidget
import traitlets
from IPython.display import display

from .packing import PARTS_MIME, address, script_json
from .stored import part_at
from .traits import SHOWN, Dependent

HERE = Path(__file__).parent
SHARED = ("drawing.js", "charts.js", "parts.js", "controls.js", "common.js")
LIVE_VIEW_WAIT_MS = 5000  # a live view has this long to appear before the page form takes its place

_page_ids = itertools.count(1)


@cache
def module_source(scripts: tuple[str, ...]) -> str:
    """The ES module of an explorer with these scripts: shared code first, then its own."""
    return "\n".join((HERE / script).read_text(encoding="utf-8") for script in (*SHARED, *scripts))


@cache
def stylesheet() -> str:
    """The CSS of all explorers."""
    return (HERE / "explorer.css").read_text(encoding="utf-8")


class Explorer(traitlets.HasTraits):
    """State of one explorer; on its own it shows the page form. Subclasses add traits tagged SHOWN."""

    name: ClassVar[str]  # also in share links and file names
    scripts: ClassVar[tuple[str, ...]]
    lang = traitlets.Enum(("", "en", "ko"), "", help="'' follows the page").tag(**SHOWN)
    about = traitlets.Dict(help="what the page knows before it has any part").tag(**SHOWN)
    parts = traitlets.Dict(help="{name: {packed arrays, texts, numbers}, or address of stored data}").tag(sync=True)

    def __init__(self, **state: Any) -> None:
        super().__init__(**{key: value for key, value in state.items() if value is not None})  # None: the default

    @traitlets.observe(traitlets.All)
    def _fit_dependents(self, change: Any) -> None:
        dependents = (trait for trait in self.traits(explorer=True).values() if isinstance(trait, Dependent))
        for trait in sorted(dependents, key=lambda trait: trait.order):
            if trait.name != change.name:
                trait.fit(self)

    def state(self) -> dict[str, Any]:
        """What the page gets at once: every trait tagged SHOWN."""
        return {key: getattr(self, key) for key in self.trait_names(explorer=True)}

    def html(self, element_id: str | None = None, *, host: str = "page", wait: int = 0, inline: bool = True) -> str:
        """The page form. `host` is "page" (share links, language of the page) or "notebook"; `wait` see `mount`.

        With `inline` it carries its parts, otherwise only their addresses.
        """
        element_id = element_id or f"{self.name}-{next(_page_ids)}"
        parts = self.parts if inline else {name: _address(part) for name, part in self.parts.items()}
        arguments = ", ".join(map(script_json, (element_id, self.state() | {"host": host, "parts": parts}, wait)))
        return (
            f"<style>{stylesheet()}</style>\n"
            f'<div id="{element_id}" class="explorer-place"><noscript>'
            '<p class="bi" lang="en">This explorer needs JavaScript.</p>'
            '<p class="bi" lang="ko">이 탐색기는 자바스크립트가 있어야 움직인다.</p></noscript></div>\n'
            f'<script type="module">\n{module_source(self.scripts)}\nexplorer.mount({arguments});\n</script>'
        )

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        values = ", ".join(f"{key}={value!r}" for key, value in self.state().items() if key not in ("about", "lang"))
        bundle: dict[str, Any] = {"text/html": self.html(inline=False)}
        bundle["text/plain"] = f"{type(self).__name__}({values})"
        if self.parts:
            content = lambda part: None if isinstance(part, str) else json.loads(script_json(part))
            bundle[PARTS_MIME] = {_address(part): content(part) for part in self.parts.values()}
        return bundle


def _address(part: Any) -> str:
    """Of a part; stored data is given by its address."""
    return part if isinstance(part, str) else address(part)


class LiveExplorer(anywidget.AnyWidget):
    """The same state as a widget. Mixed with an Explorer by `live_class`."""

    place = traitlets.Unicode(help="id of the element in which the page form waits").tag(sync=True)

    def __init__(self, **state: Any) -> None:
        super().__init__(place=f"explorer-{uuid.uuid4().hex}", **state)
        self.on_msg(self._send_part)

    def _send_part(self, _: Any, asked: dict[str, Any], __: Any) -> None:
        """Answer a view that wants stored data; only that of this explorer."""
        wanted = asked.get("part")
        if wanted in [part for part in self.parts.values() if isinstance(part, str)]:
            self.send({"part": wanted, "json": script_json(part_at(wanted))})

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
