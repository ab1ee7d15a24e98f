"""Explorers from Python: what they accept, what they hand to the page, and that a book build opens no widget."""

from __future__ import annotations

import base64
import re

import ipywidgets
import nbclient
import nbformat
import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from bookbuild.kernels import own_sockets
from explorer_samples import Elements, Labelled, mounted_state
from helpers.explore import cka_bias_explorer
from helpers.explore.base import HERE, show
from helpers.explore.packing import PARTS_MIME, pack

SCRIPTS = sorted(HERE.glob("*.js"))
NEVER = ("</script", "<!--", "innerHTML", "insertAdjacentHTML", "document.write", "eval(", "http:", "https:")


def test_a_book_build_gets_html_and_no_widget(book_build):
    explorer = cka_bias_explorer(n=64, p=16, signal=0.25, seed=3)
    assert not isinstance(explorer, ipywidgets.Widget)
    html = explorer._repr_mimebundle_()["text/html"]
    values = {"n": 64, "p": 16, "signal": 0.25, "seed": 3}
    assert mounted_state(html) == {**values, "lang": "", "host": "page", "about": {}, "parts": {}}
    assert Elements(html).tags.count("script") == 1


def test_two_explorers_on_a_page_have_their_own_places(book_build):
    places = [re.search(r'<div id="([^"]+)"', cka_bias_explorer().html())[1] for _ in range(2)]
    assert places[0] != places[1]


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


# --- parts ------------------------------------------------------------------------------------------------------------

def test_a_book_page_names_its_parts_and_carries_them_beside_the_html(book_build):
    parts = {"first": {"values": pack(np.arange(4.0)), "name": "a"}, "second": {"values": pack([1, 1]), "name": "b"}}
    bundle = show(Labelled, parts=parts)._repr_mimebundle_()
    named, carried = mounted_state(bundle["text/html"])["parts"], bundle[PARTS_MIME]
    assert set(named) == set(parts) and set(named.values()) == set(carried)
    assert carried[named["second"]]["name"] == "b"
    assert base64.b64decode(carried[named["first"]]["values"]["data"]) == parts["first"]["values"]["data"]
    changed = parts | {"first": {"values": pack(np.arange(4.0) ** 2), "name": "a"}}
    again = mounted_state(show(Labelled, parts=changed)._repr_mimebundle_()["text/html"])["parts"]
    assert again["second"] == named["second"] and again["first"] != named["first"]


def test_a_page_without_parts_has_no_such_output(book_build):
    assert PARTS_MIME not in cka_bias_explorer()._repr_mimebundle_()


def test_everywhere_else_the_parts_travel_with_the_explorer(live_kernel):
    explorer = show(Labelled, parts={"first": {"values": pack(np.arange(4.0))}})
    assert explorer.get_state()["parts"]["first"]["values"]["data"] == pack(np.arange(4.0))["data"]
    state = mounted_state(explorer.html(host="notebook"))
    assert state["parts"]["first"]["values"]["shape"] == [4]


@pytest.mark.notebooks
@pytest.mark.parametrize(("static", "widgets"), [("1", False), ("0", True)])
def test_an_executed_notebook_carries_a_widget_only_outside_the_book(static, widgets, monkeypatch):
    monkeypatch.setenv("BOOK_STATIC", static)
    source = "from helpers.explore import cka_bias_explorer\ncka_bias_explorer()"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    with own_sockets() as config:
        nbclient.NotebookClient(notebook, config=config, kernel_name="python3", timeout=300).execute()
    outputs = [output.data for output in notebook.cells[0].outputs]
    assert "explorer.mount(" in outputs[0]["text/html"]
    assert any("application/vnd.jupyter.widget-view+json" in data for data in outputs) is widgets
    assert ("widgets" in notebook.metadata) is widgets
