"""The lab: the book's own small networks, how they are built and how they were trained."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
