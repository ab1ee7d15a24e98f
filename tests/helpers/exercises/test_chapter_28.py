"""The checks of chapter 28 name the likely slip."""

import pytest
import torch
from slips import refused

from helpers.exercises import check


def token_mixing(x, w1, b1, w2, b2, act=torch.nn.functional.gelu):
    """The branch channel by channel, written with the formula instead of matrices of all channels."""
    out = torch.empty_like(x)
    for i, image in enumerate(x):
        for c in range(x.shape[2]):
            out[i, :, c] = w2 @ act(w1 @ image[:, c] + b1) + b2
    return out


def test_the_formula_channel_by_channel_passes():
    assert check("28.token_mixing", token_mixing).ok


def test_timms_own_mixer_block_passes():
    from timm.layers import Mlp

    def timms(x, w1, b1, w2, b2):
        mlp = Mlp(w1.shape[1], w1.shape[0]).double()
        weights = zip((mlp.fc1.weight, mlp.fc1.bias, mlp.fc2.weight, mlp.fc2.bias), (w1, b1, w2, b2), strict=True)
        for parameter, value in weights:
            parameter.data = value
        return mlp(x.transpose(1, 2)).transpose(1, 2).detach()

    assert check("28.token_mixing", timms).ok


@pytest.mark.parametrize("wrong,hint", [
    (lambda x, *w: token_mixing(x, *w).transpose(1, 2), "channels in rows"),
    (lambda x, *w: token_mixing(x, *w, act=lambda h: h), "GELU between"),
    (lambda x, *w: token_mixing(x, *w, act=torch.relu), "ReLU"),
    (lambda x, w1, b1, w2, b2: token_mixing(x, w1, 0 * b1, w2, b2), "b1"),
    (lambda x, w1, b1, w2, b2: token_mixing(x, w1, b1, w2, 0 * b2), "b2"),
    (lambda x, *w: x + token_mixing(x, *w), "skip"),
    (lambda x, *w: token_mixing(x, *w)[:, :2], "shape"),
    (lambda x, *w: 2 * x, "turn x"),
    (lambda x, *w: 1.0, "tensor was expected"),
    (lambda x, w1, *w: x @ w1.T, "RuntimeError"),
    (lambda x, *w: None, "returns nothing"),
])  # fmt: skip
def test_the_check_of_token_mixing_says_what_is_probably_wrong(wrong, hint):
    assert refused("28.token_mixing", wrong, hint)


def test_the_count_for_larger_images_is_that_of_a_real_mixer():
    from timm.models.mlp_mixer import MlpMixer

    mixer = MlpMixer(img_size=64, patch_size=4, num_blocks=1, embed_dim=96, mlp_ratio=(2.0, 4.0))
    mlp = mixer.blocks[0].mlp_tokens
    assert check("28.larger_images", mlp.fc1.weight.numel() + mlp.fc2.weight.numel()).ok


@pytest.mark.parametrize("wrong,hint", [
    (2 * 64 * 192, "32×32"),
    (2 * 128 * 192, "four times"),
    (256 * 192, "two layers"),  # the same number by another slip
    (2 * 256 * 192 + 256 + 192, "biases"),
    (4 * 96**2, "attention"),
    (2 * 256 * 192 * 96, "share"),
    (2 * 4096 * 192, "not pixels"),
    (1, "count the patches"),
])  # fmt: skip
def test_the_check_of_larger_images_says_what_is_probably_wrong(wrong, hint):
    assert refused("28.larger_images", wrong, hint)
