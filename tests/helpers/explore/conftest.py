"""Explorers as a book build shows them, and as a live kernel does."""

from __future__ import annotations

import ipywidgets
import pytest

from helpers import CKA, cka, load_model


@pytest.fixture
def book_build(monkeypatch):
    monkeypatch.setenv("BOOK_STATIC", "1")


@pytest.fixture
def live_kernel(monkeypatch):
    monkeypatch.delenv("BOOK_STATIC", raising=False)
    yield
    ipywidgets.Widget.close_all()


@pytest.fixture(scope="module")
def lab_vit():
    """A lab network that nobody has trained."""
    return load_model("vit_cls", trained=False)


@pytest.fixture
def pair(vit, resnet, images) -> CKA:
    """CKA of two small networks."""
    return cka(vit, images, resnet, batch_size=12)
