"""The page on how we judge: its example and its list of amendments."""

import pytest
from claim_samples import GOOD, Tags

from helpers.claims import policy, report
from helpers.claims.amendments import amendments
from helpers.claims.render import WORDS
from helpers.claims.reports import completed
from helpers.claims.verdicts import VERDICTS


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_an_example_judges_every_run_and_every_draw(invented, lang):
    table = GOOD | {"seed 1": {"near": 0.5, "gap": 0.2}, "untrained 1": {"near": 0.2, "gap": 1}}
    done = completed(report("X01", table.__getitem__, trained=("trained", "seed 1"),
                            untrained=("untrained", "untrained 1"), side=4, off=0).record)
    html = policy.example_html("X01", done, lang)
    rows = html.split("<tr>")[2:]
    assert [next(v for v in VERDICTS if f"verdict-{v}" in row) for row in rows] == ["holds", "partly", "fails", "holds"]
    assert policy.WORDS[lang]["architecture"] in html and f"{policy.WORDS[lang]['one run']} (2)" in html
    assert "0.5 (0.1" in rows[0] and WORDS[lang]["partly"] in html.split("</table>")[1]
    Tags(html)


def test_an_example_that_was_not_measured_says_so(invented):
    assert "Chapter 17 has not been run" in policy.example_html("X01", None, "en")


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_all_amendments_are_listed_with_both_verdicts(lang):
    html = policy.amendments_html(lang)
    Tags(html)
    assert html.count("<tr>") == 1 + len(amendments()) and html.count(" → ") == len(amendments())
    assert all(f"#claim-{change['id']}" in html for change in amendments())
    assert sorted(dates := [row.split("<")[0] for row in html.split('scope="row">')[1:]], reverse=True) == dates


def test_five_verdicts_have_words_and_marks_in_both_languages():
    for lang in ("en", "ko"):
        said = [policy.verdict_html(verdict, lang) for verdict in VERDICTS]
        assert len({one.split("</span>")[-2] for one in said}) == 5
    assert [WORDS["ko"][verdict] for verdict in VERDICTS] == ["성립", "부분 성립", "결론 유보", "불성립", "판정 불가"]
