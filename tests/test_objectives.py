"""Guessing colours: what is corrupted, and what the network then sees."""

import torch

from helpers import load_model
from helpers.lab.objectives import corrupt


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
