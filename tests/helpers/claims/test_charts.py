"""Charts: what is drawn where, what is heard instead, and that it is sound HTML."""

import math
import re

import pytest
from claim_samples import Tags, reported

from helpers.claims.charts import Axis, axis_of, in_words, panel_html, picture, together, zone_text
from helpers.claims.intervals import Interval
from helpers.claims.reports import completed
from helpers.claims.strips import Strip, dot, strips_of


def strip(trained=0.2, **more):
    return Strip("X01", "near", {"en": "near", "ko": "가까움"}, "holds", dot(trained), **more)


def test_positions_are_per_cent_and_stay_on_the_line():
    axis = Axis(0, 2)
    assert (axis.at(0.5), axis.at(-1), axis.at(9)) == ("25.00%", "0.00%", "100.00%")
    assert (axis.width(0.5, 1), axis.width(-math.inf, 1), axis.width(3, 4)) == ("25.00%", "50.00%", "0.00%")


@pytest.mark.parametrize("span", [(0, 1e-5), (-0.35, 0.07), (14, 15), (0, 70_000), (0.13, 0.28)])
def test_an_axis_has_two_to_six_round_ticks(span):
    ticks = Axis(*span).ticks()
    assert 2 <= len(ticks) <= 6 and all(span[0] <= tick <= span[1] for tick in ticks)


def test_an_axis_shows_trained_values_and_the_edges_of_zones():
    axis = axis_of([strip(0.2, zone=((-math.inf, 0.3),), paper=0.5)])
    assert axis.low <= 0 and 0.5 < axis.high < 0.6


def test_an_untrained_value_far_away_is_an_arrow_and_squeezes_nothing():
    far = strip(Interval(0.2, 0.1, 0.3), untrained=(dot(50.0),))
    axis = axis_of([far])
    assert axis.high < 1
    assert "M-8 -5L0 0L-8 5Z" in picture(far, axis, "en") and "untrained 50" in picture(far, axis, "en")


def test_neighbours_share_an_axis_if_they_are_of_one_kind_and_size():
    small, large, share = strip(0.2), strip(900.0), strip(0.4, bounds=(0, 1))
    assert together([small, small, large, share]) == [[small, small], [large], [share]]


@pytest.mark.parametrize(("lang", "said"), [
    ("en", "near: trained 0.2 (0.1 to 0.3); untrained 0.9; full size (big) 0.4; where the claim holds: up to 0.3"),
    ("ko", "가까움: 학습한 신경망 0.2 (0.1~0.3); 학습하지 않은 신경망 0.9; 실제 크기 (big) 0.4; 주장이 성립하는 범위: 0.3 이하"),
])
def test_the_picture_is_said_in_words(lang, said):
    drawn = strip(untrained=(dot(0.9),), full=(("big", dot(0.4)),), zone=((-math.inf, 0.3),))
    drawn = Strip(**{**vars(drawn), "trained": Interval(0.2, 0.1, 0.3)})
    assert in_words(drawn, lang) == said
    assert f'role="img" width="100%" height="26" style="display:block;overflow:visible"><title>{said}</title>' in picture(
        drawn, axis_of([drawn]), lang)


def test_zones_in_words():
    assert zone_text(((0.25, 0.6),), "en") == "0.25 to 0.6" and zone_text(((4, 4),), "ko") == "4"
    assert zone_text(((-math.inf, -2), (2, math.inf)), "en") == "up to −2, from 2"


def test_a_panel_is_sound_and_its_legend_names_what_occurs(invented):
    invented["X01"]["quantities"]["near"]["en"] = "<b>near</b>"
    html = panel_html(strips_of(completed(reported().record)), "en")
    assert "b" not in {tag for tag, _ in Tags(html).seen}
    assert "○" in html and "where the claim holds" in html and "◆" not in html and "training runs" not in html
    assert panel_html([], "en") == ""


def test_colours_follow_the_page_and_have_a_fallback(invented):
    html = panel_html(strips_of(completed(reported().record)), "en")
    assert set(re.findall(r"var\(--([a-z-]+),[^)]+\)", html)) >= {"book-good", "book-none"}
    assert not re.search(r"var\(--[a-z-]+\)", html)
