"""HSIC and CKA of two representations, against their definitions."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cka_reference import hsic1_by_formula, hsic1_by_four_indices
from helpers.metrics.similarity import gram, hsic0, hsic1, linear_cka, minibatch_cka


@pytest.mark.parametrize("n", [4, 5, 7])
def test_hsic1_is_the_u_statistic(n):
    torch.manual_seed(n)
    k, l = (gram(torch.randn(n, p, dtype=torch.float64)) for p in (3, 6))
    assert float(hsic1(k, l)) == pytest.approx(hsic1_by_four_indices(k, l), abs=1e-12)
    assert float(hsic1(k, l)) == pytest.approx(float(hsic1_by_formula(k, l)), abs=1e-12)


def test_hsic0_is_the_trace_formula_and_biased_cka_the_frobenius_one():
    torch.manual_seed(0)
    x, y = torch.randn(9, 4, dtype=torch.float64), torch.randn(9, 5, dtype=torch.float64)
    h = torch.eye(9, dtype=torch.float64) - 1 / 9
    expected = float(torch.trace(gram(x) @ h @ gram(y) @ h) / 64)
    assert float(hsic0(gram(x), gram(y))) == pytest.approx(expected, rel=1e-12)
    a, b = x - x.mean(0), y - y.mean(0)
    frobenius = (b.T @ a).norm() ** 2 / ((a.T @ a).norm() * (b.T @ b).norm())
    assert linear_cka(x, y, unbiased=False) == pytest.approx(float(frobenius), rel=1e-12)


@pytest.mark.parametrize(("n", "p", "biased"), [(128, 64, 0.32), (128, 1024, 0.89)])
def test_independent_features_look_alike_only_to_the_biased_estimate(n, p, biased):
    torch.manual_seed(0)
    x, y = torch.randn(n, p), torch.randn(n, p)
    assert linear_cka(x, y, unbiased=False) == pytest.approx(biased, abs=0.02)
    assert abs(linear_cka(x, y)) < 0.05


def test_gram_is_exact_for_every_layout_and_precision():
    torch.manual_seed(0)
    x = torch.randn(6, 5, 4, 3) + 30
    wide = x.double().flatten(1)
    expected = (wide - wide.mean(0)) @ (wide - wide.mean(0)).T
    for layout in (x, x.to(memory_format=torch.channels_last), x.transpose(1, 2)):
        assert torch.allclose(gram(layout, centred=True), expected, atol=1e-4)
    assert torch.allclose(gram(x.double()), wide @ wide.T, rtol=1e-14)
    assert gram(x.bfloat16(), centred=True).dtype == torch.float64


SMALL = st.integers(0, 2**32 - 1)


@settings(max_examples=25, deadline=None)
@given(seed=SMALL, scale=st.floats(0.01, 100), shift=st.floats(-50, 50))
def test_cka_does_not_see_rotation_permutation_scale_or_translation(seed, scale, shift):
    g = torch.Generator().manual_seed(seed)
    x, y = (torch.randn(12, p, generator=g, dtype=torch.float64) for p in (5, 7))
    rotation, _ = torch.linalg.qr(torch.randn(5, 5, generator=g, dtype=torch.float64))
    before = linear_cka(x, y)
    assert linear_cka(x @ rotation, y) == pytest.approx(before, abs=1e-8)
    assert linear_cka(x[:, torch.randperm(5, generator=g)], y) == pytest.approx(before, abs=1e-10)
    assert linear_cka(scale * x, y) == pytest.approx(before, abs=1e-8)
    assert linear_cka(x + shift, y) == pytest.approx(before, abs=1e-8)
    assert linear_cka(y, x) == pytest.approx(before, abs=1e-10)
    order = torch.randperm(12, generator=g)
    assert linear_cka(x[order], y[order]) == pytest.approx(before, abs=1e-10)


def test_cka_does_see_a_general_invertible_map():
    torch.manual_seed(0)
    x = torch.randn(50, 5, dtype=torch.float64)
    stretched = x @ torch.diag(torch.tensor([1, 3, 9, 27, 81], dtype=torch.float64))
    assert linear_cka(x, stretched) < 0.8


@pytest.mark.parametrize("bad", [(torch.zeros(3, 3), torch.zeros(3, 3)), (torch.zeros(5, 5), torch.zeros(6, 6))])
def test_hsic1_refuses_too_few_or_unequal_examples(bad):
    with pytest.raises(ValueError, match=r"at least 4|one size"):
        hsic1(*bad)
    with pytest.raises(ValueError, match="same ones"):
        minibatch_cka(torch.zeros(5, 2), torch.zeros(6, 2))


def test_complex_features_are_refused():
    x = torch.randn(8, 4, dtype=torch.complex64)
    with pytest.raises(ValueError, match="imaginary part"):
        linear_cka(x, x)
