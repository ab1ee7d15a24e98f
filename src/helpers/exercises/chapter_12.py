"""Checks for the exercises of chapter 12."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from .base import Feedback, Slip, call, compare, exercise, not_yet, tensor_of


@exercise("12.rollout")
def _rollout(answer: Callable) -> Feedback:
    """Compare with the definition on made attention, then with the usual slips, through a random projection."""
    rng = torch.Generator().manual_seed(12)
    attention = (2 * torch.randn(3, 2, 10, 10, generator=rng, dtype=torch.float64)).softmax(-1)
    probe = torch.rand(9, generator=rng, dtype=torch.float64)
    got = call(answer, attention.clone())
    if isinstance(got, Feedback):
        return got
    got = tensor_of(got)
    if got.shape == (10,):
        return not_yet("the map still has [CLS] in it; keep the patches and scale them to sum 1",
                       "지도에 [CLS] 토큰이 남아 있다. 패치만 남기고 합이 1이 되게 나눈다")
    if got.shape != (9,):
        return not_yet(f"9 patches have one number each, but the shape is {tuple(got.shape)}: take the row of [CLS]",
                       f"패치 9개에 수가 하나씩 있어야 하는데 모양이 {tuple(got.shape)}이다. [CLS] 토큰의 행을 취한다")
    mean = attention.mean(1)
    product = _product(mean)
    seen = lambda row: float((row / row.sum()) @ probe)
    slips: list[Slip] = [
        (seen(_product(mean, identity=False)[0, 1:]), "the skip connection is missing: every block is (A + I) / 2",
         "스킵 연결이 빠졌다. 블록마다 (A + I) / 2다"),
        (seen(_product(mean.flip(0))[0, 1:]), "the blocks come in the wrong order: a later one stands on the left",
         "블록을 곱하는 차례가 반대다. 뒤의 블록이 왼쪽에 선다"),
        (float(product[0, 1:] @ probe), "without [CLS] the row no longer sums to 1; divide by what is left",
         "[CLS] 토큰을 빼면 행의 합이 1이 되지 않는다. 남은 합으로 나눈다"),
        (seen(product[1:, 0]), "that is a column: who looks at [CLS]; its own row says where it looks",
         "그것은 [CLS] 토큰을 보는 쪽, 곧 열이다. [CLS] 토큰이 보는 곳은 행이다"),
        (seen(product[1:, 1:].mean(0)), "this is the mean over the patches; take the row of [CLS]",
         "패치들에 걸친 평균이다. [CLS] 토큰의 행을 취한다"),
        (seen(product[0, :-1]), "you dropped the last token; [CLS] is the first",
         "마지막 토큰을 뺐다. [CLS] 토큰은 맨 앞에 있다"),
        (seen(_product(attention.sum(1))[0, 1:]), "average over the heads, do not add them up",
         "헤드에 걸쳐 더하지 말고 평균한다"),
        (seen(_product(attention[:, 0])[0, 1:]), "this is the first head alone; average over the heads",
         "첫 헤드만 썼다. 헤드에 걸쳐 평균한다"),
        (seen(mean[-1, 0, 1:]), "this is the last block alone; multiply the blocks",
         "마지막 블록만 썼다. 블록들을 곱한다"),
    ]
    return compare(got.double() @ probe, seen(product[0, 1:]), slips, (
        "mean over heads, (A + I) / 2 for every block, later blocks on the left, row of [CLS], patches only, sum 1",
        "헤드에 걸쳐 평균하고, 블록마다 (A + I) / 2를 만들어 뒤의 블록을 왼쪽에 곱하고, [CLS] 토큰의 행에서 패치만 "
        "남겨 합이 1이 되게 한다"), tolerance=1e-5)


def _product(blocks: Tensor, identity: bool = True) -> Tensor:
    """Attention [blocks, tokens, tokens] multiplied, the first block on the right."""
    eye = torch.eye(blocks.shape[-1], dtype=blocks.dtype)
    product = eye
    for block in blocks:
        product = ((block + eye) / 2 if identity else block) @ product
    return product


@exercise("12.distances")
def _distances(answer: float) -> Feedback:
    """Whole numbers up to 13 that are the hypotenuse of whole steps: 5, 10 and 13."""
    slips: list[Slip] = [
        (1, "5 is one of them; look for larger right-angled triangles, up to 13 steps",
         "5는 그 가운데 하나다. 13칸까지 더 큰 직각삼각형을 찾아보자"),
        (2, "one is missing: 5 is also doubled, and 5 and 12 make another",
         "하나가 빠졌다. 5의 두 배도 있고, 5와 12도 직각삼각형을 이룬다"),
        (4, "15 is farther than a row is long: from the first to the last patch there are 13 steps",
         "15는 행보다 길다. 첫 패치에서 마지막 패치까지는 13칸이다"),
        (6, "count distances, not triangles: 3 across and 4 down is as far as 4 across and 3 down",
         "삼각형이 아니라 거리를 센다. 옆으로 3칸 아래로 4칸은 옆으로 4칸 아래로 3칸과 거리가 같다"),
        (13, "these are all distances within a row; which of them occur outside rows and columns?",
         "행 안의 거리를 모두 세었다. 그 가운데 행과 열 밖에서도 나오는 것은 무엇인가"),
    ]
    return compare(answer, 3, slips, (
        "within a row distances are whole numbers from 1 to 13; outside they are √(a² + b²): when is that whole",
        "행 안의 거리는 1부터 13까지의 정수이고, 밖의 거리는 √(a² + b²)이다. 이것이 정수가 되는 것은 언제인가"))
