"""Checks for the exercises of chapter 8."""

from __future__ import annotations

from collections.abc import Callable

from .base import Feedback, call, compare, exercise


@exercise("08.parameters")
def _parameters(answer: Callable) -> Feedback:
    """Compare with the formula on a made shape, then with what is usually left out."""
    patch, width, depth, classes, side = 8, 48, 3, 7, 64
    tokens = (side // patch) ** 2 + 1
    right = (3 * patch**2 * width + width + width + tokens * width + depth * (12 * width**2 + 13 * width)
             + 2 * width + (width + 1) * classes)
    head = (width + 1) * classes
    slips = [
        (right - width, "one width is missing: the bias of the patch embedding, [CLS] itself, or its row of positions",
         "폭 하나만큼 모자란다. 패치 임베딩의 편향이나 [CLS] 토큰 자체나 그 위치 행을 빠뜨렸다"),
        (right - 2 * width, "two widths are missing: the last norm, or [CLS] with its row of positions",
         "폭 둘만큼 모자란다. 마지막 층 정규화나, [CLS] 토큰과 그 위치 행을 빠뜨렸다"),
        (right - classes, "the head has a bias as well, one number per class",
         "분류 헤드에도 클래스마다 편향이 하나씩 있다"),
        (right - head, "the head is missing", "분류 헤드가 빠졌다"),
        (right - 13 * width * depth, "only matrices are counted in the blocks; biases and norms add 13 × width each",
         "블록에서 행렬만 세었다. 블록마다 편향과 층 정규화로 폭의 13배가 더 있다"),
        (right - 9 * width * depth, "the biases in the blocks are missing: 9 × width each",
         "블록의 편향이 빠졌다. 블록마다 폭의 9배다"),
        (right - 4 * width * depth, "every block lacks 4 × width: its two norms, or the biases of attention",
         "블록마다 있는 두 층 정규화나 어텐션의 편향이 빠졌다. 각각 폭의 4배다"),
        (right - depth * width**2, "attention has four square matrices, not three: the output projection too",
         "어텐션의 정사각 행렬은 셋이 아니라 넷이다. 출력 투영도 세어야 한다"),
        (right - depth * 4 * width**2, "the MLP has two matrices: one up, one down",
         "MLP의 행렬은 둘이다. 넓히는 것과 좁히는 것"),
        (right - 2 * patch**2 * width, "an image has three channels", "이미지의 채널은 셋이다"),
        (right - (depth - 1) * (12 * width**2 + 13 * width), "there are `depth` blocks",
         "블록이 하나가 아니라 `depth`개다"),
    ]
    return compare(call(answer, patch, width, depth, classes, side), right, slips, (
        "go through the formula part by part and compare with the table above",
        "식을 한 부분씩 짚으며 위의 표와 견주어 보자"))


@exercise("08.intercept")
def _intercept(answer: float) -> Feedback:
    """50 / (50 + 64)."""
    slips = [
        (50e4 / (50e4 + 64), "that is for the constant 100; the exercise asks for 1",
         "상수가 100일 때의 값이다. 문제는 1일 때를 묻는다"),
        (64 / (50 + 64), "that is the share that λ takes away", "λ가 가져가는 몫이다"),
        (1 / (1 + 64), "count all n images, not one", "이미지 한 장이 아니라 n장을 세어야 한다"),
        (50 / 64, "λ is added to n below, it does not replace it", "분모는 λ가 아니라 n과 λ의 합이다"),
        (100 * 50 / (50 + 64), "a share, please, not per cent", "%가 아니라 1보다 작은 몫으로 답해야 한다"),
    ]
    return compare(answer, 50 / (50 + 64), slips, (
        "put c = 1, n = 50 and λ = 64 into n c² / (n c² + λ)", "n c² / (n c² + λ)에 c = 1, n = 50, λ = 64를 넣어 보자"),
        tolerance=3e-3)
