"""Layers as the explorers say them, written down once more."""

from __future__ import annotations

import re

WORDS = {
    "en": ("stage {}, block {}", "block {}"),
    "ko": ("스테이지 {} 블록 {}", "블록 {}"),
}
ENDS = {
    "attn_out": ("attention output", "어텐션 출력"),
    "mlp_out": ("MLP output", "MLP 출력"),
    "conv3": ("branch", "변환 가지"),
    "norm1": ("first norm", "첫째 정규화"),
    "after_attn": ("after attention", "어텐션을 더한 뒤"),
}


def in_words(layer: str, lang: str) -> str:
    """ "stages.1.blocks.2" → "stage 1, block 2"; a name that is no block stays as it is."""
    known = re.fullmatch(r"(?:blocks|stages\.(\d)\.blocks|layer(\d))\.(\d+)(?:\.(\w+))?", layer)
    if not known:
        return {"embed": {"en": "embedding", "ko": "임베딩"}[lang]}.get(layer, layer)
    stage, counted_from_one, block, end = known.groups()
    stage = str(int(counted_from_one) - 1) if counted_from_one else stage
    said = WORDS[lang][0].format(stage, block) if stage else WORDS[lang][1].format(block)
    return f"{said}, {ENDS[end][lang == 'ko']}" if end in ENDS else said + (f", {end}" if end else "")
