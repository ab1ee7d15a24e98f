"""Several processes measure what one measures: real ones, two and four of them, and what happens when one fails."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import shard_worker
from helpers import norm_ratio, sharded
from helpers.runtime.distributed import Shard, current

SRC = Path(__file__).resolve().parents[3] / "src"
TESTS = SRC.parent / "tests"
sizes = pytest.mark.parametrize("size", [2, 4])


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def groups(tmp_path_factory) -> Path:
    """The folder with what every process of every group found."""
    folder = tmp_path_factory.mktemp("groups")
    environment = os.environ | {"PYTHONPATH": str(SRC), "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, shard_worker.__file__, str(folder)], env=environment, capture_output=True,
                          text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


def found(folder: Path, scenario: str, size: int, rank: int) -> dict[str, np.ndarray]:
    with np.load(folder / f"{scenario}_{size}_{rank}.npz") as file:
        return dict(file)


@sizes
@pytest.mark.parametrize("name", shard_worker.MEASURES)
def test_every_process_gets_the_result_of_one(groups, size, name):
    with np.load(groups / f"alone_{size}.npz") as file:
        expected = {key: value for key, value in file.items() if key.startswith(f"{name}/")}
    assert expected
    for rank in range(size):
        together = found(groups, "measure", size, rank)
        for key, value in expected.items():
            if value.dtype.kind == "f":
                np.testing.assert_allclose(together[key], value, rtol=1e-12, atol=1e-14, err_msg=key)
            else:
                np.testing.assert_array_equal(together[key], value, err_msg=key)


@sizes
def test_every_image_is_read_by_one_process_only(groups, size):
    read = [found(groups, "measure", size, rank)["read"].tolist() for rank in range(size)]
    parts = torch.arange(shard_worker.N).split(shard_worker.BATCH)
    assert read == [torch.cat(parts[rank::size]).tolist() for rank in range(size)]


@sizes
def test_only_the_first_process_warns(groups, size):
    given = [int(found(groups, "measure", size, rank)["warnings"]) for rank in range(size)]
    assert given[0] > 0 and given[1:] == [0] * (size - 1)


@sizes
def test_errors_reach_every_process_and_the_group_goes_on(groups, size):
    together = [found(groups, "measure", size, rank) for rank in range(size)]
    for name, message in (("too few", f"ValueError: {size - 1} minibatches cannot be shared by {size} processes"),
                          ("too few, loader", f"{size - 1} minibatches cannot be shared by {size} processes"),
                          ("no attention", "ValueError: ResNet is not a vision transformer"),
                          ("same examples", "ValueError: every process passed the same examples")):
        assert all(message in str(one[f"error/{name}"]) for one in together), name
    spoilt = [key for key in together[0] if key.startswith("error/one is spoilt")]
    assert len(spoilt) == 4
    for key in spoilt:
        texts = [str(one[key]) for one in together]
        assert texts.pop(1).startswith("ValueError: images contain NaN")
        assert set(texts) == {f"ProcessStopped: process 1 of {size} stopped: ValueError: images contain NaN or Inf"}
    for one in together:
        np.testing.assert_array_equal(one["after"], one["norm_ratio/ratio.attn"])
        assert one["alone again"] == 1


def test_a_process_that_leaves_stops_the_others(groups):
    first, second = (str(found(groups, "leave", 2, rank)["error"]) for rank in range(2))
    assert second == "KeyError: 'no such file'"
    assert first == f"ProcessStopped: process 1 of 2 stopped: {second}"


@pytest.mark.parametrize("scenario", ["die", "silent"])
def test_nobody_waits_for_ever(groups, scenario):
    error = str(found(groups, scenario, 2, 0)["error"])
    assert error.startswith("ConnectionLost: another process of this run is gone or has been silent for too long")


def test_without_torchrun_nothing_changes(vit, images):
    with sharded() as shard, sharded():
        inside = norm_ratio(vit, images)
        assert shard == current() == Shard(0, 1)
        assert torch.equal(shard.own(images), images)
    assert np.array_equal(inside.attn, norm_ratio(vit, images).attn)


def test_torchrun_starts_the_processes(tmp_path):
    script = tmp_path / "measure.py"
    script.write_text("from shard_worker import IMAGES, VIT, norm_ratio, sharded\n"
                      "with sharded() as shard:\n"
                      "    result = norm_ratio(VIT, IMAGES, batch_size=8)\n"
                      "if shard.rank == 0:\n"
                      "    print(shard.size, 'processes', result.n_images, 'images')\n")
    environment = os.environ | {"PYTHONPATH": f"{SRC}{os.pathsep}{TESTS}", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", str(script)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.stdout.strip() == "2 processes 43 images", done.stderr[-3000:]
