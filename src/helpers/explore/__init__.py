"""Explorers: pictures in which the reader moves layers, heads and sizes, with or without a kernel."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
