"""The checks of chapter 4 recognise the usual slips."""

import pytest
from slips import refused

GRID = lambda side, patch: (side // patch) ** 2


@pytest.mark.parametrize(("wrong", "hint"), [
    (lambda s, p, c: GRID(s, p) + c, "each pair of them"),
    (lambda s, p, c: (s // p + c) ** 2, "along one side"),
    (lambda s, p, c: GRID(s, p) ** 2 + c, "add it, then square"),
    (lambda s, p, c: GRID(s, p) ** 2, "only if class_token"),
    (lambda s, p, c: (GRID(s, p) + 1) ** 2, "only if class_token"),
    (lambda s, p, c: (GRID(s, p) + c) * (GRID(s, p) + c + 1) / 2, "not symmetric"),
    (lambda s, p, c: (3 * GRID(s, p) + c) ** 2, "three colours"),
    (lambda s, p, c: (s**2 + c) ** 2, "these are pixels"),
    (lambda s, p, c: 5, "it should be"),
    (lambda s, p, c: s.missing, "AttributeError"),
    (lambda s, p, c: None, "returns nothing"),
])  # fmt: skip
def test_entries_names_the_slip(wrong, hint):
    assert refused("04.entries", wrong, hint)


@pytest.mark.parametrize(("wrong", "hint"), [
    (196, "square root"),
    (16, "side of a patch"),
    (224, "65,536 times"),
    (38416, "these are pairs"),
    (9, "every pixel is a token"),
])  # fmt: skip
def test_thumbnail_names_the_slip(wrong, hint):
    assert refused("04.thumbnail", wrong, hint)
