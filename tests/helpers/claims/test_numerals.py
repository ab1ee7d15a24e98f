"""Numbers as they are printed."""

import pytest

from helpers.claims.numerals import number_text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.8912, "0.891"), (3.2e-07, "3.2e−7"), (1e-9, "1e−9"), (10240, "10,240"), (0.0, "0"), (-0.5, "−0.5"),
     (12345.6, "12,346"), (100.0, "100")],
)
def test_numbers_are_short(value, text):
    assert number_text(value) == text
