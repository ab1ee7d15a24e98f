"""Checks for the exercises of chapter 18."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .base import Feedback, call, compare, exercise


@exercise("18.cut")
def _cut(answer: Callable) -> Feedback:
    """Compare with the best cut of a made-up map, then with the cuts that the usual slips find."""
    similarity = _made_up_map()
    got = call(answer, similarity.copy())
    best = 1 + int(np.argmax(_contrasts(similarity)))
    slips = [
        (best - 1, "one too small: the cut after index i leaves k = i + 1 layers on the first side",
         "하나 작다. 번호 i 뒤에서 자르면 첫째 쪽의 층은 k = i + 1개다"),
        (best + 1, "one too large: k counts the layers on the first side", "하나 크다. k는 첫째 쪽에 놓인 층의 수다"),
        (1 + int(np.argmax(_contrasts(similarity, diagonal=True))),
         "the diagonal is still in the mean of the same side: every layer is perfectly like itself",
         "같은 쪽의 평균에 대각 성분이 남아 있다. 어떤 층이든 자기 자신과는 완전히 같다"),
        (1 + int(np.argmin(_contrasts(similarity))), "this cut has the smallest difference: same side minus across",
         "차이가 가장 작은 자리다. 같은 쪽의 평균에서 다른 쪽과의 평균을 뺀다"),
    ]
    return compare(got, best, slips, (
        f"a test map of {len(similarity)} layers splits best at k = {best}, not {got}; print the difference at every k",
        f"층이 {len(similarity)}개인 시험용 히트맵이 가장 잘 나뉘는 k: {best}, 지금 답: {got}. k마다 차이를 찍어 보자"))


def _made_up_map() -> np.ndarray:
    """CKA [10, 10] of a network with three unequal stages; each slip finds another cut than the right one."""
    stage = np.repeat([0, 1, 2], [2, 4, 4])
    between = np.array([[0.6, 0.1, 0.2], [0.1, 0.6, 0.2], [0.2, 0.2, 0.6]])
    layer = np.arange(len(stage))
    similarity = between[stage][:, stage] - 0.01 * abs(np.subtract.outer(layer, layer))
    np.fill_diagonal(similarity, 1)
    return similarity


def _contrasts(similarity: np.ndarray, diagonal: bool = False) -> np.ndarray:
    """Mean of the same side minus mean across, for the cuts k = 1 … L − 1."""
    layers = np.arange(len(similarity))
    counted = np.ones_like(similarity, dtype=bool) if diagonal else ~np.eye(len(layers), dtype=bool)
    same = [np.equal.outer(layers < k, layers < k) for k in layers[1:]]
    return np.array([similarity[side & counted].mean() - similarity[~side].mean() for side in same])


@exercise("18.one_branch")
def _one_branch(answer: float) -> Feedback:
    """White z and f with ‖f‖ = s‖z‖ → CKA(z, z + f) = 1 / (1 + s²); s = 1/2 gives 0.8."""
    slips = [
        (0.2, "s is the length of f over the length of z, 1/2, not 2",
         "s는 f의 길이를 z의 길이로 나눈 값이라 2가 아니라 1/2이다"),
        (1 / 1.5, "lengths enter squared: the covariance grows by 1 + s², not by 1 + s",
         "길이는 제곱으로 들어간다. 공분산은 1 + s가 아니라 1 + s²배가 된다"),
        (1.25**-0.5, "this is the cosine of z and z + f; CKA divides by the norm of the whole covariance, "
         "so the root goes", "z와 z + f의 코사인이다. CKA는 공분산 행렬 전체의 노름으로 나누므로 제곱근이 없다"),
        (0.64, "CKA holds the norm of one covariance once, not squared: 1 + s² appears a single time",
         "CKA에는 z + f의 공분산의 노름이 제곱 없이 한 번만 들어간다. 1 + s²도 한 번만 나온다"),
        ((1 + 1 / 16) ** -0.5, "the products of z and f do not drop out of the Gram matrix of z + f; "
         "use the covariances", "z + f의 그람 행렬에서 z와 f의 곱은 사라지지 않는다. 공분산으로 계산해 보자"),
    ]
    return compare(answer, 0.8, slips, ("write Cov(z, z + f) and Cov(z + f) as multiples of I",
                                        "Cov(z, z + f)와 Cov(z + f)를 I의 배수로 적어 보자"), tolerance=5e-3)
