"""Run chapters at paper scale without the public weights: `python -m bookbuild paper-paths --images folder 18 21`.

Every public network keeps its architecture and its preprocessing and gets random weights; a YAML file of `make paper`
may name stand-ins with weights of their own, one for each kind of network (--spec file.yml --vit name --cnn name).
A line per chapter says what it computed and read, and the minutes that a T4 would take with the same photos, reckoned
as on the page "At full size".
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any
from zlib import crc32

import nbclient
import nbformat
import timm
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from helpers.inputs.photos import Photos
from helpers.networks import zoo
from helpers.paper import cost
from helpers.paper.networks import Network, find_networks, kind, read_spec

from .kernels import own_sockets
from .paths import ROOT, chapters

OUT = ROOT / "_build" / "paper_paths"
SECONDS_PER_PHOTO = 0.01  # to decode and to prepare one, on one core


def try_chapters(numbers: list[str], images: Path, spec: Path | None, vit: str | None, cnn: str | None) -> None:
    """Run all chapters, or those with these numbers, at paper scale; exit with a sentence when one fails."""
    os.environ["BOOK_PHOTOS"] = str(images.resolve())
    file = str(spec.resolve()) if spec else None
    prelude = (f"from bookbuild import paper_paths\npaper_paths.use_stand_ins({file!r}, vit={vit!r}, cnn={cnn!r})\n"
               "counted = paper_paths.Counted().__enter__()")
    chosen = chapters(numbers)
    failed = [path.stem for path in chosen if not runs(path, prelude)]
    print(f"The executed notebooks are in {OUT.relative_to(ROOT)}")
    if failed:
        sys.exit(f"At paper scale {len(failed)} of {len(chosen)} chapters fail: {', '.join(failed)}")


def runs(path: Path, prelude: str) -> bool:
    """Whether a chapter runs from top to bottom at paper scale; says how long it took or what went wrong."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        cell.source = cell.source.replace('SCALE = "lab"', 'SCALE = "paper"')
    notebook.cells.insert(0, nbformat.v4.new_code_cell(prelude))
    notebook.cells.append(nbformat.v4.new_code_cell("print(counted.flops, counted.photos)"))
    os.environ["PYTHONPATH"] = os.pathsep.join(map(str, (ROOT, ROOT / "src")))
    began, error = time.perf_counter(), None
    try:
        with own_sockets() as config:
            nbclient.NotebookClient(notebook, config=config, timeout=None).execute()
    except nbclient.exceptions.CellExecutionError as caught:
        error = caught
    OUT.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, OUT / path.name)
    print(f"  {path.stem}: {'FAILS' if error else 'ok'} after {time.perf_counter() - began:.0f} s", flush=True)
    if not error:
        flops, photos = map(int, notebook.cells[-1].outputs[0].text.split())
        minutes = (flops / (cost.EFFICIENCY * cost.DEVICES["T4"].flops) + photos * SECONDS_PER_PHOTO) / 60
        print(f"    {flops / 1e12:.1f} TFLOP, {photos} photos read: {minutes:.1f} minutes on a T4", flush=True)
    else:
        print("\n".join(re.sub(r"\x1b\[[0-9;]*m", "", str(error)).splitlines()[-15:]), flush=True)
    return error is None


# ---- inside the notebook --------------------------------------------------------------------------------------------


class Counted(TorchDispatchMode):
    """Counts operations (a product and a sum are two), backward passes too, and photos as they are read."""

    def __init__(self) -> None:
        super().__init__()
        self.flops = self.photos = 0
        read = Photos.__getitem__

        def counting(photos: Photos, i: int) -> tuple[torch.Tensor, int]:
            self.photos += 1
            return read(photos, i)

        Photos.__getitem__ = counting  # type: ignore[method-assign]

    def __torch_dispatch__(self, func: Any, types: Sequence[type], args: tuple[Any, ...] = (),
                           kwargs: dict[str, Any] | None = None) -> Any:
        out = func(*args, **(kwargs or {}))
        if func._overloadpacket in flop_registry:
            self.flops += flop_registry[func._overloadpacket](*args, **(kwargs or {}), out_val=out)
        return out


def use_stand_ins(spec: str | None, **names: str | None) -> None:
    """From now on load_model(scale="paper") takes the file's networks `names`, by kind; others are random."""
    described, _ = read_spec(Path(spec) if spec else None)
    chosen = {which: find_networks([name], described)[name] for which, name in names.items() if name}
    zoo._create = partial(create, chosen)


def create(stand_ins: dict[str, Network], entry: zoo.Entry, pretrained: bool) -> nn.Module:
    """The network in the place of a public one, prepared as that: chapters show both of a pair the same images."""
    public = partial(timm.create_model, entry.timm_id)
    with torch.device("meta"):
        sketch = public()
    if kind(sketch) not in stand_ins:
        if pretrained:
            torch.manual_seed(crc32(entry.timm_id.encode()))  # not its untrained twin's weights
        return zoo.with_live_branches(public)
    model = stand_ins[kind(sketch)].load(pretrained, seed=torch.initial_seed())
    public_settings: Any = sketch.pretrained_cfg
    own_settings: Any = model.pretrained_cfg
    prepared = {key: public_settings[key] for key in ("mean", "std", "interpolation", "crop_pct")}
    model.pretrained_cfg = own_settings | prepared
    return model
