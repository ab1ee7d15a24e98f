"""Explorers in a real JupyterLab: page and kernel move each other, and a Lab without anywidget shows the page form."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from explorer_moves import moves
from plain_page import PATIENCE
from playwright.sync_api import Page, expect

from helpers import explore

pytest.importorskip("jupyterlab", reason="JupyterLab is not installed, so no explorer was tried live")

TOKEN = "explorer-test"
MINUTE = 60_000
CELLS = [
    "from helpers.explore import cka_bias_explorer\nw = cka_bias_explorer(n=64, p=256)\nw",
    "print('kernel sees n =', w.n, 'and signal =', w.signal)",
    "w.n, w.p = 512, 16",
    """import numpy as np
from helpers import CKA
from helpers.explore import cka_explorer
values = np.random.default_rng(0).random((5, 5))
pair = CKA(values[:3, :3], ["a0", "a1", "a2"], 9, 9, values[3:, 3:], values[:3, 3:], ["b0", "b1"])
m = cka_explorer({"A × B": pair}, row=1)
m""",
    "print('kernel sees', m.pair, m.row, m.column, 'where CKA is', f'{pair.other[m.column, m.row]:.3f}')",
    "m.pair, m.row, m.column = 'A', 'a2', 1\nprint(f'CKA {pair.within[2, 1]:.3f}')",
    "m.row = 99",
]


WITH_DATA = [
    """import time
from helpers import load_images, load_model
from helpers.explore import attention_explorer
w = attention_explorer(load_model('vit_cls'), load_images(n=2), layer=1, head=2, full_size=True)
w.observe(lambda change: time.sleep(2), 'layer')  # a kernel that is busy while the reader moves on
w""",
    "print('kernel sees', w.layer, w.head, w.query)",
    "w.image, w.layer, w.head, w.query = 1, 4, 'mean', 0",
]


def write_notebook(folder: Path, cells: list[str]) -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, folder / "explorer.ipynb")


def wait_for_server(runtime: Path, process: subprocess.Popen, log: Path) -> str:
    """The address at which JupyterLab answers; it chooses its port itself and writes it down."""
    for _ in range(600):
        assert process.poll() is None, f"JupyterLab stopped:\n{log.read_text()}"
        try:
            address = f"http://127.0.0.1:{json.loads(next(runtime.glob('jpserver-*.json')).read_text())['port']}"
            urllib.request.urlopen(f"{address}/api/status?token={TOKEN}", timeout=5).close()
            return address
        except (OSError, StopIteration, ValueError):  # not there, not yet, or half written
            time.sleep(0.5)
    raise AssertionError(f"JupyterLab did not answer:\n{log.read_text()}")


@pytest.fixture
def start_lab(tmp_path: Path):
    """start_lab(page_config, cells) → address of a JupyterLab with settings of its own; stopped after the test."""
    processes = []
    runtime = Path(tempfile.mkdtemp(prefix="lab-"))  # its kernels' sockets lie there: the path must be short

    def start(page_config: dict, cells: list[str] = CELLS) -> str:
        config, log = tmp_path / "config", tmp_path / "lab.log"
        (config / "labconfig").mkdir(parents=True)
        (config / "labconfig" / "page_config.json").write_text(json.dumps(page_config))
        write_notebook(tmp_path, cells)
        own = {
            "JUPYTER_CONFIG_DIR": config,
            "JUPYTER_RUNTIME_DIR": runtime,
            "JUPYTERLAB_SETTINGS_DIR": config,
            "JUPYTERLAB_WORKSPACES_DIR": config,
            "IPYTHONDIR": tmp_path / "ipython",
        }
        environment = {key: value for key, value in os.environ.items() if key != "BOOK_STATIC"}
        environment |= {key: str(folder) for key, folder in own.items()}
        options = f"--no-browser --allow-root --ip=127.0.0.1 --port=0 --IdentityProvider.token={TOKEN}"
        options += "" if os.name == "nt" else " --KernelManager.transport=ipc"  # see bookbuild/kernels.py
        command = [sys.executable, "-m", "jupyterlab", *options.split(), f"--ServerApp.root_dir={tmp_path}"]
        with log.open("w") as output:
            process = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
        processes.append(process)
        return wait_for_server(runtime, process, log)

    yield start
    for process in processes:
        process.terminate()
        process.wait(timeout=300)
    shutil.rmtree(runtime, ignore_errors=True)


@pytest.fixture
def page(browser):
    context = browser.new_context(viewport={"width": 1280, "height": 1400}, locale="en-US")
    context.set_default_timeout(PATIENCE)
    yield context.new_page()
    context.close()


def cell(page: Page, index: int):
    return page.locator(".jp-Notebook .jp-CodeCell").nth(index)


def run_cell(page: Page, index: int) -> None:
    cell(page, index).locator(".cm-content").click()
    page.keyboard.press("Shift+Enter")


def run_until(page: Page, index: int, arrived: Callable[[int], None]) -> None:
    """Runs a cell until `arrived(milliseconds)`, which expects its effect, is content.

    Once is not enough: while the kernel is busy with one change of a widget, ipywidgets holds the next ones back, and a
    cell run right away overtakes them.
    """
    attempts = 40
    for attempt in range(attempts):
        run_cell(page, index)
        try:
            return arrived(PATIENCE // attempts)
        except AssertionError:
            if attempt == attempts - 1:
                raise


def ask(page: Page, index: int, answer: str | re.Pattern[str]) -> None:
    """Runs a cell that prints what the kernel knows until it prints `answer`."""
    run_until(page, index, lambda timeout: expect(cell(page, index)).to_contain_text(answer, timeout=timeout))


def kernel_is_ready(address: str) -> bool:
    with urllib.request.urlopen(f"{address}/api/sessions?token={TOKEN}", timeout=120) as answer:
        kernels = [session["kernel"] for session in json.load(answer)]
    return any(kernel["connections"] > 0 and kernel["execution_state"] == "idle" for kernel in kernels)


def open_and_run_first_cell(page: Page, address: str) -> None:
    """JupyterLab says "idle" before it has a kernel and drops a cell run then, so the server is asked."""
    page.goto(f"{address}/lab/tree/explorer.ipynb?token={TOKEN}")
    expect(cell(page, 0)).to_be_visible(timeout=3 * MINUTE)
    deadline = time.monotonic() + 180
    while not kernel_is_ready(address):
        assert time.monotonic() < deadline, "JupyterLab started no kernel for the notebook"
        page.wait_for_timeout(500)
    run_cell(page, 0)


def test_page_and_kernel_move_each_other(start_lab, page):
    open_and_run_first_cell(page, start_lab({}))
    explorer = cell(page, 0).locator(".explorer")
    expect(explorer.locator(".ex-caption")).to_contain_text("n = 64 examples, p = 256 features")

    slider = explorer.get_by_label("Examples n")
    slider.focus()
    slider.press("ArrowUp")
    slider.press("ArrowRight")
    expect(slider).to_be_focused()  # JupyterLab's own arrow shortcuts would have moved to another cell
    expect(explorer.locator(".ex-caption")).to_contain_text("n = 91 examples")
    explorer.get_by_label("Shared signal s").press("End")
    ask(page, 1, "kernel sees n = 91 and signal = 1.0")

    run_cell(page, 2)
    expect(explorer.locator(".ex-caption")).to_contain_text("n = 512 examples, p = 16 features")
    expect(slider).to_have_attribute("aria-valuetext", "512")
    page.wait_for_timeout(6000)  # longer than the page form waits for a live view
    expect(explorer).to_have_count(1)
    expect(explorer.get_by_role("button", name="Copy link")).to_be_hidden()
    move_an_explorer_with_data(page)


def move_an_explorer_with_data(page: Page) -> None:
    """Its parts arrive as bytes; values that another choice makes impossible follow, in the page and in the kernel."""
    run_cell(page, 3)
    explorer = cell(page, 3).locator(".explorer")
    expect(explorer.locator(".ex-caption")).to_contain_text("A a0 and B b1: CKA 0.")
    explorer.get_by_role("slider").first.press("ArrowRight")
    expect(explorer.locator(".ex-caption")).to_contain_text("A a1 and B b1")
    explorer.get_by_role("slider").first.press("ArrowRight")
    explorer.get_by_label("Models").select_option("B")  # has no third layer
    expect(explorer.locator(".ex-caption")).to_contain_text("B b1 and B b1")
    ask(page, 4, "kernel sees B 1 1 where CKA is")
    value = cell(page, 4).locator(".jp-OutputArea-output").inner_text().split()[-1]
    expect(explorer.locator(".ex-caption")).to_contain_text(f"CKA {value}.")
    run_cell(page, 5)
    expect(explorer.locator(".ex-caption")).to_contain_text("A a1 and A a2")
    printed = cell(page, 5).locator(".jp-OutputArea-output").inner_text().strip()
    expect(explorer.locator(".ex-caption")).to_contain_text(printed)
    run_cell(page, 6)
    expect(cell(page, 6)).to_contain_text("row must be a whole number from 0 (a0) to 2 (a2)")


def test_data_reaches_the_live_view(start_lab, page):
    open_and_run_first_cell(page, start_lab({}, WITH_DATA))
    explorer = page.locator(".explorer")
    expect(explorer.locator(".ex-caption")).to_contain_text("Block 1, head 2, query patch (4, 4)", timeout=3 * MINUTE)
    explorer.get_by_label("Block", exact=True).press("ArrowRight")
    explorer.get_by_label("Head", exact=True).select_option("5")
    explorer.get_by_role("slider", name="Query token").press("ArrowUp")
    expect(explorer.locator(".ex-caption")).to_contain_text("Block 2, head 5, query patch (3, 4)")
    ask(page, 1, "kernel sees 2 5 29")
    run_cell(page, 2)
    expect(explorer.locator(".ex-caption")).to_contain_text("Block 4, mean of all heads, query [CLS]")
    explorer.get_by_label("Network", exact=True).select_option("ViT-Ti")  # the kernel sends what the package has stored
    expect(explorer.locator(".ex-caption")).to_contain_text("The networks take this photo for: ViT-Ti")


EXPLORERS = sorted(name.removesuffix("_explorer") for name in explore.__all__)
EVERY = [f"import sys\nsys.path.insert(0, {str(Path(__file__).parent)!r})\n"
         "from live_explorers import changed, explorers, restore\nprint(sorted(explorers))"]
for name in EXPLORERS:
    EVERY += [f"explorers[{name!r}]", f"print('changed:', *changed({name!r}))", f"restore({name!r})"]


def test_every_explorer_reaches_the_kernel_and_back(start_lab, page):
    """A control moved in the page changes a trait; the trait set back in Python gives the first caption again."""
    open_and_run_first_cell(page, start_lab({}, EVERY))
    expect(cell(page, 0)).to_contain_text(str(EXPLORERS), timeout=5 * MINUTE)
    for index, name in enumerate(EXPLORERS):
        shown, asked, restored = range(3 * index + 1, 3 * index + 4)
        run_cell(page, shown)
        explorer = cell(page, shown).locator(".explorer")
        caption = explorer.locator(".ex-caption")
        expect(caption).to_contain_text(re.compile(r"\d"))
        expect(caption).not_to_contain_text("computing")
        before = caption.inner_text()
        _, move = next(moves(explorer))
        move()
        expect(caption, name).not_to_have_text(before)
        ask(page, asked, re.compile(r"changed: \w+"))
        run_until(page, restored, lambda timeout, caption=caption, name=name, before=before:
                  expect(caption, name).to_have_text(before, use_inner_text=True, timeout=timeout))


def test_without_anywidget_the_page_form_appears(start_lab, page):
    open_and_run_first_cell(page, start_lab({"disabledExtensions": {"anywidget": True}}))
    explorer = page.locator(".explorer")
    expect(explorer.locator(".ex-caption")).to_contain_text("n = 64 examples")
    explorer.get_by_label("Features p").press("End")
    expect(explorer.locator(".ex-caption")).to_contain_text("p = 4096 features")
