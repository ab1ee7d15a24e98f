"""Which code cells are folded."""

from __future__ import annotations

import pytest

from bookbuild import folding

FIGURE = "fig, ax = plt.subplots()\nax.plot(values)\nax.set(xlabel='layer')\nax.legend()"
TABLE = "rows = {}\nfor name in names:\n    rows[name] = measure(name)\npd.DataFrame(rows)"
LOOP = "total = 0\nfor head in heads:\n    total += head.mean()\ntotal / len(heads)"


@pytest.mark.parametrize(("code", "why"), [
    ("import torch\nmodel = load_model('vit_cls')", "setup"),
    ("def local(state):\n    return {'nearest': 1}\n\nreport('R10', local)", "report"),
    (FIGURE, "figure"),
    (TABLE, "table"),
    (LOOP, None),
    ("explore_attention(model, images)", None),
    ("explore_attention(\n    model,\n    images,\n)", "explorer"),
    ("def cka(K, L):\n    return (K * L).sum()\n\npd.DataFrame({'CKA': [cka(K, L)]})", None),
    ("%timeit f(x)", None),
])
def test_plumbing_is_folded_and_ideas_are_not(code, why):
    assert folding.kind(code, []) == why


def test_an_exercise_stays_open():
    assert folding.kind("def mine(): ...\n\n\n\ncheck('19.mine', mine)", ["exercise"]) is None


def test_an_author_decides_otherwise():
    assert folding.kind(LOOP, ["fold"]) == "code"
    assert folding.kind(FIGURE, ["show"]) is None
    assert folding.kind(FIGURE, ["hide-input"]) is None  # folded by hand, with the usual words


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_every_fold_says_what_it_holds(lang):
    assert all(words[lang] for words in folding.LABELS.values())
    assert folding.label(FIGURE, [], lang) == folding.LABELS["figure"][lang]
    assert folding.label(LOOP, [], lang) is None
