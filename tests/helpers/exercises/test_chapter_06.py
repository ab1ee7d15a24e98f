"""The checks of chapter 6 recognise the usual slips."""

import pytest
import torch
from slips import refused

from helpers.exercises import check


@pytest.mark.parametrize(("wrong", "hint"), [
    (lambda a, b: torch.equal(a, b), "place by place"),
    (lambda a, b: {tuple(p) for p in a.tolist()} == {tuple(p) for p in b.tolist()}, "number of times"),
    (lambda a, b: torch.equal(a.sort(1).values.sort(0).values, b.sort(1).values.sort(0).values), "inside patches"),
    (lambda a, b: torch.equal(a.sort(0).values, b.sort(0).values), "second numbers"),
    (lambda a, b: sorted(a.sum(1).tolist()) == sorted(b.sum(1).tolist()), "inside patches"),
    (lambda a, b: False, "as itself"),
    (lambda a, b: True, "number of times"),
    (lambda a, b: a == b, "one True or False"),
    (lambda a, b: a.missing, "AttributeError"),
    (lambda a, b: None, "returns nothing"),
])  # fmt: skip
def test_same_bag_names_the_slip(wrong, hint):
    assert refused("06.same_bag", wrong, hint)


def test_counting_is_right_too():
    count = lambda patches: {tuple(p): patches.tolist().count(p) for p in patches.tolist()}
    assert check("06.same_bag", lambda a, b: count(a) == count(b)).ok


@pytest.mark.parametrize(("wrong", "hint"), [
    (16, "[CLS] is a token too"),
    (577 / 145, "ratio of tokens"),
    (4, "without [CLS]"),
    ((145 / 577) ** 2, "upside down"),
    ((197 / 50) ** 2, "224 pixels"),
    (7, "tokens squared"),
    ([1, 2], "a number was expected"),
])  # fmt: skip
def test_entries_names_the_slip(wrong, hint):
    assert refused("06.entries", wrong, hint)
