"""Small measurements with the lab's models, and the explorers that show them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from helpers import (
    attention_distance,
    attention_maps,
    attention_rollout,
    features,
    load_images,
    load_model,
    localization,
    probe,
    receptive_field,
    taps,
)
from helpers.explore import attention_explorer, field_explorer, posembed_explorer, token_explorer
from helpers.explore.posembed import filter_components

VIT, RESNET = "ViT", "<b>ResNet</b>"  # names are text, never HTML


@dataclass(frozen=True)
class Measured:
    """What the metrics say, and the explorers that show it."""

    maps: np.ndarray
    rollout: np.ndarray
    distance: Any
    fields: dict
    tokens: dict
    probes: dict
    positions: dict
    components: np.ndarray
    explorers: dict


def measure() -> Measured:
    images, vit, resnet = load_images(n=2), load_model("vit_cls"), load_model("resnet")
    untrained = load_model("vit_cls", trained=False)
    few, quiet = load_images(n=24), {"progress": False}
    distance = attention_distance(vit, few, **quiet)
    fields = {
        name: {
            where: receptive_field(model, images.tensor[:1], layers, channels=2, before_skip=where == "before", **quiet)
            for where in ("after", "before")
        }
        for name, model, layers in (
            (VIT, vit, ["blocks.0", "blocks.2", "blocks.5"]),
            (RESNET, resnet, taps(resnet)[::4]),
        )
    }
    tokens = {
        VIT: [localization(vit, few, layer, batch_size=24, **quiet) for layer in ("blocks.1", "blocks.5")],
        RESNET: localization(resnet, few, "stages.2.blocks.2", grid=(4, 4), batch_size=24, **quiet),
    }
    probes = {
        VIT: token_probes(vit, ("blocks.1", "blocks.3", "blocks.5"), 1),
        RESNET: token_probes(resnet, ("stages.2.blocks.2",), 0),
    }
    models = {"trained": vit, "untrained": untrained}
    tables = {name: model.pos_embed[0, 1:].detach().double().numpy() for name, model in models.items()}
    unit = {name: table / np.linalg.norm(table, axis=1, keepdims=True) for name, table in tables.items()}
    explorers = {
        "attention": attention_explorer(vit, images, distance=distance, layer=2, head=3),
        "field": field_explorer(fields),
        "token": token_explorer(tokens, probes, depth=0),
        "posembed": posembed_explorer(models),
    }
    return Measured(
        attention_maps(vit, images, **quiet).values,
        attention_rollout(vit, images, **quiet).maps,
        distance,
        fields,
        tokens,
        probes,
        {name: table @ table.T for name, table in unit.items()},
        filter_components(vit)[1],
        explorers,
    )


def token_probes(model, layers, prefix: int) -> dict:
    """Probes on single tokens, and on their mean; on the class token too if there is one."""
    train, test = load_images(n=40, split="train"), load_images(n=40)

    def read(images):
        found = features(model, images, layers).values()
        if not prefix:
            found = [torch.nn.functional.adaptive_avg_pool2d(x, 4).flatten(2).transpose(1, 2) for x in found]
        return torch.stack(list(found), 1)

    a, b = read(train), read(test)
    fit = lambda choose: probe(choose(a), train.labels, choose(b), test.labels)
    found = {"token": fit(lambda x: x[:, :, prefix:]), "mean": fit(lambda x: x[:, :, prefix:].mean(2))}
    return found | ({"[CLS]": fit(lambda x: x[:, :, 0])} if prefix else {})
