"""Number lines of a run."""

from __future__ import annotations

import pytest

from helpers.paper.dots import dots_html
from helpers.paper.stored import ROWS, Results
from paper_toys import read


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_every_claim_that_the_run_speaks_to_has_a_line_with_its_twins(results, lang):
    html = dots_html(Results(results), {}, lang)
    judged = {row.claim for row in ROWS if row.numbers is None}
    assert {id for id in judged if f"<strong>{id}</strong>" in html} == judged - {"R27"}  # the toy has no classes
    assert ("full size, untrained" if lang == "en" else "실제 크기, 학습하지 않음") in html


def test_the_number_and_the_verdict_stand_beside_the_line(results):
    nearest = read(results / "attention.toy_vit.json")["numbers"]["lowest_nearest"]["value"]
    html = dots_html(Results(results), {}, "en")
    line = html[html.index("<strong>R10</strong>"):html.index("<strong>R11</strong>")]
    assert f"toy_vit {nearest:.3g}" in line and 'class="verdict verdict-' in line
