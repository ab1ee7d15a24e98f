"""What the studio loads when a reader starts it: _site/studio/, shared by both languages.

Everything is a classic script that brings data: unlike `fetch`, that also works in a page opened from a folder.
"""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from helpers import attention_distance, load_images, load_model
from helpers.explore.base import module_source
from helpers.explore.packing import script_json
from helpers.inputs.bundled import CIFAR_CLASSES, CIFAR_MEAN

from ..paths import ROOT
from . import runtime
from .exports import export, rounded

NETWORKS = ("vit_cls", "vit_gap", "resnet", "mixer", "hybrid")
SAMPLES = 64  # bundled images in the page
MEASURED = 256  # bundled images that the average attention distance is taken over
HERE = Path(__file__).parent
SHARED = ("readings.js",)  # of the explorers, beside what they all share
SCRIPTS = ("words.js", "pixels.js", "looks.js", "kinship.js", "engine.js", "input.js", "results.js", "panels.js",
           "maps.js", "reports.js", "studio.js")
KOREAN_CLASSES = ("비행기", "자동차", "새", "고양이", "사슴", "개", "개구리", "말", "배", "트럭")


def write_studio(root: Path, folder: Path) -> None:
    """Fill the folder, unless npm cannot be had: then the page says that this copy has no studio."""
    cache = root / "_build" / "studio"
    try:
        code = runtime.parts(cache / f"runtime-{runtime.VERSION}")
    except runtime.RuntimeMissing as error:
        print(f"The studio was left out: {error}", flush=True)
        return
    exported = cache / digest()
    if not exported.exists():
        write_networks(cache / "unfinished")
        (cache / "unfinished").rename(exported)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(exported, folder)
    (folder / "runtime.js").write_text(data_script("runtime", code), encoding="utf-8")
    (folder / "runtime-license.txt").write_text(runtime.NOTICE, encoding="utf-8")
    (folder / "studio.js").write_text(app_script(), encoding="utf-8")


def app_script(scripts: Sequence[str] = SCRIPTS, last: str = "") -> str:
    """The studio itself: the explorers' scripts and its own, in one function so that the page gets no new names."""
    own = [(HERE / name).read_text(encoding="utf-8") for name in scripts]
    worker = f"const WORKER_SCRIPT = {script_json((HERE / 'worker.js').read_text(encoding='utf-8'))};"
    return "\n".join(["(() => {", '"use strict";', module_source(SHARED), worker, *own, last, "})();", ""])


def data_script(name: str, data: Any) -> str:
    """A script that brings one file."""
    return f"(globalThis.studioFiles ??= {{}})[{script_json(name)}] = {script_json(data)};\n"


def write_networks(folder: Path) -> None:
    """A file for each network and one that describes them all."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    about = {}
    for key, facts, file in exported_networks():
        (folder / f"{key}.js").write_text(data_script(key, base64.b64encode(file).decode()), encoding="utf-8")
        about[key] = facts | {"bytes": (folder / f"{key}.js").stat().st_size}
    images: Any = load_images("cifar10", SAMPLES)
    samples = {"pixels": images.raw.permute(0, 2, 3, 1).numpy().tobytes(), "labels": images.labels.tolist()}
    classes = {"en": CIFAR_CLASSES, "ko": KOREAN_CLASSES}
    grey = [round(255 * mean) for mean in CIFAR_MEAN]  # what covers a patch: to the networks it is zero
    whole = {"networks": about, "samples": samples, "classes": classes, "measured": MEASURED, "grey": grey}
    (folder / "about.js").write_text(data_script("about", whole), encoding="utf-8")


def exported_networks() -> Iterator[tuple[str, dict[str, Any], bytes]]:
    """(key, what the page has to know, file) of every network, trained and untrained."""
    images = load_images("cifar10", MEASURED)
    for name in NETWORKS:
        for trained in (True, False):
            model = rounded(load_model(name, trained=trained))
            exported = export(model)
            facts = exported.about()
            if exported.heads:
                distance = attention_distance(model, images, progress=False)
                facts |= {"distance": distance.pixels.tolist(), "uniform": distance.uniform}
            yield network_key(name, trained), facts, exported.file


def network_key(name: str, trained: bool) -> str:
    """The name of a network's file, and of the network in share links."""
    return name if trained else f"{name}-untrained"


def digest() -> str:
    """What the exported files are made from."""
    helpers = ROOT / "src" / "helpers"
    sources = [*HERE.glob("*.py"), helpers / "lab/architectures.py", helpers / "metrics/attention.py",
               helpers / "assets/cifar10_test.webp", *(helpers / f"weights/{name}.safetensors" for name in NETWORKS)]
    content = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sources}
    return hashlib.sha256(json.dumps([torch.__version__, content], sort_keys=True).encode()).hexdigest()[:16]
