"""Which photos a measurement sees: prefixes of one order, and tens of every class for probes."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from helpers.inputs.photos import Photos
from helpers.paper.choice import Choice

SETTINGS = {"images": {"norms": 60, "fields": 25}, "control": {"norms": 30}, "parts": 5, "probe_classes": 2,
            "probe_kinds": False}


def photos(counts: list[int], folder: Path = Path()) -> Photos:
    """So many photos of each class."""
    labels = torch.arange(len(counts)).repeat_interleave(torch.tensor(counts))
    return Photos(tuple(folder / f"{i:03d}.png" for i in range(len(labels))), labels, lambda photo: photo, "made")


def test_a_measurement_sees_a_prefix_of_one_random_order():
    choice = Choice(photos([80]), SETTINGS)
    norms, fields = choice.indices("norms", True), choice.indices("fields", True)
    assert len(norms) == 60 and len(norms.unique()) == 60 and not torch.equal(norms, norms.sort().values)
    assert torch.equal(fields, norms[:25]) and torch.equal(choice.indices("norms", False), norms[:30])
    assert torch.equal(choice.indices("fields", False), fields)  # no smaller number is given for its control
    assert torch.equal(Choice(photos([80]), SETTINGS).order, choice.order)


@pytest.mark.parametrize(("n", "parts"), [(80, 5), (35, 3), (20, 2)])
def test_parts_have_ten_photos_or_more(n, parts):
    assert Choice(photos([n]), SETTINGS).parts("norms", True) == parts


def test_probes_take_tens_of_the_first_classes_that_have_enough():
    choice = Choice(photos([34, 19, 45, 60]), SETTINGS)
    classes = choice.classes()
    assert {c: len(members) for c, members in classes.items()} == {0: 30, 2: 30}  # 19 are too few, 3 comes too late
    assert all((choice.photos.labels[members] == c).all() for c, members in classes.items())
    assert choice.parts("probes", True) == 3 and len(choice.indices("probes", True)) == 60


def test_a_trial_sees_few():
    choice = Choice(photos([40, 40]), SETTINGS)
    assert torch.equal(choice.few("norms", 4), choice.order[:4])
    assert choice.photos.labels[choice.few("probes", 4)].bincount().tolist() == [10, 10]


def test_facts_change_with_the_bytes_and_the_names(tmp_path):
    made = photos([3], tmp_path)
    for path in made.paths:
        path.write_bytes(path.name.encode())
    facts = lambda used: Choice(made, SETTINGS).facts(torch.tensor(used))
    before = facts([0, 1])
    assert (before["photos"], before["classes"]) == (2, 1) and before == facts([0, 1])
    assert facts([0, 2])["sha256"] != before["sha256"]
    made.paths[1].write_bytes(b"changed")
    assert facts([0, 1])["sha256"] != before["sha256"]


def test_kinds_pool_the_classes_of_photos_with_one_of_each():
    labels = torch.arange(1000)  # one photo of every ImageNet class
    made = Photos(tuple(Path(f"{i}.png") for i in labels.tolist()), labels, lambda photo: photo, "made")
    choice = Choice(made, SETTINGS | {"probe_kinds": True, "probe_classes": 100})
    assert len(Choice(made, SETTINGS).classes()) == 0
    assert {len(members) for members in choice.classes().values()} == {40} and len(choice.classes()) == 7  # few fish
