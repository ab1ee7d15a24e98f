"""Claims: what a paper says, the rule that decides, what was measured, and the card that shows it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
