"""What a lab network is trained for: what is hidden, what the network then sees, and what is shipped."""


import pytest
import torch

from helpers import load_model
from helpers.inputs.bundled import normalise
from helpers.lab.architectures import build
from helpers.lab.objectives import OBJECTIVES, ClassAndColours, corrupt, joint_loss, mean_colours


def test_half_of_the_patches_are_corrupted_in_three_ways():
    torch.manual_seed(0)
    corrupted, source = corrupt(500, 64)
    assert (corrupted.sum(1) == 32).all()
    own = source == torch.arange(64)
    assert own[~corrupted].all()
    assert source.min() == -1 and source.max() == 63
    for fate, share in ((source < 0, 0.8), (~own & (source >= 0), 0.1), (own & corrupted, 0.1)):
        assert abs(fate[corrupted].float().mean() - share) < 0.01


@torch.no_grad()
def test_a_corruption_says_whose_embedding_stands_where():
    model, x = load_model("vit_masked", trained=False), torch.randn(2, 3, 32, 32)
    torch.manual_seed(0)
    torch.nn.init.normal_(model.head.weight)
    torch.nn.init.normal_(model.mask_token)
    own = torch.arange(64).expand(2, -1)
    guess = lambda x, source: model.guess_colours(x, (source != own, source))[0]
    torch.testing.assert_close(guess(x, own), model(x)[:, 1:])
    swapped = x.clone()  # the pixels of the last patch stand where those of the first were
    swapped[..., :4, :4] = x[..., -4:, -4:]
    torch.testing.assert_close(guess(x, torch.where(own == 0, 63, own)), guess(swapped, own))
    hidden = torch.where(own == 0, -1, own)
    torch.testing.assert_close(guess(x, hidden), guess(swapped, hidden))  # a masked patch cannot be seen
    assert not torch.allclose(guess(x, hidden), guess(x, own))


def test_a_patch_colour_is_its_mean_in_three_bits_per_channel():
    raw = torch.zeros(1, 3, 8, 4, dtype=torch.uint8)
    raw[0, 0, :4], raw[0, 1, 4:], raw[0, 2, 4:, :2] = 255, 32, 255  # above: red; below: dark green, half of it blue
    assert mean_colours(raw, 4).tolist() == [[7 * 64, 1 * 8 + 3]]


def both() -> ClassAndColours:
    """A tiny network for both tasks, whose added parts do something."""
    model = ClassAndColours(build("vit", seed=0, width=16, depth=1, heads=2))
    torch.manual_seed(1)
    for parameter in (model.mask_token, model.colours.weight, model.network.head.weight):
        torch.nn.init.normal_(parameter)
    return model


@pytest.mark.parametrize("share", [0.25, 0.5, 0.75])
def test_half_of_a_batch_is_intact_and_the_share_is_hidden_in_the_other(share):
    classes, colours, hidden = both().guess_both(torch.randn(9, 3, 32, 32), share)
    assert hidden.sum(1).tolist() == [64 * share] * 4 + [0] * 5
    assert classes.shape == (9, 10) and colours.shape == (4 * 64 * share, 512)


@torch.no_grad()
def test_intact_images_get_the_answer_of_the_network_alone():
    model, x = both(), torch.randn(6, 3, 32, 32)
    classes, *_ = model.guess_both(x, 0.5)
    alone = model.network(x)
    torch.testing.assert_close(classes[3:], alone[3:])
    assert (classes[:3] - alone[:3]).abs().amax(1).min() > 1e-3  # of the others some patches were hidden


def test_the_joint_loss_adds_both_tasks_and_reaches_every_parameter():
    model, labels = both(), torch.tensor([1, 2, 3, 4])
    raw = torch.randint(0, 256, (4, 3, 32, 32), generator=torch.Generator().manual_seed(0), dtype=torch.uint8)
    torch.manual_seed(5)
    loss = joint_loss(model, raw, labels, {"masked": 0.5, "label_smoothing": 0.1})
    torch.manual_seed(5)
    classes, colours, hidden = model.guess_both(normalise(raw), 0.5)
    entropy = torch.nn.functional.cross_entropy
    torch.testing.assert_close(loss, entropy(classes, labels, label_smoothing=0.1)
                               + entropy(colours, mean_colours(raw, 4)[hidden]))
    loss.backward()
    assert not [name for name, p in model.named_parameters() if p.grad is None or not p.grad.any()]


def test_only_the_network_is_shipped():
    model = both()
    assert OBJECTIVES["joint"].for_shipping(model) is model.network
    assert OBJECTIVES["classify"].for_shipping(model) is model and OBJECTIVES["colours"].for_training(model) is model
