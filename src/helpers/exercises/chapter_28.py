"""Checks for the exercises of chapter 28."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import gelu, relu

from .base import RIGHT, Feedback, call, compare, exercise, not_yet

IMAGES, TOKENS, WIDTH, HIDDEN = 3, 5, 4, 6


@exercise("28.token_mixing")
def _token_mixing(answer: Callable) -> Feedback:
    """Compare with the branch on random numbers, then with what the usual slips give."""
    rng = torch.Generator().manual_seed(0)
    draw = lambda *shape: torch.randn(*shape, generator=rng, dtype=torch.float64)
    x, w1, b1 = draw(IMAGES, TOKENS, WIDTH), draw(HIDDEN, TOKENS), draw(HIDDEN)
    w2, b2 = draw(TOKENS, HIDDEN), draw(TOKENS)
    got = call(answer, *(tensor.clone() for tensor in (x, w1, b1, w2, b2)))
    if isinstance(got, Feedback):
        return got
    if not isinstance(got, Tensor):
        kind = type(got).__name__
        return not_yet(f"a tensor was expected, not {kind}", f"텐서가 와야 할 자리에 다른 것이 있다({kind})")
    hidden = x.transpose(1, 2) @ w1.T + b1
    out = lambda activated: (activated @ w2.T + b2).transpose(1, 2)
    want = out(gelu(hidden))
    slips = [
        (want.transpose(1, 2), "the result has its channels in rows: turn it back to [n, N, D]",
         "결과의 행이 채널이다. [n, N, D]로 되돌려야 한다"),
        (out(hidden), "the GELU between the two layers is missing: without it the mixing would be one fixed matrix",
         "두 층 사이의 GELU가 빠졌다. GELU가 없으면 섞는 행렬은 하나로 고정된다"),
        (out(relu(hidden)), "this is a ReLU; the Mixer has a GELU", "ReLU를 썼다. Mixer에는 GELU가 있다"),
        (out(gelu(hidden - b1)), "b1 is not added before the GELU", "GELU 앞에서 b1을 더하지 않았다"),
        (want - b2[:, None], "b2 is not added", "b2를 더하지 않았다"),
        (x + want, "this includes the skip connection: return what the branch adds",
         "스킵 연결까지 더했다. 가지가 더하는 것만 돌려준다"),
    ]
    same = lambda value: got.shape == value.shape and torch.allclose(got.double(), value, rtol=1e-4, atol=1e-5)
    if same(want):
        return RIGHT
    for value, en, ko in slips:
        if same(value):
            return not_yet(en, ko)
    if got.shape != want.shape:
        return not_yet(f"the result has shape {list(got.shape)}; x has {list(x.shape)}, and so should the result",
                       f"결과의 모양이 {list(got.shape)}이다. x처럼 {list(x.shape)}이어야 한다")
    return not_yet("turn x to [n, D, N], so that w1 meets the N places, and turn the result back",
                   "x를 [n, D, N]으로 돌려 w1이 자리 N개와 만나게 하고, 결과를 다시 되돌리자")


@exercise("28.larger_images")
def _larger_images(answer: float) -> Feedback:
    """16×16 patches and 192 hidden units: 2 · 256 · 192 weights."""
    slips = [
        (2 * 64 * 192, "this is the branch for 32×32 pixels; a larger image has more patches",
         "32×32픽셀일 때의 값이다. 이미지가 커지면 패치가 많아진다"),
        (256 * 192, "twice the side gives four times as many patches, and there are two layers, W₁ and W₂",
         "한 변이 두 배이면 패치는 네 배이고, 층은 W₁과 W₂ 두 개다"),
        (2 * 256 * 192 + 256 + 192, "biases do not count here", "편향은 세지 않는다"),
        (4 * 96**2, "this is attention, whose weights do not depend on the image", "어텐션의 가중치 수다"),
        (2 * 256 * 192 * 96, "all channels share one branch", "모든 채널이 가지 하나를 같이 쓴다"),
        (2 * 64 * 64 * 192, "tokens are patches of 4×4 pixels, not pixels", "토큰은 픽셀이 아니라 4×4픽셀 패치다"),
    ]
    return compare(answer, 2 * 256 * 192, slips, ("count the patches first, then the entries of W₁ and W₂",
                                                  "패치의 수를 먼저 세고 W₁과 W₂의 성분을 세어 보자"))
