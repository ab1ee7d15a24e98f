"""Explorer of chapter 17: how far the biased CKA is from the truth, by number of examples and features."""

from __future__ import annotations

from .base import Explorer, LiveExplorer, show
from .traits import Number

MAX_EXAMPLES, MAX_FEATURES, MAX_SEED = 1024, 4096, 2**31 - 1


class CkaBias(Explorer):
    """n examples of two p-dimensional Gaussian representations that share a part of their variance."""

    name = "cka_bias"
    scripts = ("cka_sample.js", "cka_bias.js")
    n = Number(128, 8, MAX_EXAMPLES)
    p = Number(1024, 1, MAX_FEATURES)
    signal = Number(0.0, 0, 1, whole=False)
    seed = Number(0, 0, MAX_SEED)


def cka_bias_explorer(n: int = 128, p: int = 1024, signal: float = 0.0, seed: int = 0) -> Explorer | LiveExplorer:
    """Biased and unbiased CKA of two n×p Gaussian samples whose true CKA is `signal`, all computed in the page."""
    return show(CkaBias, n=n, p=p, signal=signal, seed=seed)
