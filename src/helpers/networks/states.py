"""The states in which a network is judged: training runs, untrained draws, and pairs of which one network is trained.

A state has a name, and `in_state` loads the network: "trained", "seed 1", … "untrained", "untrained 1", …
"""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # whoever only names states needs no torch
    from torch import nn

FURTHER_DRAWS = 1000  # their seeds: no training of the lab began with one of these
DRAWS = 5  # of random weights, behind a learned effect
HALF_TRAINED = ("only the first trained", "only the second trained")  # of two networks
WORDS = {
    "en": {"trained": "first training run", "seed": "training run {}", "untrained": "random weights, draw {}",
           HALF_TRAINED[0]: "only the first network trained", HALF_TRAINED[1]: "only the second network trained"},
    "ko": {"trained": "첫째 학습", "seed": "{}번째 학습", "untrained": "무작위 가중치 {}",
           HALF_TRAINED[0]: "첫째 신경망만 학습", HALF_TRAINED[1]: "둘째 신경망만 학습"},
}


def training_runs(number: int) -> tuple[str, ...]:
    """("trained", "seed 1", "seed 2") for three training runs of the same recipe."""
    return ("trained", *(f"seed {i}" for i in range(1, number)))


def untrained_draws(number: int = DRAWS) -> tuple[str, ...]:
    """("untrained", "untrained 1", …): draws of random weights; the first is where the training began."""
    return ("untrained", *(f"untrained {i}" for i in range(1, number)))


def is_control(state: str) -> bool:
    """Whether a state is random weights, at least in one of two networks."""
    return state.startswith("untrained") or state in HALF_TRAINED


def number_of(state: str) -> int:
    """Which run or draw a state is: 0 for "trained" and "untrained", 2 for "seed 2"."""
    last = state.split()[-1]
    return int(last) if last.isdigit() else 0


def called_state(state: str, lang: str) -> str:
    """A state in words; one that a chapter names by itself stays as it is."""
    words = WORDS[lang]
    if state in words and state != "untrained":
        return words[state]
    stem = state.split()[0]
    return words[stem].format(number_of(state) + 1) if stem in ("seed", "untrained") else state


def swapped(trained: Sequence[str], untrained: Sequence[str]) -> list[str]:
    """States that stand on the wrong side."""
    plain = ("trained", "seed")
    return [state for state in trained if is_control(state)] + [
        state for state in untrained if state.split()[0] in plain]


def seeds_of(name: str, *, scale: str = "lab") -> list[str]:
    """Networks that were trained by one recipe and differ in the seed, as far as their weights are here.

    >>> seeds_of("vit_cls")[:2]
    ['vit_cls', 'vit_cls_b']
    """
    from ..lab import runs as lab

    if scale != "lab":
        return [name]
    return [name, *(again for letter in ascii_lowercase if lab.shipped(again := f"{name}_{letter}"))]


def states_of(*names: str, scale: str = "lab", draws: int = DRAWS) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(training runs, untrained draws) of some networks: names of states for `report`, and for `in_state`.

    As many runs as each of the networks has; at paper scale one run and one draw, for the sake of time.
    """
    if scale != "lab":
        return training_runs(1), untrained_draws(1)
    return training_runs(min(len(seeds_of(name)) for name in names)), untrained_draws(draws)


def in_state(name: str, state: str, *, scale: str = "lab") -> nn.Module:
    """A network in one of its states: "trained", "seed 1", … or "untrained", "untrained 1", …"""
    from .zoo import load_model

    number = number_of(state)
    if state.startswith("untrained"):
        return load_model(name, scale=scale, trained=False, seed=FURTHER_DRAWS + number if number else None)
    runs = seeds_of(name, scale=scale)
    if state.split()[0] not in ("trained", "seed") or number >= len(runs):
        raise ValueError(f"{name} has no state {state!r}; it has {', '.join(sum(states_of(name, scale=scale), ()))}.")
    return load_model(runs[number], scale=scale)
