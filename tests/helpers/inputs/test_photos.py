"""Folders of photos: prepared for their model, classes in turn, faults named."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import torch
from PIL import Image

from helpers import load_images, load_model


def test_a_folder_of_photos_is_prepared_for_its_model(tmp_path, monkeypatch):
    for name in ("007_cock.png", "012_finch.png"):
        Image.fromarray(np.full((300, 400, 3), 255, np.uint8)).save(tmp_path / name)
    monkeypatch.setenv("BOOK_PHOTOS", str(tmp_path))
    photos = load_images(scale="paper", model=load_model("vit_s16", scale="paper", trained=False))
    image, label = photos[0]
    assert len(photos) == 2 and image.shape == (3, 224, 224) and label == 7
    assert torch.allclose(image, torch.ones(()), atol=1e-5)  # white, with mean 0.5 and deviation 0.5


def test_the_first_photos_are_of_all_classes(tmp_path, monkeypatch):
    for kind, count in (("cat", 3), ("dog", 1), ("owl", 2)):
        (tmp_path / kind).mkdir()
        for i in range(count):
            Image.fromarray(np.zeros((8, 8, 3), np.uint8)).save(tmp_path / kind / f"{i}.png")
    monkeypatch.setenv("BOOK_PHOTOS", str(tmp_path))
    photos = load_images(scale="paper", model=load_model("vit_s16", scale="paper", trained=False))
    order = photos.labels.tolist()
    assert sorted(order[:3]) == [0, 1, 2] and order[3:5] == [c for c in order[:3] if c != 1] and order[5] == 0
    assert [(path.parent.name, path.stem) for path in photos.paths if path.parent.name == "cat"] == [
        ("cat", "0"), ("cat", "1"), ("cat", "2")]
    two = load_images(n=4, scale="paper", model=load_model("vit_s16", scale="paper", trained=False), classes=2)
    assert two.labels.tolist() == [c for c in order if c in order[:2]][:4]


def test_few_photos_are_of_classes_from_everywhere(tmp_path, monkeypatch):
    """ImageNet's classes are sorted by kind: animals first."""
    for label in range(100):
        Image.fromarray(np.zeros((8, 8, 3), np.uint8)).save(tmp_path / f"{label:03}_of_a_kind.png")
    monkeypatch.setenv("BOOK_PHOTOS", str(tmp_path))
    load = functools.partial(load_images, scale="paper", model=load_model("vit_s16", scale="paper", trained=False))
    assert 15 < (load(n=50).labels < 50).sum() < 35
    assert load(n=50).labels.tolist() == load().labels.tolist()[:50]


def test_photos_that_are_absent_or_broken_are_named(tmp_path, monkeypatch):
    monkeypatch.setenv("BOOK_PHOTOS", str(tmp_path))
    model = load_model("vit_s16", scale="paper", trained=False)
    with pytest.raises(FileNotFoundError, match="BOOK_PHOTOS"):
        load_images(scale="paper", model=model)
    (tmp_path / "bad.jpg").write_bytes(b"not an image")
    with pytest.raises(ValueError, match=r"bad\.jpg cannot be read"):
        load_images(scale="paper", model=model)[0]
    with pytest.raises(ValueError, match="needs model="):
        load_images(scale="paper")


def test_the_photos_of_the_package_are_normalised_for_their_model_and_not_cropped_again():
    images = load_images("photos224", model=load_model("deit_ti16", scale="paper", trained=False))
    image, _ = images[2]
    assert len(images) == 7 and image.shape == (3, 224, 224)
    with Image.open(images.paths[2]) as photo:
        pixels = torch.from_numpy(np.asarray(photo).copy()).permute(2, 0, 1) / 255
    mean, std = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
    assert torch.allclose(image * std[:, None, None] + mean[:, None, None], pixels, atol=1e-5)
    with pytest.raises(ValueError, match="needs model=…, to normalise the photos"):
        load_images("photos224")
