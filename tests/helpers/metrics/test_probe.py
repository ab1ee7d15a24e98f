"""Probes: against scikit-learn, against refitting without each example, and both closed forms against each other."""

from __future__ import annotations

import sys
import warnings

import matplotlib
import numpy as np
import pytest
import torch
from sklearn.linear_model import Ridge as SklearnRidge
from sklearn.preprocessing import StandardScaler

from helpers import probe
from helpers.metrics.probe import RIDGES, Ridge

matplotlib.use("agg")


def problem(n: int, width: int, *between: int, spread: float = 1.5, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Three classes of features round their own centres, far from the origin."""
    g = torch.Generator().manual_seed(seed)
    y = torch.arange(n) % 3
    centres = torch.randn(3, *between, width, generator=torch.Generator().manual_seed(99))
    return spread * torch.randn(n, *between, width, generator=g) + centres[y] + 5, y


def class_after_class(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    order = y.argsort(stable=True)
    return x[order], y[order]


def sklearn_scores(x: np.ndarray, y: np.ndarray, test_x: np.ndarray, ridge: float) -> np.ndarray:
    scaler = StandardScaler().fit(x)
    targets = 2.0 * np.eye(y.max() + 1)[y] - 1
    return SklearnRidge(alpha=ridge).fit(scaler.transform(x), targets).predict(scaler.transform(test_x))


@pytest.mark.parametrize(("n", "width"), [(60, 10), (24, 50)])  # more examples than features, and the reverse
@pytest.mark.parametrize("ridge", [0.01, 3.0, 400.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_equals_scikit_learn(n, width, ridge, dtype):
    (x, y), (test_x, test_y) = problem(n, width, 4), problem(90, width, 4, seed=1)
    result = probe(x.to(dtype), y, test_x.to(dtype), test_y, ridge=ridge)
    for t in range(4):
        scores = sklearn_scores(x[:, t].numpy().astype(float), y.numpy(), test_x[:, t].numpy().astype(float), ridge)
        assert (result.correct[:, t] == (scores.argmax(1) == test_y.numpy())).all()
        assert result.accuracy[t] == pytest.approx(result.correct[:, t].mean())
    assert (result.ridge == ridge).all() and result.accuracy.shape == (4,)


@pytest.mark.parametrize(("n", "width"), [(40, 7), (12, 30)])
def test_both_closed_forms_give_the_textbook_solution(n, width):
    x, y = class_after_class(*problem(n, width))
    x = x.double() - x.double().mean(0)
    scale = x.square().mean(0).sqrt()
    unit = x / scale
    centred = 2.0 * torch.nn.functional.one_hot(y).double()
    centred -= centred.mean(0)
    for ridge in (0.1, 10.0):
        primal, dual = (Ridge(x[None], y, dual=d).weights(torch.tensor([ridge]))[0] for d in (False, True))
        textbook = torch.linalg.solve(unit.T @ unit + ridge * torch.eye(width, dtype=torch.float64), unit.T @ centred)
        textbook /= scale[:, None]  # weights for the features as they came
        assert torch.allclose(primal, textbook, atol=1e-9) and torch.allclose(dual, textbook, atol=1e-9)


@pytest.mark.parametrize("width", [5, 60])
def test_held_out_accuracy_equals_refitting_without_each_example(width):
    x, y = class_after_class(*problem(45, width, spread=3.0))
    x = x.double() - x.double().mean(0)
    x /= x.square().mean(0).sqrt()
    targets = (2.0 * torch.nn.functional.one_hot(y).double() - 1).numpy()
    ridges = torch.tensor([0.01, 0.5, 20.0, 400.0], dtype=torch.float64)
    both = [Ridge(x[None], y, dual=dual).held_out_accuracy(ridges)[:, 0] for dual in (False, True)]
    for r, ridge in enumerate(ridges.tolist()):
        right = 0
        for i in range(45):
            rest = np.arange(45) != i
            refit = SklearnRidge(alpha=ridge).fit(x[rest].numpy(), targets[rest])
            right += int(refit.predict(x[i : i + 1].numpy())[0].argmax() == y[i])
        assert both[0][r] == both[1][r] == pytest.approx(right / 45)
    assert 0 < both[0].min() <= both[0].max() < 1  # a problem on which rights and wrongs both occur


def test_auto_takes_the_best_held_out_ridge_and_the_larger_of_equals():
    (x, y), (test_x, test_y) = problem(60, 40, 6), problem(60, 40, 6, seed=1)
    result = probe(x, y, test_x, test_y)
    assert result.held_out.shape == (len(RIDGES), 6)
    for t in range(6):
        best = result.held_out[:, t].max()
        assert result.ridge[t] == max(r for r, a in zip(result.ridges, result.held_out[:, t], strict=True) if a == best)
        assert result.accuracy[t] == probe(x[:, t], y, test_x[:, t], test_y, ridge=result.ridge[t]).accuracy


def test_shapes_chunks_and_kinds_of_input(monkeypatch):
    (x, y), (test_x, test_y) = problem(30, 6, 2, 5), problem(30, 6, 2, 5, seed=1)
    whole = probe(x, y, test_x, test_y)
    assert whole.accuracy.shape == whole.ridge.shape == (2, 5) and whole.held_out.shape == (16, 2, 5)
    monkeypatch.setattr(sys.modules["helpers.metrics.probe"], "_CHUNK_BYTES", 1)
    assert np.array_equal(probe(x.numpy(), y.numpy(), test_x.numpy(), test_y.numpy()).accuracy, whole.accuracy)
    single = probe(x[:, 0, 0], y, test_x[:, 0, 0], test_y)
    assert single.accuracy.shape == () and float(single.accuracy) == whole.accuracy[0, 0]


def test_features_with_a_graph_are_taken_without_it():
    (x, y), (test_x, test_y) = problem(60, 10), problem(60, 10, seed=1)
    expected = probe(x, y, test_x, test_y).accuracy
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert probe(x.requires_grad_() * 1, y, test_x.requires_grad_() * 1, test_y).accuracy == expected


def test_labels_need_not_start_at_zero_and_scale_does_not_matter():
    (x, y), (test_x, test_y) = problem(60, 10), problem(60, 10, seed=1)
    expected = probe(x, y, test_x, test_y).accuracy
    assert probe(x, 10 * y - 7, test_x, 10 * test_y - 7).accuracy == expected
    assert probe(1000 * x, y, 1000 * test_x, test_y).accuracy == expected
    padded = [torch.cat([v, torch.full((60, 1), 3.0)], 1) for v in (x, test_x)]  # a constant feature
    assert probe(padded[0], y, padded[1], test_y).accuracy == expected


def test_shots_are_the_first_of_each_class():
    (x, y), (test_x, test_y) = problem(60, 10), problem(60, 10, seed=1)
    few = probe(x, y, test_x, test_y, shots=4)
    assert few.n_train == 12 and few.accuracy == probe(x[:12], y[:12], test_x, test_y).accuracy
    with pytest.raises(ValueError, match=r"shots=21: classes \[0, 1, 2\]"):
        probe(x, y, test_x, test_y, shots=21)
    with pytest.raises(ValueError, match="shots=0"):
        probe(x, y, test_x, test_y, shots=0)


def test_bad_input():
    (x, y), (test_x, test_y) = problem(30, 4), problem(30, 4, seed=1)
    for arguments, message in (
        ((x, y[:-1], test_x, test_y), "do not fit"),
        ((x[:, 0], y, test_x, test_y), "do not fit"),
        ((x, y, test_x[:, :3], test_y), "do not fit"),
        ((x[:0], y[:0], test_x, test_y), "no examples"),
        ((x * torch.nan, y, test_x, test_y), "NaN or Inf"),
        ((x, y * 0, test_x, test_y), "one class only"),
        ((x, y, test_x, test_y + 5), "do not occur in training"),
    ):
        with pytest.raises(ValueError, match=message):
            probe(*arguments)
    names = ["cat", "dog", "cow"] * 10
    for labels in (names, np.array(names)):
        with pytest.raises(TypeError, match=r"labels must be an array of numbers.*np\.unique"):
            probe(x, labels, test_x, labels)
    for ridge in (0, -1.0, "best"):
        with pytest.raises(ValueError, match="positive number"):
            probe(x, y, test_x, test_y, ridge=ridge)


@pytest.mark.parametrize("there", [(False, False), (True, True), (True, False)])
def test_on_an_accelerator(accelerator, there):
    (x, y), (test_x, test_y) = problem(30, 6, 3), problem(30, 6, 3, seed=1)
    expected = probe(x, y, test_x, test_y, device="cpu").accuracy
    x, test_x = (v.to(accelerator) if t else v for v, t in zip((x, test_x), there, strict=True))
    for device in (accelerator, "cpu"):
        assert np.array_equal(probe(x, y, test_x, test_y, device=device).accuracy, expected)


def test_results_can_be_printed_tabled_and_drawn():
    (x, y), (test_x, test_y) = problem(30, 6, 2, 3), problem(30, 6, 2, 3, seed=1)
    result, single = probe(x, y, test_x, test_y), probe(x[:, 0, 0], y, test_x[:, 0, 0], test_y)
    assert "6 probes" in repr(result) and "3 classes" in repr(single) and result.plot() and single.plot()
    assert list(result.to_frame().columns) == ["axis0", "axis1", "accuracy", "ridge"] and len(single.to_frame()) == 1
