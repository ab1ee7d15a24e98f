"""The page of networks that were measured."""

from __future__ import annotations

import json

from bookbuild import zoo


def test_a_row_for_each_network(tmp_path):
    row = {"source": "torchvision", "network": "vgg11", "blocks": 0, "layers": 22, "share": 0, "difference": 2e-7,
           "norm_ratio": "refused: no blocks", "receptive_field": "measured", "attention_distance": "refused: no"}
    results = tmp_path / "src" / "helpers" / "results"
    results.mkdir(parents=True)
    (results / "zoo.json").write_text(json.dumps({"rows": [row]}))
    assert zoo.table(tmp_path, "en").splitlines()[2] == (
        "| `vgg11` (torchvision) | none: 22 layers | – | 2e-07 | – | ✓ | – |")
    assert "없음: 층 22개" in zoo.table(tmp_path, "ko")
