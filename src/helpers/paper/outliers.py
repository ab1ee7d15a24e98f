"""Which channel of a network is the loudest, and where: CKA sees little else of a layer that has such a channel."""

from __future__ import annotations

from typing import Any

import torch.nn.functional as F
from torch import nn

from .. import channel_variance, features
from ..claims import scores
from ..inputs.photos import Photos
from ..networks.anatomy import feature_map
from .results import Found, first

WHERE = (14, 14)  # the grid on which it is shown where a channel is strong


def strongest_channels(models: list[nn.Module], images: list[Photos], settings: dict[str, Any]) -> Found:
    """How the variance of every tap is spread over its channels: the strongest one, its share, its largest value.

    Of the block whose strongest channel has the largest share, also where that channel's values are: mean of |x| by
    patch, and how many patches of an image have a tenth of the largest value or more.
    """
    model, options = models[0], {"batch_size": settings["batch_size"], "progress": settings["progress"]}
    result = channel_variance(model, images[0], "all", **options)
    table = result.to_frame()
    arrays = {name: table[name].to_numpy() for name in table}
    blocks = table[list(map(scores.is_block, result.layers))]
    name = str(blocks["share"].idxmax())
    found = features(model, images[0], name, **options)
    maps = feature_map(found, model, first(images[0]).expand(len(found), -1, -1, -1), name)
    values = maps[:, int(blocks.loc[name, "channel"])].abs()  # [n, rows, columns]
    outliers = (values > values.max() / 10).flatten(1).sum(1).double()
    where = F.adaptive_avg_pool2d(values.mean(0)[None], WHERE)[0]
    return Found({"strongest_share": float(blocks.loc[name, "share"])},
                 arrays | {"where": where.numpy(), "outliers": outliers.mean().numpy()},
                 {"layers": result.layers, "block": [name]})
