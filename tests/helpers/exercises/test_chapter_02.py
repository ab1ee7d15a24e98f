"""The checks of chapter 2 recognise the usual slips."""

import pytest
import torch
from slips import refused

from helpers.exercises import check


def by_class(support, labels, join):
    return torch.stack([join(support[labels == c]) for c in range(int(labels.max()) + 1)])


mean = lambda rows: rows.mean(0)


@pytest.mark.parametrize(("wrong", "hint"), [
    (lambda s, y, q: torch.cdist(q, by_class(s, y, mean)).argmax(1), "farthest"),
    (lambda s, y, q: y[torch.cdist(q, s).argmin(1)], "nearest single image"),
    (lambda s, y, q: (q @ by_class(s, y, mean).T).argmax(1), "dot product"),
    (lambda s, y, q: torch.cdist(q, by_class(s, y, lambda rows: rows.sum(0))).argmin(1), "summed"),
    (lambda s, y, q: torch.cdist(q, s[:3]).argmin(1), "not the classes"),
    (lambda s, y, q: torch.cdist(q, by_class(s, y, mean)), "shape [60], not [60, 3]"),
    (lambda s, y, q: torch.zeros(len(q)), "some classes differ"),
    (lambda s, y, q: s.missing, "AttributeError"),
    (lambda s, y, q: None, "returns nothing"),
])  # fmt: skip
def test_centroid_names_the_slip(wrong, hint):
    assert refused("02.centroid", wrong, hint)


def test_centroid_accepts_squared_distances_and_lists():
    def right(s, y, q):
        centroids = by_class(s, y, mean)
        return (q[:, None] - centroids).square().sum(-1).argmin(1)

    assert check("02.centroid", right).ok
    assert check("02.centroid", lambda *given: right(*given).tolist()).ok


@pytest.mark.parametrize(("wrong", "hint"), [
    (10_000 * 512 / 3_680, "small target"),
    (20_000 * 512 / 3_680, "at least 500,000"),
    (500, "number of steps"),
    (256_000, "in all"),
    (3_680 / 256_000, "other way round"),
    (500 / 3_680, "not one"),
    (42, "find the number of steps"),
    ("many", "a number was expected"),
])  # fmt: skip
def test_epochs_names_the_slip(wrong, hint):
    assert refused("02.epochs", wrong, hint)


@pytest.mark.parametrize("right", [256_000 / 3_680, 69.57, 70])
def test_epochs_accepts_rounding(right):
    assert check("02.epochs", right).ok
