"""A run: what is measured, how long it will take, and results that survive an interruption.

Every measurement writes its own file when it is done, so a run that was cut goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from ..claims.intervals import Interval, over_parts
from ..inputs.photos import Photos, photos
from ..runtime.distributed import ProcessStopped, all_sum, barrier, current, sharded
from .choice import FEWEST, Choice
from .measures import ANY, MEASURES, PROBE_IMAGES
from .networks import Network, find_networks, read_spec
from .results import Found, as_json, made_with, write
from .stored import RESULTS

SETTINGS: dict[str, Any] = {
    "images": {name: measure.images for name, measure in MEASURES.items() if measure.images},
    "control": {},  # images for the untrained twin of a measurement, where it sees fewer
    "parts": 5,
    "batch_size": 128,
    "passes": 1,
    "field_channels": 32,
    "field_batch": 8,
    "probe_classes": 100,
    "probe_kinds": False,  # probes tell kinds of ImageNet's classes apart (birds, dogs …) instead of classes
    "draws": 3,  # untrained twins of every network: timm's own random initialisation with seeds 0, 1, …
    "fewer_draws": {},  # of a measurement that takes long
}
TRIAL = 4  # images of a timed trial in each process; HSIC needs that many
REASONS = {
    "kind": {"en": "does not apply to this kind of network", "ko": "이런 종류의 신경망에는 해당하지 않는다"},
    "classes": {"en": "its classifier, if it has one, does not have ImageNet's 1,000 classes",
                "ko": "분류 헤드가 없거나 ImageNet의 1,000개 클래스를 쓰지 않는다"},
    "labels": {"en": f"needs two classes or more with at least {2 * PROBE_IMAGES} labelled photos each",
               "ko": f"레이블이 붙은 사진이 {2 * PROBE_IMAGES}장 이상인 클래스가 둘 이상 있어야 한다"},
    "few": {"en": f"needs at least {FEWEST} photos", "ko": f"사진이 {FEWEST}장 이상 있어야 한다"},
}


@dataclass(frozen=True)
class Task:
    """One measurement on certain networks, trained or, with the number of a draw, with random weights."""

    measure: str
    networks: tuple[str, ...]
    draw: int | None = None

    @property
    def trained(self) -> bool:
        return self.draw is None

    @property
    def name(self) -> str:
        """Of its file, without .json."""
        drawn = [] if self.trained else [f"untrained-{self.draw}"]
        return ".".join([self.measure, *self.networks, *drawn]).replace("/", "_")

    def __str__(self) -> str:
        return f"{self.measure} of {' × '.join(self.networks)}" + ("" if self.trained else f", untrained {self.draw}")

    def facts(self) -> dict[str, Any]:
        """What its file says of it, whatever came of it."""
        return {"measure": self.measure, "networks": list(self.networks), "trained": self.trained, "draw": self.draw}


def tasks(kinds: dict[str, str], draws: dict[str, int]) -> Iterator[Task]:
    """Everything to be done for networks of these kinds: all of the trained ones first, then draw by draw."""
    order = ("vit", "mixer", "cnn")  # the paper compares a ViT with a ResNet, in this order
    pairs: list[tuple[str, ...]] = list(combinations(sorted(kinds, key=lambda n: order.index(kinds[n])), 2))
    for draw in (None, *range(max(draws.values()))):
        for name, measure in MEASURES.items():
            if draw is not None and draw >= draws[name]:
                continue
            single = len(measure.kinds) == 1 or (measure.kinds == (ANY, ANY) and len(kinds) == 1)
            fits = lambda group, wanted=measure.kinds: all(kinds[n] in k for n, k in zip(group, wanted, strict=False))
            fitting = list(filter(fits, pairs)) or pairs  # that two ViTs are no ViT and CNN need not be reported
            yield from (Task(name, group, draw) for group in ([(n,) for n in kinds] if single else fitting))


class Run:
    """Networks, photos and settings, and the folder that their results go to."""

    def __init__(self, networks: dict[str, Network], images: Path, settings: dict[str, Any], folder: Path) -> None:
        self.networks, self.settings, self.folder = networks, settings, folder
        self.facts = {name: network.facts() for name, network in networks.items()}
        self.loaded = lru_cache(maxsize=2)(lambda name, draw: networks[name].load(draw is None, seed=draw or 0))
        self.photos = {name: photos(images, self.loaded(name, None)) for name in networks}
        self.choice = Choice(next(iter(self.photos.values())), settings)
        draws = {name: settings["fewer_draws"].get(name, settings["draws"]) for name in MEASURES}
        self.tasks = list(tasks({name: facts["kind"] for name, facts in self.facts.items()}, draws))

    def file(self, task: Task) -> Path:
        return self.folder / f"{task.name}.json"

    def indices(self, task: Task) -> torch.Tensor:
        """Of the photos of one measurement."""
        return self.choice.indices(task.measure, task.trained)

    def views(self, task: Task, chosen: torch.Tensor) -> list[Photos]:
        """The same photos for each network of a measurement; one set when all of them prepare images alike."""
        first = self.facts[task.networks[0]]["prepared"]
        found: list[Photos] = []
        for name in task.networks:
            alike = found and self.facts[name]["prepared"] == first
            found.append(found[0] if alike else self.photos[name].at(chosen))
        if task.measure == "probes":
            return [replace(photos, labels=self.choice.probe_labels[chosen]) for photos in found]
        return found

    def models(self, task: Task) -> list[nn.Module]:
        """Its networks, loaded."""
        return [self.loaded(name, task.draw) for name in task.networks]

    def reason(self, task: Task) -> dict[str, str] | None:
        """Why a measurement is left out, as far as that is known without trying."""
        kinds = [self.facts[name]["kind"] for name in task.networks]
        if any(kind not in wanted for kind, wanted in zip(kinds, MEASURES[task.measure].kinds, strict=False)):
            return REASONS["kind"]
        if task.measure == "accuracy" and self.facts[task.networks[0]]["classes"] != 1000:
            return REASONS["classes"]
        if task.measure == "probes":
            return None if len(self.choice.classes()) > 1 else REASONS["labels"]
        return REASONS["few"] if len(self.choice.photos) < FEWEST else None

    def trial(self, task: Task) -> float | dict[str, str]:
        """Seconds that the measurement will take, from a few images; or why it does not apply."""
        few = self.choice.few(task.measure, (1 if task.measure == "fields" else TRIAL) * current().size)
        settings = self.settings | {"batch_size": TRIAL, "passes": 1, "field_batch": 1, "field_channels": 1,
                                    "progress": False}
        begin = time.perf_counter()
        try:
            MEASURES[task.measure].run(self.models(task), self.views(task, few), settings)
        except ValueError as error:
            return {"en": str(error), "ko": str(error)}
        factor = self.settings["passes"] if task.measure in ("similarity", "standardised") else 1
        factor *= self.settings["field_channels"] if task.measure == "fields" else 1
        return (time.perf_counter() - begin) * factor * len(self.indices(task)) / len(few)

    def measure(self, task: Task) -> dict[str, Any]:
        """Numbers with their intervals, arrays, and how they came about."""
        found: list[Found] = []
        chosen, models, begin = self.indices(task), self.models(task), time.perf_counter()
        parts = self.choice.parts(task.measure, task.trained)
        settings = self.settings | {"progress": sys.stderr.isatty()}  # a log file gets a line per measurement

        def part(where: torch.Tensor) -> dict[str, float]:
            found.append(MEASURES[task.measure].run(models, self.views(task, chosen[where]), settings))
            return found[-1].numbers

        numbers = over_parts(part, torch.arange(len(chosen)), parts)
        if join := MEASURES[task.measure].join:
            numbers = join(found)
        arrays = {name: np.mean([one.arrays[name] for one in found], axis=0) for name in found[0].arrays}
        return {**task.facts(), "images": len(chosen), "parts": parts, "seconds": round(time.perf_counter() - begin),
                "made_with": made_with(), "arrays": arrays, "names": found[0].names,
                "numbers": {name: asdict(value) if isinstance(value, Interval) else value
                            for name, value in numbers.items()}}

    def identity(self) -> dict[str, Any]:
        """What must be the same for a run to go on."""
        used = [self.indices(task) for task in self.tasks if self.reason(task) is None]
        images = self.choice.facts(torch.cat([*used, torch.arange(0)]).unique())
        return {"networks": self.facts, "images": images, "settings": self.settings}

    def open(self) -> None:
        """Make the folder, or see that it belongs to this run; the first process does."""
        path = self.folder / "run.json"
        if current().rank == 0:
            identity = json.loads(as_json(self.identity()))
            if path.is_file():
                before = json.loads(path.read_text(encoding="utf-8"))
                if differing := [key for key in identity if before.get(key) != identity[key]]:
                    raise ValueError(f"{self.folder} holds a run with other {' and '.join(differing)}: choose another "
                                     "name with RUN=, or delete that folder")
            else:
                write(path, identity | {"made_with": made_with(), "begun": time.strftime("%Y-%m-%d")})
        barrier()


def say(*words: object) -> None:
    """Print, in the first process only."""
    if current().rank == 0:
        print(*words, flush=True)


def duration(seconds: float) -> str:
    """45 s, 12 min, 3.4 h"""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def carry_out(run: Run) -> None:
    """Estimate, then measure what is not there yet."""
    run.open()
    there = torch.tensor([current().rank == 0 and run.file(task).is_file() for task in run.tasks]).long()
    left = [task for task, done in zip(run.tasks, all_sum(there).tolist(), strict=True) if not done]  # process 0 knows
    say(f"{run.folder}: {len(run.tasks)} measurements, {len(run.tasks) - len(left)} of them there already.")
    if not left:
        return
    say("A timed trial of each on a few images comes first.")
    expected: dict[Task, float] = {}
    for task in left:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # four images and one channel are few, and the run itself will say so
            like = next((done for done in expected if done == replace(task, draw=done.draw) and done.draw == 0), None)
            outcome = expected[like] if like else run.reason(task) or run.trial(task)  # draws take equally long
        if isinstance(outcome, dict):
            say(f"  skipped: {task}: {outcome['en']}")
            if current().rank == 0:
                write(run.file(task), {**task.facts(), "skipped": outcome})
        else:
            expected[task] = outcome
            say(f"  {task}: {len(run.indices(task))} images, about {duration(outcome)}")
    say(f"Together about {duration(sum(expected.values()))} from now. An interrupted run goes on where it stopped.")
    taken = 0.0
    for i, (task, seconds) in enumerate(expected.items(), 1):
        say(f"[{i}/{len(expected)}] {task}, about {duration(seconds)}")
        result = run.measure(task)
        if current().rank == 0:
            write(run.file(task), result)
        taken += result["seconds"]
        rest = taken / sum(list(expected.values())[:i]) * sum(list(expected.values())[i:])  # trials may have been off
        say(f"      took {duration(result['seconds'])}; about {duration(rest)} left")


def complete(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings with defaults filled in; unknown ones are refused."""
    counts = {name: settings.get(name) or {} for name in ("images", "control")}
    for given, known, where in ((settings, SETTINGS, "settings"),
                                *((counts[name], SETTINGS["images"], f"settings: {name}") for name in counts)):
        if strange := given.keys() - known.keys():
            raise ValueError(f"{where}: unknown {', '.join(sorted(strange))}; known are {', '.join(known)}")
    if few := [name for given in counts.values() for name, n in given.items() if n < FEWEST]:
        raise ValueError(f"settings: {', '.join(few)} with fewer than {FEWEST} images, too few for an interval")
    return SETTINGS | settings | {"images": SETTINGS["images"] | counts["images"], "control": counts["control"]}


def main(arguments: list[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="make paper", description=__doc__)
    parser.add_argument("models", help="names, separated by commas: of the zoo, of timm, or of --spec")
    parser.add_argument("images", type=Path, help="folder of photos; sub-folders, or leading numbers, are classes")
    parser.add_argument("--spec", type=Path, help="YAML with networks of your own and settings")
    parser.add_argument("--name", help="of the folder below results/")  # --run would be torchrun's
    parser.add_argument("--results", type=Path, default=RESULTS)
    given = parser.parse_args(arguments)
    try:
        with sharded():
            described, settings = read_spec(given.spec)
            networks = find_networks([name for name in given.models.split(",") if name], described)
            folder = given.results / (given.name or "-".join(networks).replace("/", "_"))
            carry_out(Run(networks, given.images, complete(settings), folder))
            say(f"The numbers are in {folder}; `make book` shows them on the page \"At full size\".")
    except (ValueError, ConnectionError, FileNotFoundError, ProcessStopped) as error:
        sys.exit(f"{error}")
