"""States of networks: names, and the networks behind them."""

import pytest
import torch

from helpers import in_state, load_model, seeds_of, states_of
from helpers.networks import states


def test_runs_and_draws_are_named_in_order():
    assert states.training_runs(3) == ("trained", "seed 1", "seed 2")
    assert states.untrained_draws() == ("untrained", "untrained 1", "untrained 2", "untrained 3", "untrained 4")


def test_there_are_as_many_runs_as_every_network_has():
    assert seeds_of("vit_cls")[:2] == ["vit_cls", "vit_cls_b"] and seeds_of("mixer")[0] == "mixer"
    assert seeds_of("vit_cls", scale="paper") == ["vit_cls"]
    trained, untrained = states_of("vit_cls", "mixer")
    assert len(trained) == min(len(seeds_of("vit_cls")), len(seeds_of("mixer"))) and len(untrained) == states.DRAWS
    assert states_of("vit_cls", scale="paper") == (("trained",), ("untrained",))


def weights(network):
    return torch.cat([parameter.flatten() for parameter in network.parameters()])


def test_every_state_is_another_network():
    trained, untrained = states_of("vit_cls")
    found = {state: weights(in_state("vit_cls", state)) for state in (*trained, *untrained)}
    assert torch.equal(found["trained"], weights(load_model("vit_cls")))
    assert torch.equal(found["untrained"], weights(load_model("vit_cls", trained=False)))
    assert len({float(one.sum()) for one in found.values()}) == len(found)


@pytest.mark.parametrize("state", ["seed 99", "trial"])
def test_a_state_that_there_is_not_is_named(state):
    with pytest.raises(ValueError, match=f"mixer has no state '{state}'; it has trained, "):
        in_state("mixer", state)


def test_states_read_in_both_languages():
    called = [[states.called_state(state, lang) for state in ("trained", "seed 2", "untrained", "untrained 1", "mine")]
              for lang in ("en", "ko")]
    assert called[0] == ["first training run", "training run 3", "random weights, draw 1", "random weights, draw 2",
                         "mine"]
    assert called[1] == ["첫째 학습", "3번째 학습", "무작위 가중치 1", "무작위 가중치 2", "mine"]
    assert all(states.called_state(half, lang) != half for half in states.HALF_TRAINED for lang in ("en", "ko"))


def test_a_control_is_told_from_a_training_run():
    assert states.swapped(("trained", "seed 1"), (*states.untrained_draws(), *states.HALF_TRAINED)) == []
    assert states.swapped(("untrained",), ("seed 2",)) == ["untrained", "seed 2"]
