"""The loudest channel of a network, and where on the image it is loud."""

from __future__ import annotations

import numpy as np
import torch

from helpers.inputs.photos import photos
from helpers.paper.networks import find_networks, read_spec
from helpers.paper.outliers import strongest_channels
from paper_toys import SETTINGS


def test_a_channel_that_shouts_in_one_corner_is_found_there(place):
    (model,) = (network.load() for network in find_networks(["toy_vit"], read_spec(place / "spec.yml")[0]).values())
    shout = torch.zeros(1, 50, 24)
    shout[0, 1, 7] = 1.0  # the first patch, channel 7

    def louder(_, __, output):
        return output + 30_000 * shout * output[:, :1, :1]  # and not by the same amount in every photo

    handle = model.blocks[2].register_forward_hook(louder)
    found = strongest_channels([model], [photos(place / "photos", model)], SETTINGS | {"progress": False})
    handle.remove()
    layers = found.names["layers"]
    at = layers.index("blocks.2")
    assert found.arrays["channel"][at] == 7 and found.arrays["share"][at] > 0.9
    where = found.arrays["where"]
    assert where.shape == (14, 14) and np.unravel_index(where.argmax(), where.shape) in [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert found.numbers["strongest_share"] > 0.9 and found.names["block"][0].startswith("blocks.")
