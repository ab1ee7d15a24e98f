"""A folder that `make paper` can read, and the results of one complete run of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
import yaml
from PIL import Image
from safetensors.torch import save_file

from helpers.paper import run as paper
from helpers.paper.networks import Network
from paper_toys import CNN, SETTINGS, VIT, arguments


@pytest.fixture(scope="session")
def place(tmp_path_factory) -> Path:
    """A folder with a description of two networks, weights for both and 40 photos of two classes."""
    folder = tmp_path_factory.mktemp("paper")
    rng = np.random.default_rng(0)
    for i in range(40):
        path = folder / "photos" / ("cat", "dog")[i % 2] / f"{i:03d}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        coarse = rng.integers(0, 256, (4, 4, 3), dtype=np.uint8)
        Image.fromarray(coarse).resize((32, 32), Image.BILINEAR).save(path)
    spec = {"networks": {"toy_vit": VIT, "toy_cnn": CNN | {"weights": "cnn.safetensors"}}, "settings": SETTINGS}
    (folder / "spec.yml").write_text(yaml.safe_dump(spec, allow_unicode=True), encoding="utf-8")
    for name, facts in (("vit", VIT), ("cnn", CNN)):
        model = Network(name, facts["architecture"], facts["options"]).load(trained=False)
        with torch.no_grad():
            for p in model.parameters():
                p += 0.02 * torch.randn(p.shape, generator=torch.Generator().manual_seed(1))
        save_file(model.state_dict(), folder / f"{name}.safetensors")
    return folder


@pytest.fixture(scope="session")
def results(place, tmp_path_factory) -> Path:
    """The folder of a complete run."""
    folder = tmp_path_factory.mktemp("results")
    paper.main(arguments(place, folder))
    return folder / "toy"
