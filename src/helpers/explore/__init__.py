"""Explorers: pictures in which the reader moves layers, heads and sizes, with or without a kernel."""

from .cka_bias import cka_bias_explorer

__all__ = ["cka_bias_explorer"]
