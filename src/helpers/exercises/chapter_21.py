"""Checks for the exercises of chapter 21."""

from __future__ import annotations

from collections.abc import Callable

import torch

from .base import Feedback, call, compare, exercise, not_yet, tensor_of


@exercise("21.field")
def _field(answer: Callable) -> Feedback:
    """Compare with the definition on made gradients, then with the usual slips."""
    draw = torch.Generator().manual_seed(21)
    gradients = torch.randn(4, 6, 3, 5, 5, generator=draw, dtype=torch.float64)
    got = call(lambda g: tensor_of(answer(g)), gradients.clone())
    if isinstance(got, Feedback):
        return got
    if got.shape != (5, 5):
        return not_yet(f"one number per pixel was expected, shape [5, 5], not {list(got.shape)}: average over images, "
                       "channels and colours, not over pixels",
                       f"픽셀마다 수 하나, 곧 모양 [5, 5]여야 하는데 {list(got.shape)}이다. 이미지, 채널, 색에 걸쳐 "
                       "평균하고 픽셀에 걸쳐서는 평균하지 않는다")
    weights = torch.arange(1.0, 26.0, dtype=torch.float64).view(5, 5)
    as_number = lambda field: float((field.double() * weights).sum())
    mean, axes = gradients.mean((0, 1, 2)), (0, 1, 2)
    slips = [
        (mean, "the absolute value is missing: positive and negative gradients cancel",
         "절댓값이 빠졌다. 양의 기울기와 음의 기울기가 서로 지워진다"),
        (mean.abs(), "you took the absolute value of the mean: signs have cancelled before it; take it first",
         "평균한 다음 절댓값을 취했다. 그 전에 부호가 서로 지워졌으니 절댓값부터 취해야 한다"),
        (gradients.mean(1).abs().mean((0, 1)), "channels are averaged before the absolute value, so that their signs "
         "cancel; take it for every channel",
         "채널을 먼저 평균하고 절댓값을 취했다. 부호가 지워지니 채널마다 절댓값을 취한다"),
        (gradients.mean(0).abs().mean((0, 1)), "images are averaged before the absolute value, so that their signs "
         "cancel; take it for every image",
         "이미지를 먼저 평균하고 절댓값을 취했다. 부호가 지워지니 이미지마다 절댓값을 취한다"),
        (gradients.square().mean(axes), "these are squares; the field is made of absolute values",
         "제곱한 값이다. 유효 수용 영역은 절댓값으로 만든다"),
        (gradients.abs().sum(axes), "a sum, not a mean: divide by images × channels × colours",
         "평균이 아니라 합이다. 이미지 × 채널 × 색의 수로 나눈다"),
    ]
    numbers = [(as_number(field), en, ko) for field, en, ko in slips]
    return compare(as_number(got), as_number(gradients.abs().mean(axes)), numbers, (
        "the numbers differ; take the absolute value, then the mean over the first three axes",
        "값이 다르다. 절댓값을 취한 다음 앞의 세 축에 걸쳐 평균해 보자"), tolerance=1e-5)


@exercise("21.side")
def _side(answer: float) -> Feedback:
    """7×7 stride 2, 3×3 stride 2, three 3×3: 7, then 7 + 2·2 = 11, then 11 + 3·2·4 = 35."""
    slips = [
        (15, "the strides are missing: after a stride of 2 the next kernel steps over 2 pixels at a time",
         "스트라이드를 빠뜨렸다. 스트라이드 2를 지나면 다음 커널은 2픽셀씩 건너뛴다"),
        (23, "the pooling has a stride too: behind it the step is 2 · 2 = 4 pixels",
         "풀링에도 스트라이드가 있다. 풀링 뒤의 보폭은 2 · 2 = 4픽셀이다"),
        (45, "a layer's own stride counts only for the layers after it: the product runs over i < ℓ",
         "어떤 층의 스트라이드는 그 뒤의 층부터 센다. 곱은 i < ℓ에 걸쳐 있다"),
        (49, "a kernel of side k adds k − 1 steps, not k", "한 변이 k인 커널은 k가 아니라 k − 1걸음을 더한다"),
        (19, "that is one block; there are three", "블록 하나만 셌다. 블록은 셋이다"),
        (11, "that is the field before the first block", "첫 블록에 들어가기 전의 값이다"),
    ]
    return compare(answer, 35, slips, (
        "start with 1 pixel and add (k − 1) × the product of all earlier strides, layer by layer",
        "1픽셀에서 시작해 층마다 (k − 1) × (앞선 스트라이드의 곱)을 더해 보자"))
