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
from kernels import own_sockets

from helpers.explore import cka_bias_explorer
from helpers.explore.base import HERE, Explorer, module_source, show
from helpers.explore.packing import PARTS_MIME, both_languages, pack, part_script, script_json
from helpers.explore.traits import SHOWN, Choice, Index

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
    values = {"n": 64, "p": 16, "signal": 0.25, "seed": 3}
    assert mounted_state(html) == {**values, "lang": "", "host": "page", "about": {}, "parts": {}}
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
    assert base64.b64decode(state["image"]["data"]) == packed["data"] == b"\x00\xfe"


@pytest.mark.parametrize("values", [np.array([]), np.array([1.0, np.nan]), np.array([np.inf])])
def test_values_without_a_finite_range_are_not_packed(values):
    with pytest.raises(ValueError, match="finite values"):
        pack(values)
    with pytest.raises(ValueError, match="finite values"):
        pack(values, digits=3)


def test_numbers_that_are_read_keep_the_decimals_that_python_writes():
    values = np.random.default_rng(0).normal(size=2000)
    values[:3] = 0.4995, -0.0004, 1.0005  # halves and a negative zero
    packed = pack(values, digits=3)
    codes = np.frombuffer(packed["data"], "<u2")
    assert [f"{packed['low'] + packed['step'] * code:.3f}".replace("-0.000", "0.000") for code in codes] == [
        f"{value:.3f}".replace("-0.000", "0.000") for value in values
    ]


def test_a_wide_range_takes_four_bytes_and_too_wide_a_range_is_refused():
    packed = pack(np.array([0.25, np.nan, 38896.81]), digits=2, allow_nan=True)
    assert packed["bytes"] == 4
    codes = np.frombuffer(packed["data"], "<u4")
    assert f"{packed['low'] + packed['step'] * codes[2]:.2f}" == "38896.81" and codes[1] == packed["undefined"]
    with pytest.raises(ValueError, match="fewer digits"):
        pack(np.array([0.0, 1e8]), digits=3)


def test_undefined_values_have_a_code_of_their_own():
    values = np.array([[1.0, np.nan], [0.25, 0.0]])
    for packed, kind in [(pack(values, allow_nan=True), "u1"), (pack(values, digits=3, allow_nan=True), "<u2")]:
        codes = np.frombuffer(packed["data"], kind)
        assert (codes == packed["undefined"]).tolist() == [False, True, False, False]
    assert "undefined" not in pack(np.array([1.0, 0.0]), allow_nan=True)
    with pytest.raises(ValueError, match="or NaN here and there"):
        pack(np.array([np.nan]), allow_nan=True)


def test_pictures_are_packed_as_they_are():
    image = np.random.default_rng(0).integers(3, 250, (4, 5, 3), dtype=np.uint8)
    assert pack(image) == {"data": image.tobytes(), "shape": [4, 5, 3], "low": 0.0, "step": 1.0, "bytes": 1}


# --- parts ------------------------------------------------------------------------------------------------------------

LAYERS = {"vit": ["blocks.0", "blocks.1", "blocks.2"], "resnet": ["stages.0"]}


class Layered(Labelled):
    """An explorer with a model and one of its layers."""

    model = Choice(lambda w: w.about)
    layer = Index(lambda w: w.about[w.model])
    token = Index(lambda w: 4, last=True)


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


def test_a_part_becomes_a_script_that_cannot_end_early():
    text = part_script("0123", {"name": "</script><!--"})
    assert "<" not in text.replace("\\u003c", "")
    assert json.loads(text[text.index("] = ") + 4 : -2]) == {"name": "</script><!--"}


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"model": "vitt"}, "model must be one of 'vit', 'resnet', but it is 'vitt'; did you mean 'vit'?"),
        ({"model": 3}, "model must be one of 'vit', 'resnet', but it is 3"),
        ({"layer": 99}, "layer must be a whole number from 0 (blocks.0) to 2 (blocks.2) or one of these names"),
        ({"layer": "blocks.7"}, "but it is 'blocks.7'; did you mean 'blocks."),
        ({"layer": -1}, "but it is -1"),
        ({"layer": True}, "but it is True"),
        ({"model": "resnet", "layer": 1}, "layer must be a whole number from 0 (stages.0) to 0 (stages.0)"),
        ({"model": "wrong", "layer": 1}, "model must be one of"),
        ({"token": 4}, "token must be a whole number from 0 to 3, but it is 4"),
        ({"token": "4"}, "token must be a whole number from 0 to 3, but it is '4'"),
    ],
)
@pytest.mark.parametrize("static", ["0", "1"])
def test_unknown_layers_and_names_are_refused(state, message, static, monkeypatch):
    monkeypatch.setenv("BOOK_STATIC", static)
    with pytest.raises(traitlets.TraitError, match=re.escape(message)):
        show(Layered, about=LAYERS, **state)


@pytest.mark.parametrize("static", ["0", "1"])
def test_a_layer_that_the_new_model_lacks_becomes_its_last(static, monkeypatch):
    monkeypatch.setenv("BOOK_STATIC", static)
    w = show(Layered, about=LAYERS)
    assert (w.model, w.layer, w.token) == ("vit", 0, 3)
    w.layer = "blocks.2"
    assert w.layer == 2
    w.model = "resnet"
    assert w.layer == 0
    with pytest.raises(traitlets.TraitError, match="blocks"):
        w.model, w.layer = "vit", 3
    assert (w.model, w.layer) == ("vit", 0)


def test_the_page_may_change_model_and_layer_at_once(live_kernel):
    w = show(Layered, about=LAYERS, model="resnet")
    w.set_state({"layer": 2, "model": "vit"})
    assert (w.model, w.layer) == ("vit", 2)


def test_names_come_in_both_languages():
    names = {"b": {"en": "untrained", "ko": "학습하지 않음"}}
    assert both_languages(["a", "b"], names) == {"a": {"en": "a", "ko": "a"}, "b": names["b"]}
    with pytest.raises(ValueError, match="names has 'c', which is not one of 'a', 'b'"):
        both_languages(["a", "b"], {"c": "d"})
    with pytest.raises(ValueError, match="must be a text or"):
        both_languages(["a"], {"a": {"en": "only English"}})


def test_unknown_objects_in_the_state_are_an_error():
    with pytest.raises(TypeError):
        script_json({"model": object()})


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
