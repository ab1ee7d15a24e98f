"""Everything the book computes. Notebooks say `from helpers import …`."""

from .cka import CKA, cka
from .data import load_images
from .features import features
from .models import list_models, load_model
from .taps import taps

__all__ = ["CKA", "cka", "features", "list_models", "load_images", "load_model", "taps"]
