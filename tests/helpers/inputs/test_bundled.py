"""Bundled images: balanced, lossless, and requests that cannot be met are explained."""


import pytest
import torch

from helpers import load_images
from helpers.inputs.bundled import images_to_tiles, tiles_to_images


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
    assert torch.equal(tiles_to_images(images_to_tiles(raw), 70), raw)


def test_wrong_requests_are_explained():
    with pytest.raises(ValueError, match="cifar10, fashion, digits"):
        load_images("imagenet")
    with pytest.raises(ValueError, match="no split 'val'"):
        load_images("cifar10", split="val")
    with pytest.raises(ValueError, match="holds 2560 images; asked for 3000"):
        load_images("cifar10", 3000)


def test_images_of_some_classes():
    few, every = load_images("digits", n=20, classes=2), load_images("digits")
    first = [*dict.fromkeys(every.labels.tolist())][:2]
    at = torch.isin(every.labels, torch.tensor(first)).nonzero()[:20, 0]
    assert torch.equal(few.raw, every.raw[at]) and torch.equal(few.labels, every.labels[at])
