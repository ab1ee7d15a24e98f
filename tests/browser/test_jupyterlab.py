"""Explorers in a real JupyterLab: page and kernel move each other, and a Lab without anywidget shows the page form."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Page, expect

pytest.importorskip("jupyterlab", reason="JupyterLab is not installed, so no explorer was tried live")

TOKEN = "explorer-test"
MINUTE = 60_000
CELLS = [
    "from helpers.explore import cka_bias_explorer\nw = cka_bias_explorer(n=64, p=256)\nw",
    "print('kernel sees n =', w.n, 'and signal =', w.signal)",
    "w.n, w.p = 512, 16",
]


def write_notebook(folder: Path) -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in CELLS])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, folder / "explorer.ipynb")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for_server(address: str, process: subprocess.Popen, log: Path) -> None:
    for _ in range(240):
        assert process.poll() is None, f"JupyterLab stopped:\n{log.read_text()}"
        try:
            urllib.request.urlopen(f"{address}/api/status?token={TOKEN}", timeout=5).close()
            return
        except OSError:
            time.sleep(0.5)
    raise AssertionError(f"JupyterLab did not answer:\n{log.read_text()}")


@pytest.fixture
def start_lab(tmp_path: Path):
    """start_lab(page_config) → address of a JupyterLab with settings of its own; stopped after the test."""
    processes = []

    def start(page_config: dict) -> str:
        config, port, log = tmp_path / "config", free_port(), tmp_path / "lab.log"
        (config / "labconfig").mkdir(parents=True)
        (config / "labconfig" / "page_config.json").write_text(json.dumps(page_config))
        write_notebook(tmp_path)
        own = {
            "JUPYTER_CONFIG_DIR": config,
            "JUPYTER_RUNTIME_DIR": tmp_path / "run",
            "JUPYTERLAB_SETTINGS_DIR": config,
            "JUPYTERLAB_WORKSPACES_DIR": config,
            "IPYTHONDIR": tmp_path / "ipython",
        }
        environment = {key: value for key, value in os.environ.items() if key != "BOOK_STATIC"}
        environment |= {key: str(folder) for key, folder in own.items()}
        options = f"--no-browser --allow-root --ip=127.0.0.1 --port={port} --IdentityProvider.token={TOKEN}"
        command = [sys.executable, "-m", "jupyterlab", *options.split(), f"--ServerApp.root_dir={tmp_path}"]
        with log.open("w") as output:
            process = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
        processes.append(process)
        wait_for_server(f"http://127.0.0.1:{port}", process, log)
        return f"http://127.0.0.1:{port}"

    yield start
    for process in processes:
        process.terminate()
        process.wait(timeout=30)


@pytest.fixture
def page(browser):
    context = browser.new_context(viewport={"width": 1280, "height": 1400}, locale="en-US")
    yield context.new_page()
    context.close()


def cell(page: Page, index: int):
    return page.locator(".jp-Notebook .jp-CodeCell").nth(index)


def run_cell(page: Page, index: int) -> None:
    cell(page, index).locator(".cm-content").click()
    page.keyboard.press("Shift+Enter")


def kernel_is_ready(address: str) -> bool:
    with urllib.request.urlopen(f"{address}/api/sessions?token={TOKEN}", timeout=30) as answer:
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
    explorer = page.locator(".explorer")
    expect(explorer.locator(".ex-caption")).to_contain_text("n = 64 examples, p = 256 features", timeout=2 * MINUTE)

    slider = explorer.get_by_label("Examples n")
    slider.focus()
    slider.press("ArrowUp")
    slider.press("ArrowRight")
    expect(slider).to_be_focused()  # JupyterLab's own arrow shortcuts would have moved to another cell
    expect(explorer.locator(".ex-caption")).to_contain_text("n = 91 examples")
    explorer.get_by_label("Shared signal s").press("End")
    run_cell(page, 1)
    expect(cell(page, 1)).to_contain_text("kernel sees n = 91 and signal = 1.0", timeout=MINUTE)

    run_cell(page, 2)
    expect(explorer.locator(".ex-caption")).to_contain_text("n = 512 examples, p = 16 features", timeout=MINUTE)
    expect(slider).to_have_attribute("aria-valuetext", "512")
    page.wait_for_timeout(6000)  # longer than the page form waits for a live view
    expect(explorer).to_have_count(1)
    expect(explorer.get_by_role("button", name="Copy link")).to_be_hidden()


def test_without_anywidget_the_page_form_appears(start_lab, page):
    open_and_run_first_cell(page, start_lab({"disabledExtensions": {"anywidget": True}}))
    explorer = page.locator(".explorer")
    expect(explorer.locator(".ex-caption")).to_contain_text("n = 64 examples", timeout=2 * MINUTE)
    explorer.get_by_label("Features p").press("End")
    expect(explorer.locator(".ex-caption")).to_contain_text("p = 4096 features")
