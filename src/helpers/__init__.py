"""Everything the book computes. Notebooks say `from helpers import …`.

    images ─▶ network ─▶ taps ─▶ metric ─▶ result ─▶ judge ─▶ card · plot · explorer
    inputs/   networks/  lab/    metrics/            claims/   plots.py   explore/      (runtime/: devices, processes)

Names are loaded when they are first used, so that a notebook depends only on what it uses; __init__.pyi lists them.
"""

import lazy_loader

__version__ = "0.2.0"
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
