"""Invented claims, so that no test depends on what the papers say."""

import copy

import pytest

from helpers.claims import entries, reports

BOTH = {"en": "words", "ko": "말"}
INVENTED = {
    "X01": {
        "chapter": "17_cka", "paper": "raghu", "section": "§1, Fig. 2", "evidence": "E",
        "kind": "learned", "primary": "near",
        "statement": {"en": "Heads look near.", "ko": "헤드는 가까이 본다."},
        "paper_value": {"en": "No number.", "ko": "숫자는 없다."}, "test": BOTH,
        "quantities": {"near": {"en": "nearest head", "ko": "최소", "range": [0, 2]},
                       "gap": {"en": "gap of {side} px", "ko": "{side}픽셀의 차이"}},
        "holds": "near < 0.3 and gap.low > 0", "partly": "near < 0.6",
        "note": {"en": "Off by {off:.1f}.", "ko": "{off:.1f}만큼 다르다."},
    },
    "X02": {
        "chapter": "17_cka", "paper": "vit", "section": "Table 5", "evidence": "D", "kind": "arithmetic",
        "statement": {"en": "Two tables agree.", "ko": "두 표가 같다."}, "paper_value": BOTH, "test": BOTH,
        "quantities": {"same": {"en": "cells that agree", "ko": "같은 칸"}}, "holds": "same == 4",
    },
}  # fmt: skip


@pytest.fixture
def invented(monkeypatch):
    """The invented claims, in the place of the book's; a test may change its copy."""
    claims = {id: {"id": id, **entry} for id, entry in copy.deepcopy(INVENTED).items()}
    monkeypatch.setattr(entries, "_all", lambda: claims)
    monkeypatch.setattr(reports, "_reported", {})  # a kernel that has reported nothing
    return claims
