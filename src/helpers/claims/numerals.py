"""How a number is printed, on cards, in rules and in tables."""

import math
from numbers import Integral


def number_text(value: float) -> str:
    """0.8912 → 0.891, 3.2e-07 → 3.2e-7, 10240 → 10,240, with a true minus sign."""
    if isinstance(value, Integral) or (abs(value) >= 1000 and math.isfinite(value)):
        text = f"{value:,.0f}"
    elif value == 0 or abs(value) >= 1e-3:
        text = f"{value:.3g}"
    else:
        mantissa, exponent = f"{value:.1e}".split("e")
        text = f"{mantissa.removesuffix('.0')}e{int(exponent)}"
    return text.replace("-", "−")
