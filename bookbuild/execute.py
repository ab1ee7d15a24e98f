"""Execute the English notebooks whose outputs are not fresh, two side by side, into _build/executed/."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbclient.util import ensure_async

from . import paths, recorder
from .freshness import Digests, Record, used_in_repository
from .kernels import own_sockets
from .paths import BuildError

KERNELS = 2  # notebooks that run at the same time; each takes about 1.5 GB of memory
SLOW = 5  # seconds from which a cell is named
RECORDER, DRAWING = Path(recorder.__file__), Path(__file__).with_name("drawing.py")
START = """
def _load(name, path):
    import importlib.util, sys
    spec = importlib.util.spec_from_file_location(name, path)
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
_load("book_recorder", {recorder!r}).start({log!r})
_load("book_drawing", {drawing!r}).start()
del _load
"""
FINISH = "__import__('book_recorder').finish()"


@dataclass(frozen=True)
class Task:
    """A notebook that has to run."""

    path: Path
    why: str
    expected: float  # seconds it took last time

    @property
    def name(self) -> str:
        return self.path.stem


def execute_all(root: Path, timeout: int, chosen: list[Path] | None = None) -> None:
    """Bring _build/executed up to date, for all notebooks or some; what is finished stays when another one fails."""
    every = paths.chapters([], root)
    notebooks = every if chosen is None else chosen
    digests, place = Digests(root), paths.executed(root)
    place.mkdir(parents=True, exist_ok=True)
    for path in place.iterdir():
        if path.stem not in {notebook.stem for notebook in every}:
            path.unlink()
    tasks = stale(notebooks, digests, place)
    print(f"Notebooks: {len(notebooks)}, of which {len(tasks)} to execute", flush=True)
    for task in tasks:
        print(f"  {task.name}: {task.why}", flush=True)
    asyncio.run(_side_by_side(tasks, root, digests, timeout))


def stale(notebooks: list[Path], digests: Digests, place: Path) -> list[Task]:
    """The notebooks that have to run, the longest first."""
    tasks = []
    for path in notebooks:
        record = Record.read(place / f"{path.stem}.json") if (place / path.name).exists() else None
        why = digests.why_stale(code_of(nbformat.read(path, as_version=4)), record)
        if why:
            tasks.append(Task(path, why, record.seconds if record else float("inf")))
    return sorted(tasks, key=lambda task: -task.expected)


def code_of(notebook: nbformat.NotebookNode) -> list[str]:
    """The text of its code cells."""
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


async def _side_by_side(tasks: list[Task], root: Path, digests: Digests, timeout: int) -> None:
    """Small networks gain little from a second thread: notebooks run side by side, each on its share of the cores."""
    cores = os.cpu_count() or 1
    places, threads = asyncio.Semaphore(min(KERNELS, cores)), max(1, cores // KERNELS)

    async def run(task: Task) -> None:
        async with places:
            began = time.time()
            notebook, used, seconds = await execute(task.path, root, timeout, threads)
            _keep(notebook, digests.record(code_of(notebook), used, began, seconds), paths.executed(root) / task.name)

    await asyncio.gather(*map(run, tasks))  # the first error ends the others


def _keep(notebook: nbformat.NotebookNode, record: Record, place: Path) -> None:
    """The record comes last: without it the outputs do not count."""
    place.with_suffix(".json").unlink(missing_ok=True)
    nbformat.write(notebook, place.with_suffix(".ipynb"))
    record.write(place.with_suffix(".json"))


async def execute(
    path: Path, root: Path, timeout: int, threads: int
) -> tuple[nbformat.NotebookNode, set[tuple[str, str]], float]:
    """Run a notebook from top to bottom: the notebook with outputs, what it used, and its seconds.

    A cell that raises stops the build.
    """
    notebook = nbformat.read(path, as_version=4)
    watch = Stopwatch()
    options: dict[str, Any] = {
        "timeout": timeout,
        "resources": {"metadata": {"path": str(path.parent)}},
        "extra_arguments": ["--log-level=ERROR"],  # a local kernel need not warn that its sockets are plain
        "on_cell_start": watch.starts,
        "on_cell_executed": watch.ends,
    }
    print(f"  {path.stem}: {len(notebook.cells)} cells, running", flush=True)
    begin = time.perf_counter()
    try:
        with own_sockets() as config, tempfile.TemporaryDirectory() as folder:
            log = Path(folder, "used")
            client = NotebookClient(notebook, config=config, **options)
            environment = os.environ | {"BOOK_STATIC": "1", "OMP_NUM_THREADS": str(threads)}
            async with client.async_setup_kernel(env=environment):
                await _run_hidden(client, START.format(recorder=str(RECORDER), drawing=str(DRAWING), log=str(log)))
                await client.async_execute(cleanup_kc=False)
                await _run_hidden(client, FINISH)
            used = used_in_repository(log, root)
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        trace = re.sub(r"\x1b\[[0-9;]*m", "", str(error))  # IPython's colours
        where = f"{paths.relative(path, root)}, cell {watch.cell}"
        raise BuildError(f"{where}: {type(error).__name__}\n{trace}") from error
    seconds = time.perf_counter() - begin
    slow = f" ({', '.join(watch.slow)})" if watch.slow else ""
    print(f"  {path.stem}: done in {seconds:.0f} s{slow}", flush=True)
    return notebook, used, seconds


class Stopwatch:
    """Which cell runs, and which took long."""

    def __init__(self) -> None:
        self.cell, self.since, self.slow = 0, 0.0, list[str]()

    def starts(self, cell: nbformat.NotebookNode, cell_index: int) -> None:
        """Called by nbclient before each cell."""
        self.cell, self.since = cell_index + 1, time.perf_counter()
        _leave_signals_alone()

    def ends(self, cell: nbformat.NotebookNode, cell_index: int, execute_reply: object) -> None:
        """Called by nbclient after each cell."""
        seconds = time.perf_counter() - self.since
        if seconds >= SLOW:
            self.slow.append(f"cell {cell_index + 1} {seconds:.0f} s")


async def _run_hidden(client: NotebookClient, code: str) -> None:
    """Code that is no cell of the notebook and does not count as one."""
    assert client.kc is not None
    _leave_signals_alone()
    sent = await ensure_async(client.kc.execute(code, silent=True, store_history=False))
    reply = await client.async_wait_for_reply(sent)
    if reply is None or reply["content"]["status"] != "ok":
        raise RuntimeError(f"The recorder of used files failed: {reply and reply['content']}")


def _leave_signals_alone() -> None:
    """Ctrl-C ends the build: nbclient would end one kernel with it and leave the other running."""
    for name in ("SIGINT", "SIGTERM"):
        with contextlib.suppress(NotImplementedError):  # Windows
            asyncio.get_running_loop().remove_signal_handler(getattr(signal, name))
