"""Checks for the exercises of chapter 16."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.stats import spearmanr

from ..claims.entries import load
from .base import Feedback, call, compare, exercise


@exercise("16.agreement")
def _agreement(answer: Callable) -> Feedback:
    """Two random symmetric maps with ones on the diagonal."""
    draw = np.random.default_rng(16)
    noise = draw.random((2, 7, 7))
    a, b = (noise + noise.transpose(0, 2, 1)) / 2
    b = 0.5 * a + 0.5 * b
    np.fill_diagonal(a, 1)
    np.fill_diagonal(b, 1)
    off = ~np.eye(7, dtype=bool)
    want = np.corrcoef(a[off], b[off])[0, 1]
    zeroed = [np.where(off, heat_map, 0).ravel() for heat_map in (a, b)]
    slips = [
        (np.corrcoef(a.ravel(), b.ravel())[0, 1], "the diagonals are still in; they are 1 in every map",
         "대각선이 남아 있다. 어느 지도에서나 1인 칸이다"),
        (np.corrcoef(zeroed[0], zeroed[1])[0, 1], "set to zero, the diagonals still take part; leave those cells out",
         "0으로 바꾸어도 대각선은 여전히 계산에 들어간다. 그 칸을 아예 빼야 한다"),
        (spearmanr(a[off], b[off])[0], "this is the rank correlation; the claim speaks of Pearson's",
         "순위 상관이다. 주장에서 쓰는 것은 피어슨 상관이다"),
        (want**2, "this is the square of the correlation", "상관의 제곱이다"),
    ]
    return compare(call(answer, a.copy(), b.copy()), want, slips, (
        f"two test maps have the correlation {want:.4f} off the diagonal",
        f"시험용 두 지도의 대각선 밖 상관은 {want:.4f}이다"))


@exercise("16.by_training")
def _by_training(answer: float) -> Feedback:
    """Claims of Raghu et al. whose evidence contains T."""
    evidence = [entry["evidence"] for entry in load().values() if entry["paper"] == "raghu"]
    every = [entry["evidence"] for entry in load().values()]
    slips = [
        (evidence.count("T"), "claims marked E/T can be decided by training, too",
         "E/T인 주장도 학습으로 판정할 수 있다"),
        (sum("T" in letters for letters in every), "that counts all claims of the book; take those of Raghu et al.",
         "책의 모든 주장을 센 값이다. Raghu 외의 주장만 세자"),
        (sum("E" in letters for letters in evidence), "that is the number of claims that run on given weights",
         "주어진 가중치로 판정하는 주장의 수다"),
    ]
    return compare(answer, sum("T" in letters for letters in evidence), slips,
                   ('count the entries with paper "raghu" whose evidence contains "T"',
                    'paper가 "raghu"이고 evidence에 "T"가 들어 있는 주장을 세어 보자'))
