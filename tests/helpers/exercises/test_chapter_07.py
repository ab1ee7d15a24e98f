"""The checks of chapter 7 recognise the usual slips."""

import pytest
import torch
import torch.nn.functional as F
from slips import refused


def place(i, g, n):
    return divmod((i + 0.5) * g**2 / n**2 - 0.5, g)


@pytest.mark.parametrize(("wrong", "hint"), [
    (lambda r, c, g, n: divmod((r * n + c) * g**2 / n**2, g), "halves are missing"),
    (lambda r, c, g, n: divmod((r * n + c + 0.5) * g**2 / n**2, g), "subtract ½"),
    (lambda r, c, g, n: ((r + 0.5) * g / n - 0.5, (c + 0.5) * g / n - 0.5), "2-D interpolation"),
    (lambda r, c, g, n: place(c * n + r, g, n), "swapped"),
    (lambda r, c, g, n: place(r * g + c, g, n), "n places"),
    (lambda r, c, g, n: divmod((r * n + c + 0.5) * g / n - 0.5, g), "g² / n²"),
    (lambda r, c, g, n: place(r * n + c, g, n)[::-1], "first the old row"),
    (lambda r, c, g, n: (0, 0), "compute s first"),
    (lambda r, c, g, n: r, "two numbers"),
    (lambda r, c, g, n: None, "returns nothing"),
    (lambda r, c, g, n: r.missing, "AttributeError"),
])  # fmt: skip
def test_old_place_names_the_slip(wrong, hint):
    assert refused("07.old_place", wrong, hint)


def test_old_place_is_where_torch_reads():
    """The middle of the flat sequence, away from its ends, against torch's own interpolation."""
    g, n = 8, 14
    numbers = torch.arange(g * g, dtype=torch.float64)[None, None]
    read = F.interpolate(numbers, size=n * n, mode="linear")[0, 0]
    for i in range(10, n * n - 10):
        row, column = place(i, g, n)
        assert float(read[i]) == pytest.approx(row * g + column)


GRADIENTS = {
    "sign is reversed": lambda y, hot, k: -(1 / k - hot).T @ y / len(y),
    "the sum over images": lambda y, hot, k: (1 / k - hot).T @ y,
    "predictions are missing": lambda y, hot, k: -hot.T @ y / len(y),
    "p is 1/K, not 1": lambda y, hot, k: (1 - hot).T @ y / len(y),
    "K times too large": lambda y, hot, k: (1 / k - hot).T @ y / len(y) * k,
    "transpose it": lambda y, hot, k: ((1 / k - hot).T @ y / len(y)).T,
    "[3, 5] was expected": lambda y, hot, k: y,
    "start from": lambda y, hot, k: torch.ones(k, y.shape[1]),
}


@pytest.mark.parametrize("hint", GRADIENTS)
def test_first_gradient_names_the_slip(hint):
    wrong = lambda y, labels, k: GRADIENTS[hint](y, F.one_hot(labels, k).float(), k)
    assert refused("07.first_gradient", wrong, hint)
