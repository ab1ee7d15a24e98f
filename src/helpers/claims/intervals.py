"""How sure a number is: intervals over disjoint parts of the images, by resampling them, or from a printed ±."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # a page that only shows intervals needs neither torch nor scipy
    from torch import Tensor
    from torch.utils.data import Dataset


@dataclass(frozen=True)
class Interval:
    """A number and its 95 % interval, over images unless something else is said."""

    value: float
    low: float
    high: float

    def __repr__(self) -> str:
        return f"{self.value:.3g} ({self.low:.3g} to {self.high:.3g})"

    def __float__(self) -> float:
        return self.value

    def above(self, level: float) -> bool:
        """Whether the whole interval lies above a level."""
        return self.low > level

    def below(self, level: float) -> bool:
        """Whether the whole interval lies below a level."""
        return self.high < level

    @classmethod
    def of(cls, values: Sequence[Any]) -> Interval:
        """Mean of the values of several parts (of the images, or several runs), and Student's interval for it."""
        if len(values) < 2:
            raise ValueError(f"{len(values)} values are too few for an interval: at least two are needed.")
        numbers = [float(value) for value in values]
        mean = fmean(numbers)
        variance = sum((number - mean) ** 2 for number in numbers) / (len(numbers) - 1)
        half = students_t(len(numbers) - 1) * math.sqrt(variance / len(numbers))
        return cls(mean, mean - half, mean + half)


def students_t(freedom: float) -> float:
    """How many standard errors a 95 % interval reaches to each side."""
    from scipy.stats import t

    return float(t.ppf(0.975, freedom))


def parts(images: Any, number: int = 5) -> list[Any]:
    """Disjoint parts of the images, for "measure each part, then an interval": each takes every number-th ten.

    Blocks of ten keep bundled sets balanced over their ten classes.
    """
    from torch import Tensor
    from torch.utils.data import Subset

    n = len(images)
    if number < 2 or n < 10 * number:
        raise ValueError(f"{n} images do not make {number} parts: at least two parts of ten images each are needed.")
    chosen = [[k for k in range(n) if k // 10 % number == i] for i in range(number)]
    return [images[part] if isinstance(images, Tensor) else Subset(images, part) for part in chosen]


def over_parts(measure: Callable[[Any], Any], images: Dataset | Tensor, number: int = 5) -> Any:
    """`measure` on disjoint parts of the images → an Interval for the number, or for each one of a dictionary.

    Use measures that do not depend on the number of images, such as unbiased CKA; all images are seen once, so the cost
    is that of one measurement.
    """
    found = [measure(part) for part in parts(images, number)]
    if isinstance(found[0], dict):
        return {name: Interval.of([one[name] for one in found]) for name in found[0]}
    return Interval.of(found)


def jackknife(measure: Callable[[list[Any]], Any], parts: Sequence[Any]) -> Any:
    """`measure` on the results of all parts of the images, then without each in turn → Interval, or one for each name.

    For a measure that depends on the number of images, such as which of many noisy values is the largest: the value is
    that of all images together. For the mean of the parts the interval is the one of `over_parts`.
    """
    k = len(parts)
    if k < 2:
        raise ValueError(f"{k} parts are too few: leave-one-out needs at least two.")
    together = measure(list(parts))
    without = [measure([*parts[:i], *parts[i + 1 :]]) for i in range(k)]
    if isinstance(together, dict):
        return {name: _leave_one_out(together[name], [one[name] for one in without]) for name in together}
    return _leave_one_out(together, without)


def _leave_one_out(value: Any, without: list[Any]) -> Interval:
    numbers = [float(one) for one in without]
    k, mean = len(numbers), fmean(numbers)
    error = math.sqrt((k - 1) / k * sum((number - mean) ** 2 for number in numbers))
    half = students_t(k - 1) * error
    return Interval(float(value), float(value) - half, float(value) + half)


def bootstrap(values: Any, statistic: Callable[[Tensor], Any] = lambda sample: sample.mean(), draws: int = 1000,
              seed: int = 0) -> Interval:
    """Interval of a statistic (default: the mean) of per-image values [n, …], by resampling images with replacement."""
    import torch

    values = torch.as_tensor(values, dtype=torch.float64)
    if values.ndim == 0 or len(values) < 2:
        raise ValueError(f"bootstrap needs one value per image, at least two; got shape {tuple(values.shape)}.")
    rng = torch.Generator().manual_seed(seed)
    resampled = torch.tensor([float(statistic(values[torch.randint(len(values), (len(values),), generator=rng)]))
                              for _ in range(draws)], dtype=torch.float64)
    low, high = resampled.quantile(torch.tensor([0.025, 0.975], dtype=torch.float64)).tolist()
    return Interval(float(statistic(values)), low, high)


def welch(first: tuple[float, float], second: tuple[float, float], runs: int = 3) -> Interval:
    """First minus second, each a printed (mean, standard deviation) of `runs` runs: Welch's interval over runs."""
    (mean_a, sd_a), (mean_b, sd_b) = first, second
    if runs < 2 or not (sd_a >= 0 and sd_b >= 0 and sd_a + sd_b > 0):
        raise ValueError(f"±{sd_a} and ±{sd_b} over {runs} runs give no interval: two runs and some spread are needed.")
    spread = sd_a**2 + sd_b**2
    freedom = (runs - 1) * spread**2 / (sd_a**4 + sd_b**4)
    half = students_t(freedom) * math.sqrt(spread / runs)
    return Interval(mean_a - mean_b, mean_a - mean_b - half, mean_a - mean_b + half)
