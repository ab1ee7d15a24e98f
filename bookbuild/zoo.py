"""The table of networks that were measured (results/zoo.json, written by `make zoo`), as Markdown in one language."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HEADS = {
    "en": ["network", "blocks", "share of parameters", "difference of CKA", "norm ratio", "receptive field",
           "attention distance"],
    "ko": ["신경망", "블록", "파라미터 비율", "CKA 차이", "노름 비율", "수용 영역", "어텐션 거리"],
}
LAYERS = {"en": "none: {n} layers", "ko": "없음: 층 {n}개"}
BY_HAND = {"en": "written by hand", "ko": "직접 씀"}
ANSWERS = ("norm_ratio", "receptive_field", "attention_distance")


def table(root: Path, lang: str) -> str:
    """One row per network, by where it comes from; a dash where a measurement refuses and says why."""
    path = root / "src" / "helpers" / "results" / "zoo.json"
    rows = json.loads(path.read_text(encoding="utf-8"))["rows"] if path.exists() else []
    lines = [HEADS[lang], ["---", *["---:"] * 3, *[":---:"] * 3], *(_cells(row, lang) for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _cells(row: dict[str, Any], lang: str) -> list[str]:
    measured = ["✓" if row[key] == "measured" else "–" for key in ANSWERS]
    blocks = str(row["blocks"]) if row.get("blocks") else LAYERS[lang].format(n=row["layers"])
    sources = {"timm": "", "torchvision": " (torchvision)", "hand-written": f" ({BY_HAND[lang]})"}
    share = f"{row['share']:.0%}" if row.get("blocks") else "–"
    return [f"`{row['network']}`" + sources[row["source"]], blocks, share, f"{row['difference']:.0e}", *measured]
