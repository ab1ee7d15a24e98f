"""Checks for the exercises of chapter 10."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .base import Feedback, call, compare, exercise


@exercise("10.slope")
def _slope(answer: Callable) -> Feedback:
    """Compare with least squares on made accuracies, then with the usual slips."""
    shares = np.array([2.0, 5.0, 40.0, 100.0])
    vit, resnet = np.array([41.0, 52.0, 70.0, 77.0]), np.array([53.0, 60.0, 71.0, 75.0])
    got = call(answer, shares.copy(), vit.copy(), resnet.copy())
    line = lambda x, y: float(np.polyfit(x, y, 1)[0])
    x, gap = np.log10(shares), vit - resnet
    want = line(x, gap)
    slips = [
        (-want, "the sign: the gap is ViT minus ResNet", "부호가 반대다. 차이는 ViT에서 ResNet을 뺀 것이다"),
        (line(np.log(shares), gap), "that is the gain for e times the data; use the logarithm to base 10",
         "데이터가 e배가 될 때의 값이다. 밑이 10인 로그를 써야 한다"),
        (line(np.log2(shares), gap), "that is the gain for a doubling; use the logarithm to base 10",
         "데이터가 두 배가 될 때의 값이다. 밑이 10인 로그를 써야 한다"),
        (line(shares, gap), "the logarithm of the shares is missing", "비율에 로그를 취하지 않았다"),
        (line(x, vit), "that is the slope of the ViT alone; subtract the ResNet",
         "ViT만의 기울기다. ResNet을 빼야 한다"),
        ((gap[-1] - gap[0]) / (x[-1] - x[0]), "that joins the first and the last share; use all of them",
         "처음과 마지막 비율만 이은 것이다. 모든 비율을 써야 한다"),
        (1 / line(gap, x), "the roles are swapped: fit the gap against the logarithm of the share",
         "축이 바뀌었다. 비율의 로그에 대해 차이를 맞추어야 한다"),
        (line(gap, x), "the roles are swapped: fit the gap against the logarithm of the share",
         "축이 바뀌었다. 비율의 로그에 대해 차이를 맞추어야 한다"),
        (float(((x - x.mean()) * gap).sum()), "divide by the sum of the squared deviations of the logarithms",
         "로그의 편차 제곱합으로 나누어야 한다"),
        (float((x * gap).sum() / (x**2).sum()), "that line goes through the origin; take the mean away from the "
         "logarithms first", "원점을 지나는 직선이다. 먼저 로그에서 평균을 빼야 한다"),
    ]
    return compare(got, want, slips, (
        f"for made accuracies it must be {want:.6g}; sum of (x − mean of x) · gap over the sum of (x − mean of x)², "
        "with x the logarithm of the share",
        f"만들어 둔 정확도에서는 {want:.6g}이어야 한다. x를 비율의 로그라 할 때 (x − x의 평균) · 차이의 합을 "
        "(x − x의 평균)²의 합으로 나눈다"), tolerance=1e-6)


@exercise("10.error")
def _error(answer: Callable) -> Feedback:
    """Compare with the paired standard error on made answers, then with the usual slips."""
    rng = np.random.default_rng(0)
    hard = rng.random(80)
    vit, resnet = ((hard < level + 0.3 * rng.random(80)).astype(float) for level in (0.45, 0.6))
    got = call(answer, vit.copy(), resnet.copy())
    difference, n = 100 * (vit - resnet), len(vit)
    want = float(difference.std(ddof=1) / n**0.5)
    unpaired = float(100 * ((vit.var(ddof=1) + resnet.var(ddof=1)) / n) ** 0.5)
    slips = [
        (unpaired, "you added the scatter of the two networks as if their images were different ones; take the "
         "difference of every image first",
         "두 신경망의 흩어짐을 서로 다른 이미지인 것처럼 더했다. 이미지마다 차이를 먼저 구해야 한다"),
        (want / 100, "in points, please: multiply by 100", "%p로 적어야 한다. 100을 곱한다"),
        (want * n**0.5, "so much single images scatter; a mean of n scatters √n times less",
         "이미지 하나의 흩어짐이다. n개의 평균은 √n분의 1만큼 흩어진다"),
        (want / n**0.5, "divide by √n, not by n", "n이 아니라 √n으로 나누어야 한다"),
        (want**2, "that is the variance; take the square root", "분산이다. 제곱근을 구해야 한다"),
        (1.96 * want, "that is half of a 95 % interval; the standard error is asked for",
         "95% 구간의 절반이다. 표준오차를 물었다"),
        (float(difference.mean()), "that is the gap itself; how much does it scatter?",
         "차이 자체다. 그것이 얼마나 흩어지는지 물었다"),
        (float(difference.std() / n**0.5), "nearly: the mean was estimated from the same images, so divide by n − 1 "
         "inside (ddof=1)", "거의 맞았다. 평균을 같은 이미지에서 구했으므로 안에서 n − 1로 나눈다(ddof=1)"),
    ]
    return compare(got, want, slips, (
        f"for made answers it must be {want:.6g}; standard deviation of the differences (in points) over √n",
        f"만들어 둔 답에서는 {want:.6g}이어야 한다. 차이(%p)의 표준편차를 √n으로 나눈다"), tolerance=1e-6)
