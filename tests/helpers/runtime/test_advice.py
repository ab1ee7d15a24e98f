"""Warnings point at the reader's line, through all rooms of the package."""

from __future__ import annotations

import warnings

import pytest
import torch

from helpers import cka
from helpers.runtime import advice
from helpers.runtime.advice import warn
from helpers.runtime.distributed import Shard


def test_a_warning_points_at_the_first_line_outside_the_package(vit, images):
    torch.nn.init.zeros_(vit.patch_embed.proj.weight)
    torch.nn.init.zeros_(vit.patch_embed.proj.bias)
    with pytest.warns(UserWarning, match="CKA is undefined") as caught:  # given in metrics, by way of runtime
        cka(vit, images)
    assert caught[0].filename == __file__


def test_only_the_first_process_warns(monkeypatch):
    with pytest.warns(UserWarning, match="once"):
        warn("once")
    monkeypatch.setattr(advice, "current", lambda: Shard(1, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn("again")
