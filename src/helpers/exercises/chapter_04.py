"""Checks for the exercises of chapter 4."""

from __future__ import annotations

from collections.abc import Callable

from .base import RIGHT, Feedback, call, compare, exercise


@exercise("04.entries")
def _entries(answer: Callable) -> Feedback:
    """Compare with (side² / patch² + 1)² on two images, with and without [CLS]."""
    for side, patch, cls in ((224, 16, True), (96, 8, False)):
        grid = (side // patch) ** 2
        slips = [
            (grid + cls, "that is the number of tokens; attention has an entry for each pair of them",
             "토큰의 수다. 어텐션에는 토큰의 쌍마다 성분이 하나씩 있다"),
            ((side // patch + cls) ** 2, "side/patch is the number of patches along one side; the grid has its square",
             "side/patch는 한 변에 놓인 패치의 수다. 격자에는 그 제곱만큼 있다"),
            (grid**2 + 1 if cls else grid**2 - 1, "[CLS] is one more token, not one more entry: add it, then square",
             "[CLS]는 성분이 아니라 토큰 하나를 더한다. 제곱하기 전에 더해야 한다"),
            (grid**2 if cls else (grid + 1) ** 2, "[CLS] counts only if class_token is True, and then it does",
             "[CLS]는 class_token이 True일 때만, 그리고 그때는 꼭 센다"),
            ((grid + cls) * (grid + cls + 1) / 2, "A is not symmetric: query and key differ, so the order counts",
             "A는 대칭이 아니다. 질의와 키는 역할이 달라 순서가 있는 쌍을 센다"),
            ((3 * grid + cls) ** 2, "the three colours of a patch are one token",
             "패치의 세 색은 토큰 하나에 함께 담긴다"),
            (side**4 if not cls else (side**2 + 1) ** 2, "these are pixels; divide by the patch side first",
             "픽셀을 셌다. 먼저 패치의 한 변으로 나눠야 한다"),
        ]
        feedback = compare(call(answer, side, patch, cls), (grid + cls) ** 2, slips, (
            f"for {side} pixels and patches of {patch} it should be {(grid + cls) ** 2:,}",
            f"{side}픽셀 이미지와 한 변이 {patch}인 패치라면 {(grid + cls) ** 2:,}이어야 한다"))
        if not feedback.ok:
            return feedback
    return RIGHT


@exercise("04.thumbnail")
def _thumbnail(answer: float) -> Feedback:
    """√196 = 14."""
    slips = [
        (196, "that is the number of pixels you may use; take the square root for a side",
         "쓸 수 있는 픽셀의 수다. 한 변은 그 제곱근이다"),
        (16, "16 is the side of a patch; ask how many patches there are along a side",
         "16은 패치의 한 변이다. 한 변에 패치가 몇 개 놓이는지 물어 보자"),
        (224, "that would be 65,536 times as much attention", "그러면 어텐션이 65,536배가 된다"),
        (38416, "these are pairs; as many pairs means as many tokens", "쌍의 수다. 쌍이 같으면 토큰 수도 같다"),
    ]
    return compare(answer, 14, slips, (
        "as many pairs means as many tokens, and every pixel is a token",
        "쌍의 수가 같으면 토큰의 수가 같고, 픽셀 하나가 토큰 하나다"), tolerance=1e-6)
