"""Checks for the exercises of chapter 1."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import conv2d

from .base import RIGHT, Feedback, call, compare, exercise, not_yet, tensor_of


@exercise("01.error")
def _error(answer: Callable) -> Feedback:
    """Compare with the definition on a made layer that is not equivariant, then with the usual slips."""
    draw = torch.Generator().manual_seed(1)
    images = torch.randn(4, 2, 6, 6, generator=draw, dtype=torch.float64)
    kernel = torch.randn(3, 2, 3, 3, generator=draw, dtype=torch.float64)
    layer = lambda x: conv2d(x, kernel, padding=1)  # zeros outside: it does not follow exactly
    got = call(lambda *given: tensor_of(answer(*given)), layer, images.clone(), 2)
    if isinstance(got, Feedback):
        return got
    want = _relative(layer(images.roll(2, -1)), layer(images).roll(2, -1))
    if got.shape != want.shape:
        return not_yet(f"the answer should have one number for each image, shape [4], not {list(got.shape)}",
                       f"답은 이미지마다 수 하나, 곧 모양 [4]여야 하는데 {list(got.shape)}이다")
    close = lambda value: torch.allclose(got.double(), value, rtol=1e-6)
    if close(want):
        return RIGHT
    slips = [
        (_relative(layer(images.roll(2, -1)), layer(images)),
         "that is the invariance error: the map f(x) has to be moved too before you compare",
         "그것은 불변성 오차다. 비교하기 전에 맵 f(x)도 옮겨야 한다"),
        (_relative(layer(images.roll(2, -2)), layer(images).roll(2, -2)),
         "you moved down: the last axis runs to the right", "아래로 옮겼다. 오른쪽은 마지막 축이다"),
        (_relative(layer(images.roll(-2, -1)), layer(images).roll(-2, -1)),
         "you moved to the left: a positive roll goes to the right", "왼쪽으로 옮겼다. 양수만큼 roll하면 오른쪽이다"),
        (_relative(layer(images.roll(2, -1)), layer(images).roll(-2, -1)),
         "image and map moved in opposite directions", "이미지와 맵이 반대 방향으로 움직였다"),
        (want.square(), "the square roots are missing: it is a ratio of lengths",
         "제곱근이 빠졌다. 길이의 비를 구해야 한다"),
        ((layer(images.roll(2, -1)) - layer(images).roll(2, -1)).flatten(1).norm(dim=1),
         "divide by the length of f(x)", "f(x)의 길이로 나누어야 한다"),
        (torch.zeros_like(want), "you compared something with itself: one of the two must be f(Tx), the other T f(x)",
         "같은 것끼리 비교했다. 하나는 f(Tx), 다른 하나는 T f(x)여야 한다"),
    ]
    for value, en, ko in slips:
        if close(value):
            return not_yet(en, ko)
    return not_yet("the numbers differ; compute ‖f(Tx) − T f(x)‖ / ‖f(x)‖ for every image",
                   "값이 다르다. 이미지마다 ‖f(Tx) − T f(x)‖ / ‖f(x)‖를 구해 보자")


def _relative(found: Tensor, expected: Tensor) -> Tensor:
    """‖found − expected‖ / ‖expected‖ for every image."""
    return (found - expected).flatten(1).norm(dim=1) / expected.flatten(1).norm(dim=1)


@exercise("01.field")
def _field(answer: float) -> Feedback:
    """1 + 6 = 7, jump 2; + 2·2 = 11, jump 4; + 3 · 2·4 = 35."""
    slips = [
        (15, "that ignores the strides: after a stride of 2 every further step counts double",
         "스트라이드를 셈하지 않았다. 스트라이드 2를 지나면 그다음 걸음은 두 배로 센다"),
        (23, "one stride is missing: convolution and pooling both have stride 2, so a cell is 4 pixels wide",
         "스트라이드 하나가 빠졌다. 합성곱과 풀링이 모두 스트라이드 2이므로 한 칸은 4픽셀이다"),
        (45, "a layer's own stride counts only for the layers after it",
         "층의 스트라이드는 그 뒤에 오는 층에만 셈한다"),
        (27, "there are three blocks, you counted two", "블록은 세 개인데 두 개만 셌다"),
        (31, "the pooling adds to the field as well: its kernel is 3", "풀링도 수용 영역을 넓힌다. 커널이 3이다"),
        (50, "k − 1, not k: a kernel of 3 adds two steps", "k가 아니라 k − 1이다. 커널 3은 두 걸음을 더한다"),
        (34, "start with r₀ = 1, the pixel itself", "r₀ = 1, 곧 픽셀 자신에서 시작한다"),
    ]
    return compare(answer, 35, slips, (
        "go through the layers (7, 2), (3, 2), (3, 1), (3, 1), (3, 1); each adds (k − 1) times the strides before it",
        "층 (7, 2), (3, 2), (3, 1), (3, 1), (3, 1)을 차례로 지나며 (k − 1)에 앞선 스트라이드의 곱을 곱해 더해 보자"))
