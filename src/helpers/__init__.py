"""Everything the book computes. Notebooks say `from helpers import …`."""

from .attention import AttentionDistance, attention_distance
from .cka import CKA, cka
from .data import load_images
from .features import features
from .heads import HeadSimilarity, head_similarity
from .localize import Localization, localization
from .maps import AttentionMaps, AttentionRollout, attention_maps, attention_rollout
from .models import list_models, load_model
from .probe import Probe, probe
from .receptive import ReceptiveField, receptive_field
from .shards import Shard, sharded
from .skip import NormRatio, norm_ratio, without_skip
from .taps import taps

__all__ = [
    "CKA",
    "AttentionDistance",
    "AttentionMaps",
    "AttentionRollout",
    "HeadSimilarity",
    "Localization",
    "NormRatio",
    "Probe",
    "ReceptiveField",
    "Shard",
    "attention_distance",
    "attention_maps",
    "attention_rollout",
    "cka",
    "features",
    "head_similarity",
    "list_models",
    "load_images",
    "load_model",
    "localization",
    "norm_ratio",
    "probe",
    "receptive_field",
    "sharded",
    "taps",
    "without_skip",
]
