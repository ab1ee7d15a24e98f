"""The lab: train the book's own small networks, resumably, from the runs listed in runs.yml.

Every step's randomness is a function of (seed, step) alone, so a run that was interrupted and resumed is bit for bit
the run that was not. `python -m helpers.lab NAME …` trains; `python -m helpers.lab verify` re-measures what is shipped.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import timm
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from tqdm.auto import tqdm

from ..inputs.cifar import cifar10
from ..runtime.device import device_of, pick_device
from . import architectures
from .objectives import OBJECTIVES, Objective, objective_of
from .runs import WEIGHTS, json_text, read_manifest, recipe, recipes, sha256
from .steps import SCHEDULES, augment, make_optimizer, multiply_in

SAVE_EVERY = 45.0  # seconds: an interrupt loses less than a minute


class Trainer:
    """One run in memory: model, running average, optimiser, step; everything else follows from the recipe."""

    def __init__(self, name: str, run: dict[str, Any], train: tuple[Tensor, Tensor], test: tuple[Tensor, Tensor],
                 device: str | None = None):
        self.name, self.run, self.test, self.device = name, run, test, pick_device(device)
        kept = int(len(train[0]) * run["fraction"])
        self.images, self.labels = train[0][:kept], train[1][:kept]
        self.steps = run["images_seen"] // run["batch"]
        self.objective = objective_of(run)
        self.step, self.seconds, self.curve = 0, 0.0, []  # type: int, float, list[dict[str, float]]
        network = architectures.build(seed=run["seed"], **run["model"])
        self.model = self.objective.for_training(network).train()
        self.model.to(self.device).to(memory_format=torch.channels_last)  # a third faster for convolutions on a CPU
        self.average = AveragedModel(self.model, multi_avg_fn=get_ema_multi_avg_fn(run["ema"]))
        multiply_in(self.model, getattr(torch, run["multiply"]))  # the average, which is shipped, computes in float32
        self.optimizer = make_optimizer(self.model, run)
        self.peak_lr = [group["lr"] for group in self.optimizer.param_groups]

    def train_step(self) -> float:
        """One batch: its images, their augmentation and the dropped patches depend on (seed, step) only."""
        progress = self.step / self.steps
        for group, peak in zip(self.optimizer.param_groups, self.peak_lr, strict=True):
            warmup = min(1.0, (self.step + 1) / self.run["warmup"])
            group["lr"] = peak * warmup * SCHEDULES[self.run["schedule"]](progress)
        if progress >= self.run["all_tokens_from"] and hasattr(self.model, "patch_drop"):
            self.model.patch_drop = nn.Identity()
        torch.manual_seed(self.run["seed"] * 1_000_003 + self.step)
        chosen = self.batch_indices()
        images, labels = augment(self.images[chosen]).to(self.device), self.labels[chosen].to(self.device)
        loss = self.objective.loss(self.model, images, labels, self.run)
        if not math.isfinite(loss.item()):
            raise FloatingPointError(f"{self.name}: the loss is {loss.item()} at step {self.step}; lower its `lr`.")
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.average.update_parameters(self.model)
        self.step += 1
        return loss.item()

    def batch_indices(self) -> Tensor:
        """Places in the training set of this step's batch: a new random order in every epoch."""
        size = self.run["batch"]
        per_epoch = max(1, len(self.images) // size)
        epoch, place = divmod(self.step, per_epoch)
        shuffle = torch.Generator().manual_seed(self.run["seed"] * 7919 + epoch)
        order = torch.randperm(len(self.images), generator=shuffle)
        return order[place * size : (place + 1) * size]

    def state(self) -> dict[str, Any]:
        return dict(step=self.step, seconds=self.seconds, curve=self.curve,
                    recipe=json.dumps(self.run, sort_keys=True), model=self.model.state_dict(),
                    average=self.average.state_dict(), optimizer=self.optimizer.state_dict())

    def load_state(self, state: dict[str, Any]) -> None:
        if state["recipe"] != json.dumps(self.run, sort_keys=True):
            raise ValueError(f"{self.name}: the saved state belongs to another recipe; remove it or restore runs.yml.")
        self.step, self.seconds, self.curve = state["step"], state["seconds"], state["curve"]
        self.model.load_state_dict(state["model"])
        self.average.load_state_dict(state["average"])
        self.optimizer.load_state_dict(state["optimizer"])


@torch.no_grad()
def accuracy(model: nn.Module, images: Tensor, labels: Tensor, objective: Objective = OBJECTIVES["classify"],
             batch: int = 500) -> float:
    """Share of right answers on uint8 images [N,3,32,32]."""
    was_training, device = model.training, device_of(model)
    model.eval()
    right = torch.cat([objective.right(model, x.to(device), y.to(device))
                       for x, y in zip(images.split(batch), labels.split(batch), strict=True)])
    model.train(was_training)
    return right.double().mean().item()


def fit(trainer: Trainer, folder: Path, curve_points: int = 40, evaluate_on: int = 2000) -> nn.Module:
    """Train to the end, resuming from `folder/state.pt` if it is there; returns the averaged network."""
    folder.mkdir(parents=True, exist_ok=True)
    if (saved := folder / "state.pt").exists():
        trainer.load_state(torch.load(saved, weights_only=True, map_location=trainer.device))
    images, labels = (part[:evaluate_on] for part in trainer.test)
    marks = {round(trainer.steps * i / curve_points) for i in range(1, curve_points + 1)}
    bar = tqdm(total=trainer.steps, initial=trainer.step, desc=trainer.name, unit="step", mininterval=5)
    # processor time on a CPU: it does not depend on what else the machine is doing
    clock = time.process_time if trainer.device.type == "cpu" else time.monotonic
    started, last_save = clock(), time.monotonic()
    before = trainer.seconds
    with bar, stop_between_steps() as stop:
        while trainer.step < trainer.steps:
            loss = trainer.train_step()
            bar.update()
            if trainer.step in marks:
                score = accuracy(trainer.average.module, images, labels, trainer.objective)
                trainer.curve.append(dict(images=trainer.step * trainer.run["batch"], loss=loss, accuracy=score))
                bar.set_postfix(accuracy=f"{score:.1%}", loss=f"{loss:.2f}")
            trainer.seconds = before + clock() - started
            if stop or trainer.step == trainer.steps or time.monotonic() - last_save > SAVE_EVERY:
                save_state(trainer, folder)
                last_save = time.monotonic()
            if stop:
                raise KeyboardInterrupt(f"{trainer.name} stopped after step {trainer.step}; the same command goes on")
    return trainer.average.module


@contextmanager
def stop_between_steps() -> Iterator[list[int]]:
    """Ctrl-C and termination fill the list instead of breaking a step, which could not be resumed exactly."""
    asked: list[int] = []
    note = lambda number, _: asked.append(number)
    previous = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def save_state(trainer: Trainer, folder: Path) -> None:
    """Write state and curve, each replaced in one go so that an interrupt never leaves half a file."""
    torch.save(trainer.state(), folder / "state.tmp")
    os.replace(folder / "state.tmp", folder / "state.pt")
    with open(folder / "curve.tmp", "w", newline="") as file:
        writer = csv.DictWriter(file, ["images", "loss", "accuracy"])
        writer.writeheader()
        writer.writerows(trainer.curve)
    os.replace(folder / "curve.tmp", folder / "curve.csv")


def ship(trainer: Trainer, model: nn.Module, out: Path) -> dict[str, Any]:
    """Write float16 weights and what is known of them; the accuracy is that of the file as written."""
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{trainer.name}.safetensors"
    save_file({key: value.half().cpu().contiguous() for key, value in model.state_dict().items()}, path)
    model.load_state_dict({key: value.float() for key, value in load_file(path).items()})
    entry = dict(
        recipe=trainer.run, images_seen=trainer.step * trainer.run["batch"], minutes=round(trainer.seconds / 60, 1),
        test_accuracy=accuracy(model, *trainer.test, trainer.objective),
        parameters=sum(p.numel() for p in model.parameters()),
        bytes=path.stat().st_size, sha256=sha256(path), torch=torch.__version__, timm=timm.__version__,
        curve=[[int(row["images"]), round(row["loss"], 4), round(row["accuracy"], 4)] for row in trainer.curve])
    (out / f"{trainer.name}.json").write_text(json_text(entry), encoding="utf-8")
    return entry


def verify(root: str | Path, n: int = 10_000) -> Iterator[tuple[str, float, float]]:
    """(run, accuracy in its NAME.json, accuracy measured now on n test images) for every shipped checkpoint."""
    from ..networks.zoo import load_model

    images, labels = (part[:n] for part in cifar10("test", root))
    for name, entry in read_manifest().items():
        objective = objective_of(entry["recipe"])
        yield name, entry["test_accuracy"], accuracy(load_model(name), images, labels, objective)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m helpers.lab", description=__doc__)
    parser.add_argument("runs", nargs="*", help="names in runs.yml (default: all that are missing), or `verify`")
    parser.add_argument("--data", default="_lab/data", help="folder with CIFAR-10 (downloaded there if absent)")
    parser.add_argument("--work", default="_lab", help="folder for resumable states and curves")
    parser.add_argument("--threads", type=int, default=1, help="two one-thread runs are faster than one with two")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.runs == ["verify"]:
        for name, said, now in verify(options.data):
            print(f"{name:20s} shipped {said:.4f}  now {now:.4f}  {'agrees' if abs(said - now) < 1e-3 else 'DIFFERS'}")
        return
    names = options.runs or [name for name in recipes() if name not in read_manifest()]
    if not names:
        print("The weights of every run in runs.yml are there; name a run to train it again.")
        return
    data = cifar10("train", options.data), cifar10("test", options.data)
    for name in names:
        trainer = Trainer(name, recipe(name), *data)
        network = trainer.objective.for_shipping(fit(trainer, Path(options.work) / name))
        entry = ship(trainer, network, WEIGHTS)
        print(f"{name}: {entry['test_accuracy']:.2%} on the test set after {entry['images_seen']:,} images, "
              f"{entry['minutes']} minutes → {WEIGHTS / name}.safetensors")


