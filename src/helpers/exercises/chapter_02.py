"""Checks for the exercises of chapter 2."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from .base import RIGHT, Feedback, call, compare, exercise, not_yet, tensor_of


@exercise("02.centroid")
def _centroid(answer: Callable) -> Feedback:
    """Compare on unequal classes of different spread, where every usual slip answers something else."""
    draw = torch.Generator().manual_seed(2)
    labels = torch.tensor([2, 0, 1, 0, 2, 0, 1, 0, 0, 1, 2, 0])
    centres = 2 * torch.randn(3, 4, generator=draw) + torch.tensor([3.0, 0.0, 0.0, 0.0])
    near = lambda classes: centres[classes] + 1.5 * torch.randn(len(classes), 4, generator=draw)
    support, query = near(labels), near(torch.randint(3, (60,), generator=draw))
    got = call(lambda *given: tensor_of(answer(*given)), support.clone(), labels.clone(), query.clone())
    if isinstance(got, Feedback):
        return got
    if got.shape != (60,):
        return not_yet(f"the answer should have one class for each query, shape [60], not {list(got.shape)}",
                       f"답은 질의마다 클래스 하나, 곧 모양 [60]이어야 하는데 {list(got.shape)}이다")
    centroids = torch.stack([support[labels == c].mean(0) for c in range(3)])
    distances = torch.cdist(query, centroids)
    if torch.equal(got.long(), distances.argmin(1)):
        return RIGHT
    sums = torch.stack([support[labels == c].sum(0) for c in range(3)])
    slips: list[tuple[Tensor, str, str]] = [
        (distances.argmax(1), "that is the farthest centroid: take the smallest distance",
         "그것은 가장 먼 중심이다. 거리가 가장 작은 것을 골라야 한다"),
        (labels[torch.cdist(query, support).argmin(1)],
         "that is the nearest single image: take the mean of each class first",
         "그것은 가장 가까운 이미지 하나다. 먼저 클래스마다 평균을 내야 한다"),
        ((query @ centroids.T).argmax(1), "a dot product favours long centroids: compare distances",
         "내적은 긴 중심에 유리하다. 거리를 비교해야 한다"),
        (torch.cdist(query, sums).argmin(1), "you summed the images of a class: divide by their number",
         "클래스의 이미지를 더하기만 했다. 개수로 나누어야 한다"),
        (torch.cdist(query, support[:3]).argmin(1), "the first images are not the classes: group them by their labels",
         "처음 몇 장이 클래스는 아니다. 레이블에 따라 묶어야 한다"),
    ]
    for value, en, ko in slips:
        if torch.equal(got.long(), value):
            return not_yet(en, ko)
    return not_yet("some classes differ; average the support of each class, then take the nearest mean",
                   "클래스가 다른 것이 있다. 클래스마다 서포트 집합을 평균하고 가장 가까운 평균을 골라 보자")


@exercise("02.epochs")
def _epochs(answer: float) -> Feedback:
    """500 steps of 512 images over 3,680 images: about 69.6 times."""
    seen = 512 / 3_680
    slips = [
        (10_000 * seen, "3,680 images are a small target: below 20,000 the rule takes 500 steps",
         "3,680장은 작은 목표다. 20,000장보다 적으면 500걸음이다"),
        (20_000 * seen, "20,000 steps are for targets of at least 500,000 images",
         "20,000걸음은 500,000장 이상인 목표에 쓴다"),
        (500, "that is the number of steps; each step shows 512 images",
         "그것은 걸음의 수다. 한 걸음에 512장을 본다"),
        (500 * 512, "that is the number of images shown in all; divide by the number of training images",
         "그것은 보여 준 이미지를 모두 합한 수다. 학습 이미지의 수로 나누어야 한다"),
        (3_680 / (500 * 512), "it is the other way round: images shown divided by images there are",
         "거꾸로다. 보여 준 이미지의 수를 있는 이미지의 수로 나눈다"),
        (500 / 3_680, "each step shows 512 images, not one", "한 걸음에 한 장이 아니라 512장을 본다"),
    ]
    return compare(answer, 500 * seen, slips, (
        "find the number of steps for 3,680 images, multiply by 512 and divide by 3,680",
        "3,680장일 때의 걸음 수를 찾아 512를 곱하고 3,680으로 나누어 보자"), tolerance=1e-2)
