"""Explorers from Python: what they accept, what they hand to the page, and that a book build opens no widget."""

from __future__ import annotations

import base64
import json
import re
from html.parser import HTMLParser

import anywidget
import ipywidgets
import nbclient
import nbformat
import numpy as np
import pytest
import traitlets
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from helpers.explore import cka_bias_explorer
from helpers.explore.base import HERE, SHOWN, Explorer, module_source, pack, script_json, show

SCRIPTS = sorted(HERE.glob("*.js"))
NEVER = ("</script", "<!--", "innerHTML", "insertAdjacentHTML", "document.write", "eval(", "http:", "https:")


class Labelled(Explorer):
    """An explorer whose state is a text and some bytes."""

    name = "labelled"
    scripts = ("cka_sample.js", "cka_bias.js")
    text = traitlets.Unicode().tag(**SHOWN)
    image = traitlets.Dict().tag(**SHOWN)


class Elements(HTMLParser):
    """All tags of a piece of HTML and the text inside <script>."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.script = ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        self.script += data if self.tags[-1:] == ["script"] else ""


@pytest.fixture
def book_build(monkeypatch):
    monkeypatch.setenv("BOOK_STATIC", "1")


@pytest.fixture
def live_kernel(monkeypatch):
    monkeypatch.delenv("BOOK_STATIC", raising=False)
    yield
    ipywidgets.Widget.close_all()


def mounted_state(html: str) -> dict:
    """The state in the call of `explorer.mount`."""
    call = re.search(r"^explorer\.mount\((.*)\);$", Elements(html).script, re.MULTILINE)
    return json.loads(f"[{call[1]}]")[1]


def test_a_book_build_gets_html_and_no_widget(book_build):
    explorer = cka_bias_explorer(n=64, p=16, signal=0.25, seed=3)
    assert not isinstance(explorer, ipywidgets.Widget)
    html = explorer._repr_mimebundle_()["text/html"]
    assert mounted_state(html) == {"n": 64, "p": 16, "signal": 0.25, "seed": 3, "lang": "", "host": "page"}
    assert Elements(html).tags.count("script") == 1


def test_two_explorers_on_a_page_have_their_own_places(book_build):
    places = [re.search(r'<div id="([^"]+)"', cka_bias_explorer().html())[1] for _ in range(2)]
    assert places[0] != places[1]


def test_a_live_kernel_gets_a_widget_whose_traits_can_be_set(live_kernel):
    explorer = cka_bias_explorer(n=64)
    assert isinstance(explorer, anywidget.AnyWidget)
    explorer.n, explorer.signal = np.int64(256), 1
    synced = explorer.get_state()
    assert (synced["n"], synced["p"], synced["signal"]) == (256, 1024, 1.0)
    assert synced["_esm"] == module_source(explorer.scripts)
    assert json.dumps({key: synced[key] for key in ("n", "p", "signal", "seed")})  # plain numbers, not numpy's


def test_a_live_explorer_also_shows_a_page_form_that_waits_for_it(live_kernel):
    shell = InteractiveShell.instance()
    try:
        explorer = cka_bias_explorer(n=64)
        with capture_output() as captured:
            explorer._ipython_display_()
    finally:
        shell.clear_instance()
    waiting, live = (output.data for output in captured.outputs)
    assert live["application/vnd.jupyter.widget-view+json"]["model_id"] == explorer.model_id
    assert f'<div id="{explorer.place}"' in waiting["text/html"]
    assert mounted_state(waiting["text/html"])["host"] == "notebook"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 7}, "n must be a whole number from 8 to 1024, but it is 7"),
        ({"n": 12.5}, "n must be a whole number from 8 to 1024, but it is 12.5"),
        ({"p": 5000}, "p must be a whole number from 1 to 4096, but it is 5000"),
        ({"p": "64"}, "p must be a whole number from 1 to 4096, but it is '64'"),
        ({"p": True}, "p must be a whole number from 1 to 4096, but it is True"),
        ({"signal": 1.5}, "signal must be a number from 0 to 1, but it is 1.5"),
        ({"signal": float("nan")}, "signal must be a number from 0 to 1, but it is nan"),
        ({"seed": -1}, "seed must be a whole number from 0 to"),
    ],
)
@pytest.mark.parametrize("static", ["0", "1"])
def test_wrong_arguments_are_refused_in_both_forms(arguments, message, static, monkeypatch):
    monkeypatch.setenv("BOOK_STATIC", static)
    with pytest.raises(traitlets.TraitError, match=re.escape(message)):
        cka_bias_explorer(**arguments)


def test_data_cannot_leave_the_script_element(book_build):
    text = "</script><script>alert(1)</script><!-- <b>"
    html = show(Labelled, text=text).html()
    assert Elements(html).tags.count("script") == 1
    assert mounted_state(html)["text"] == text


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_scripts_can_stand_in_a_page_and_never_read_html(script):
    source = script.read_text(encoding="utf-8")
    for forbidden in NEVER:
        assert forbidden not in source, f"{script.name} contains {forbidden}"
    assert not re.search(r"^\s*import\b", source, re.MULTILINE), f"{script.name} imports; base.py joins files instead"


@pytest.mark.parametrize("values", [np.linspace(-2, 3, 24).reshape(2, 3, 4), np.full((5,), 0.7), np.arange(2)])
def test_packed_values_come_back_to_within_half_a_step(values):
    packed = pack(values)
    back = packed["low"] + packed["step"] * np.frombuffer(packed["data"], np.uint8).reshape(packed["shape"])
    assert len(packed["data"]) == values.size
    assert np.abs(back - values).max() <= packed["step"] / 2 + 1e-12


def test_packed_values_travel_as_base64_in_a_page(book_build):
    packed = pack(np.array([0.0, 1.0]))
    state = mounted_state(show(Labelled, image=packed).html())
    assert base64.b64decode(state["image"]["data"]) == packed["data"] == b"\x00\xff"


@pytest.mark.parametrize("values", [np.array([]), np.array([1.0, np.nan]), np.array([np.inf])])
def test_values_without_a_finite_range_are_not_packed(values):
    with pytest.raises(ValueError, match="finite values"):
        pack(values)


def test_unknown_objects_in_the_state_are_an_error():
    with pytest.raises(TypeError):
        script_json({"model": object()})


@pytest.mark.notebooks
@pytest.mark.parametrize(("static", "widgets"), [("1", False), ("0", True)])
def test_an_executed_notebook_carries_a_widget_only_outside_the_book(static, widgets, monkeypatch):
    monkeypatch.setenv("BOOK_STATIC", static)
    source = "from helpers.explore import cka_bias_explorer\ncka_bias_explorer()"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    nbclient.NotebookClient(notebook, kernel_name="python3", timeout=300).execute()
    outputs = [output.data for output in notebook.cells[0].outputs]
    assert "explorer.mount(" in outputs[0]["text/html"]
    assert any("application/vnd.jupyter.widget-view+json" in data for data in outputs) is widgets
    assert ("widgets" in notebook.metadata) is widgets
