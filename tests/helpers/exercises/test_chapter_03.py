"""The checks of chapter 3 recognise the usual slips."""

import pytest
from slips import refused

from helpers.exercises import check


def head(scale=lambda z, q: q.shape[-1] ** 0.5, axis=-1, mix="v", swap=False, soft=True):
    """One head with room for slips."""

    def answer(z, w_q, w_k, w_v):
        q, k, v = z @ w_q, z @ w_k, z @ w_v
        scores = (k @ q.T if swap else q @ k.T) / scale(z, q)
        return (scores.softmax(axis) if soft else scores) @ {"v": v, "k": k}[mix]

    return answer


@pytest.mark.parametrize(("wrong", "hint"), [
    (head(scale=lambda z, q: 1), "not divided"),
    (head(scale=lambda z, q: q.shape[-1]), "divide by its root"),
    (head(scale=lambda z, q: z.shape[-1] ** 0.5), "the width of a token"),
    (head(axis=0), "wrong axis"),
    (head(swap=True), "swapped"),
    (head(mix="k"), "mixed the keys"),
    (head(soft=False), "softmax is missing"),
    (lambda z, w_q, w_k, w_v: z, "shape [5, 4], not [5, 6]"),
    (lambda z, w_q, w_k, w_v: z @ w_v, "numbers differ"),
    (lambda z, w_q, w_k, w_v: z @ w_q @ w_k, "Your function raised"),
    (lambda z, w_q, w_k, w_v: None, "returns nothing"),
])  # fmt: skip
def test_head_names_the_slip(wrong, hint):
    assert refused("03.head", wrong, hint)


def test_arrays_and_lists_are_answers_too():
    assert check("03.head", lambda *given: head()(*given).numpy()).ok
    assert check("03.head", lambda *given: head()(*given).tolist()).ok


@pytest.mark.parametrize(("wrong", "hint"), [
    (197**2, "one head"),
    (12 * 196**2, "197 tokens"),
    (12 * 197, "N² weights"),
    (12 * 12 * 197**2, "whole network"),
    (768 * 197**2, "width does not matter"),
    (12 * 15**2, "14 × 14"),
    (1, "count the tokens"),
    ([1, 2], "a number was expected"),
])  # fmt: skip
def test_weights_names_the_slip(wrong, hint):
    assert refused("03.weights", wrong, hint)
