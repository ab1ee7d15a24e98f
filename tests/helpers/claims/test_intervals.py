"""Intervals: against scipy, and by how often they hold the truth."""

import numpy as np
import pytest
import scipy.stats
import torch

from helpers import cka, load_images, load_model
from helpers.claims.intervals import Interval, bootstrap, jackknife, over_parts, parts, welch


def test_over_parts_is_students_interval_of_the_parts():
    values = torch.randn(200, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    for number in range(2, 11):
        got = over_parts(lambda part: part.mean(), values, number)
        means = [values[[k for k in range(200) if k // 10 % number == i]].mean().item() for i in range(number)]
        low, high = scipy.stats.t.interval(0.95, number - 1, np.mean(means), scipy.stats.sem(means))
        np.testing.assert_allclose([got.value, got.low, got.high], [np.mean(means), low, high], rtol=1e-9)


def test_a_dictionary_of_numbers_gives_a_dictionary_of_intervals():
    got = over_parts(lambda part: {"mean": part.mean(), "size": len(part)}, torch.arange(60.0), 3)
    assert set(got) == {"mean", "size"} and got["size"] == Interval(20, 20, 20)


def test_parts_of_a_dataset_are_disjoint_balanced_and_complete():
    images = load_images("cifar10", 100)
    seen = []
    over_parts(lambda part: seen.append(part.indices) or 0.0, images, 5)
    assert sorted(i for part in seen for i in part) == list(range(100))
    for part in seen:
        assert images.labels[part].bincount(minlength=10).tolist() == [2] * 10


def test_jackknife_of_a_mean_is_the_interval_over_parts():
    values = torch.randn(50, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    parts = [values[torch.arange(50) // 10 == i] for i in range(5)]
    mean = lambda chosen: torch.cat(chosen).mean()
    got, want = jackknife(mean, parts), over_parts(lambda part: part.mean(), values, 5)
    np.testing.assert_allclose([got.value, got.low, got.high], [want.value, want.low, want.high], rtol=1e-9)


def test_jackknife_takes_its_value_from_all_parts():
    got = jackknife(lambda chosen: {"largest": max(chosen), "how many": len(chosen)}, [1.0, 2.0, 6.0])
    assert got["largest"].value == 6 and got["how many"] == Interval(3, 3, 3)
    error = np.sqrt(2 / 3 * np.sum((np.array([6, 6, 2]) - 14 / 3) ** 2))
    assert got["largest"].high - 6 == pytest.approx(scipy.stats.t.ppf(0.975, 2) * error)
    with pytest.raises(ValueError, match="1 parts are too few"):
        jackknife(len, [0])


def test_bootstrap_holds_the_truth_about_as_often_as_it_says():
    hits = 0
    for seed in range(200):
        sample = torch.randn(80, generator=torch.Generator().manual_seed(seed))
        got = bootstrap(sample, draws=300, seed=seed)
        hits += got.low <= 0 <= got.high
    assert 180 <= hits <= 199


def test_bootstrap_takes_any_statistic_of_rows():
    rows = torch.stack([torch.arange(50.0), -torch.arange(50.0)], 1)
    got = bootstrap(rows, lambda sample: torch.corrcoef(sample.T)[0, 1], draws=50)
    assert [got.value, got.low, got.high] == pytest.approx([-1, -1, -1])


def test_cka_over_parts_surrounds_cka_of_all():
    vit, images = load_model("vit_cls"), load_images("cifar10", 640)
    corner = lambda part: cka(vit, part, layers=["blocks.0", "blocks.5"], batch_size=64, progress=False).within[0, 1]
    got = over_parts(corner, images)
    assert got.low < corner(images) < got.high


def test_too_few_images_are_refused():
    with pytest.raises(ValueError, match="30 images do not make 5 parts"):
        over_parts(lambda part: 0, torch.zeros(30))
    with pytest.raises(ValueError, match="at least two parts"):
        over_parts(lambda part: 0, torch.zeros(300), 1)
    with pytest.raises(ValueError, match="one value per image"):
        bootstrap(3.0)


@pytest.mark.parametrize("sd", [(0.06, 0.02), (0.3, 0.3), (0.01, 1.0)])
def test_welch_is_the_interval_of_scipy_for_the_runs_behind_the_numbers(sd):
    first, second = (99.5 + sd[0] * np.array([-1, 0, 1]), 99.37 + sd[1] * np.array([-1, 0, 1]))
    got = welch((first.mean(), first.std(ddof=1)), (second.mean(), second.std(ddof=1)))
    low, high = scipy.stats.ttest_ind(first, second, equal_var=False).confidence_interval()
    np.testing.assert_allclose([got.value, got.low, got.high], [0.13, low, high], rtol=1e-9)


@pytest.mark.parametrize(("first", "second", "runs"), [((1, 0.0), (2, 0.0), 3), ((1, 0.1), (2, 0.1), 1),
                                                       ((1, float("nan")), (2, 0.1), 3)])
def test_welch_needs_two_runs_and_some_spread(first, second, runs):
    with pytest.raises(ValueError, match="give no interval"):
        welch(first, second, runs)


def test_the_interval_of_parts_is_students_and_needs_two():
    values = [0.1, 0.4, 0.2, 0.3]
    low, high = scipy.stats.t.interval(0.95, 3, loc=0.25, scale=scipy.stats.sem(values))
    assert Interval.of(values) == Interval(pytest.approx(0.25), pytest.approx(low), pytest.approx(high))
    with pytest.raises(ValueError, match="1 values are too few"):
        Interval.of([0.5])


def test_above_and_below_ask_for_the_whole_interval():
    found = Interval(0.5, 0.1, 0.9)
    assert found.above(0) and not found.above(0.1) and found.below(1) and not found.below(0.9)


def test_parts_are_disjoint_balanced_and_complete():
    tens = torch.arange(120)
    found = parts(tens, 4)
    assert [len(part) for part in found] == [30] * 4
    assert torch.cat(found).sort().values.equal(tens)
    assert found[1][:10].tolist() == list(range(10, 20))
    with pytest.raises(ValueError, match="30 images do not make 4 parts"):
        parts(tens[:30], 4)


def test_what_is_no_number_stays_none():
    assert np.isnan(Interval.of([0.1, float("nan"), 0.3]).high)
    assert np.isnan(jackknife(np.mean, [0.1, float("nan"), 0.3]).low)
