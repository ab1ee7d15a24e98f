"""Explorers: pictures in which the reader moves layers, heads and sizes, with or without a kernel."""

from .attention import attention_explorer
from .cka import cka_explorer
from .cka_bias import cka_bias_explorer
from .field import field_explorer
from .posembed import posembed_explorer
from .qkv import qkv_explorer
from .scale import scale_explorer
from .shift import shift_explorer
from .skip import skip_explorer
from .tokens import token_explorer

__all__ = [
    "attention_explorer",
    "cka_bias_explorer",
    "cka_explorer",
    "field_explorer",
    "posembed_explorer",
    "qkv_explorer",
    "scale_explorer",
    "shift_explorer",
    "skip_explorer",
    "token_explorer",
]
