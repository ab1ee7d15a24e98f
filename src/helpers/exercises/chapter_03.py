"""Checks for the exercises of chapter 3."""

from __future__ import annotations

from collections.abc import Callable

import torch

from .base import RIGHT, Feedback, call, compare, exercise, not_yet, tensor_of


@exercise("03.head")
def _head(answer: Callable) -> Feedback:
    """Compare with the definition on made tokens, then with the usual slips."""
    draw = torch.Generator().manual_seed(3)
    z, *matrices = (torch.randn(rows, columns, generator=draw, dtype=torch.float64)
                    for rows, columns in ((5, 6), (6, 4), (6, 4), (6, 4)))
    got = call(lambda *given: tensor_of(answer(*given)), z.clone(), *(w.clone() for w in matrices))
    if isinstance(got, Feedback):
        return got
    q, k, v = (z @ w for w in matrices)
    products = q @ k.T
    want = (products / 2).softmax(-1) @ v  # √4 = 2
    if got.shape != want.shape:
        return not_yet(f"five tokens and a head of width 4 should give shape [5, 4], not {list(got.shape)}",
                       f"토큰 다섯 개와 폭이 4인 헤드라면 모양은 [5, 4]여야 하는데 {list(got.shape)}이다")
    close = lambda value: torch.allclose(got.double(), value, rtol=1e-6)
    if close(want):
        return RIGHT
    slips = [
        (products.softmax(-1) @ v, "the scores are not divided by √D_h", "점수를 √D_h로 나누지 않았다"),
        ((products / 4).softmax(-1) @ v, "you divided by D_h; divide by its root",
         "D_h로 나누었다. 그 제곱근으로 나눈다"),
        ((products / 6**0.5).softmax(-1) @ v,
         "you divided by the root of D, the width of a token; D_h is that of a head",
         "토큰의 폭 D의 제곱근으로 나누었다. D_h는 헤드의 폭이다"),
        ((products / 2).softmax(0) @ v, "the softmax runs over the wrong axis: each row (one query) adds up to 1",
         "소프트맥스의 축이 틀렸다. 행(질의 하나)마다 더해서 1이 되어야 한다"),
        ((products / 2).T.softmax(-1) @ v, "queries and keys are swapped: row i belongs to query i",
         "질의와 키가 뒤바뀌었다. i행은 질의 i의 것이다"),
        ((products / 2).softmax(-1) @ k, "you mixed the keys; the values are what is handed over",
         "키를 섞었다. 내주는 것은 값이다"),
        (products / 2 @ v, "the softmax is missing", "소프트맥스가 빠졌다"),
    ]
    for value, en, ko in slips:
        if close(value):
            return not_yet(en, ko)
    return not_yet("the numbers differ; compute softmax(q kᵀ / √D_h) v with q = z W_q, k = z W_k, v = z W_v",
                   "값이 다르다. q = z W_q, k = z W_k, v = z W_v로 softmax(q kᵀ / √D_h) v를 계산해 보자")


@exercise("03.weights")
def _weights(answer: float) -> Feedback:
    """12 heads, 14 · 14 + 1 tokens."""
    tokens, heads = 14 * 14 + 1, 12
    slips = [
        (tokens**2, "that is one head; ViT-B has twelve", "헤드 하나의 값이다. ViT-B에는 헤드가 열두 개 있다"),
        (heads * 196**2, "[CLS] asks and is asked too: there are 197 tokens",
         "[CLS]도 묻고 물음을 받는다. 토큰은 197개다"),
        (heads * tokens, "every token looks at every token: N² weights for each head",
         "모든 토큰이 모든 토큰을 본다. 헤드마다 가중치가 N²개다"),
        (heads**2 * tokens**2, "that is the whole network; the question is about one block",
         "신경망 전체의 값이다. 물음은 블록 하나에 관한 것이다"),
        (768 * tokens**2, "the width does not matter here: one weight for each pair of tokens and head",
         "폭은 상관이 없다. 토큰의 짝과 헤드마다 가중치가 하나다"),
        (heads * (14 + 1) ** 2, "the patches form a grid of 14 × 14", "패치는 14 × 14 격자를 이룬다"),
    ]
    return compare(answer, heads * tokens**2, slips, (
        "count the tokens, patches and [CLS]; each head has one weight for every pair of them",
        "패치와 [CLS]를 합친 토큰 수를 세어 보자. 헤드마다 토큰의 짝 하나에 가중치가 하나씩 있다"))
