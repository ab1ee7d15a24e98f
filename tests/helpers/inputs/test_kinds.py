"""Kinds of ImageNet's classes."""

from __future__ import annotations

import pytest
import torch

from helpers.inputs.kinds import KINDS, RANGES, kinds_of


def test_known_classes_have_their_kind():
    """Tench, hen, bullfrog, tarantula, beagle, tabby, moped, espresso; a volcano is of no kind."""
    named = [0, 8, 30, 76, 162, 281, 665, 967]
    assert [KINDS[k] for k in kinds_of(torch.tensor(named)).tolist()] == [
        "fish", "bird", "amphibian or reptile", "invertebrate", "dog", "other mammal", "thing", "food or plant"]
    assert kinds_of(torch.tensor([980])).item() == -1


def test_no_class_has_two_kinds():
    members = [c for runs in RANGES.values() for first, last in runs for c in range(first, last + 1)]
    assert len(members) == len(set(members)) and max(members) < 1000


def test_labels_of_something_else_are_refused():
    with pytest.raises(ValueError, match="0 to 999"):
        kinds_of(torch.tensor([3, 1000]))
    assert kinds_of(torch.tensor([], dtype=torch.int64)).shape == (0,)
