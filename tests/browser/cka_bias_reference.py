"""Independent reference of cka_sample.js: the same random numbers, but whole matrices and the textbook formulas."""

from __future__ import annotations

from functools import cache

import numpy as np

MASK = 0xFFFFFFFF


def random_row(seed: int, row: int):
    """uniform, normal and chi generators as cka_sample.js documents them: sfc32, Box–Muller, Marsaglia–Tsang."""
    a, b, c, count = seed & MASK, row & MASK, 0x9E3779B9, 1
    spare: list[float] = []

    def uniform() -> float:
        nonlocal a, b, c, count
        total = (a + b + count) & MASK
        count = (count + 1) & MASK
        a, b, c = b ^ (b >> 9), (c + (c << 3)) & MASK, ((((c << 21) | (c >> 11)) & MASK) + total) & MASK
        return (total + 0.5) / 2**32

    def normal() -> float:
        if not spare:
            radius, angle = np.sqrt(-2 * np.log(uniform())), 2 * np.pi * uniform()
            spare.extend([radius * np.sin(angle), radius * np.cos(angle)])
        return spare.pop()

    def chi(freedom: int) -> float:
        if freedom == 1:
            return abs(normal())
        d = freedom / 2 - 1 / 3
        while True:
            x = normal()
            v = (1 + x / np.sqrt(9 * d)) ** 3
            if v > 0 and np.log(uniform()) < x * x / 2 + d - d * v + d * np.log(v):
                return np.sqrt(2 * d * v)

    for _ in range(15):
        uniform()
    return normal, chi


def reference_sample(n: int, p: int, signal: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """X, Y, both n × min(2n, p), up to the rotation that CKA does not see."""
    rows = np.zeros((2 * n, min(2 * n, p)))
    for r in range(2 * n):
        normal, chi = random_row(seed, r)
        rows[r, : min(r, p)] = [normal() for _ in range(min(r, p))]
        if r < p:
            rows[r, r] = chi(p - r)
    x, z = rows[0::2], rows[1::2]
    return x, np.sqrt(signal) * x + np.sqrt(1 - signal) * z


def both_cka(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Biased and unbiased CKA of X, Y (n × any) from the definitions of HSIC₀ and HSIC₁."""
    n = len(x)
    centring = np.eye(n) - np.ones((n, n)) / n

    def hsic0(a, b):
        return np.trace(a @ centring @ b @ centring)

    def hsic1(a, b):
        a, b, one = a - np.diag(np.diag(a)), b - np.diag(np.diag(b)), np.ones(n)
        mixed = one @ a @ one * (one @ b @ one) / ((n - 1) * (n - 2)) - 2 / (n - 2) * (one @ a @ b @ one)
        return (np.trace(a @ b) + mixed) / (n * (n - 3))

    k, l = x @ x.T, y @ y.T
    return tuple(hsic(k, l) / np.sqrt(hsic(k, k) * hsic(l, l)) for hsic in (hsic0, hsic1))


@cache
def reference_cka(n: int, p: int, signal: float = 0.0, seed: int = 0) -> tuple[float, float]:
    return both_cka(*reference_sample(n, p, signal, seed))


def shown(value: float) -> str:
    """As the page writes it."""
    return f"{value:.3f}".replace("-0.000", "0.000").replace("-", "−")
