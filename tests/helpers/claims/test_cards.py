"""Cards: what they say, in both languages, as sound HTML."""

import pytest
from claim_samples import Tags, reported

from helpers.claims.cards import rendered
from helpers.claims.render import WORDS


def test_card_tells_both_languages_everything(invented):
    bundle = reported()._repr_mimebundle_()
    for text in (bundle["text/html"], bundle["text/plain"]):
        for part in ("Heads look near.", "헤드는 가까이 본다.", "No number.", "숫자는 없다.", "nearest head: 0.2",
                     "4픽셀의 차이: 0.5 (0.1~0.9)", "gap of 4 px: 0.5 (0.1 to 0.9)", "Off by −0.2.", "−0.2만큼 다르다.",
                     WORDS["en"]["holds"], WORDS["ko"]["holds"]):
            assert part in text, part
    rule = "Holds if “nearest head” < 0.3 and “gap of 4 px”, lower end > 0; partly if “nearest head” < 0.6."
    assert rule in repr(reported())


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_card_says_what_the_untrained_network_earns(invented, lang):
    words = WORDS[lang]
    says = lambda **states: rendered(reported(**states).record)["text/html"]
    assert words["by learned, 1"].format("") in says()
    assert words["by learned, 1"].format(words["in part"]) in says(trained={"near": 0.5})
    assert words["not"] in says(trained={"near": 0.9})
    assert words["by architecture"] in says(untrained={"near": 0.1, "gap": 1})
    assert words["not, random too"] in says(trained={"near": 0.9}, untrained={"near": 0.1, "gap": 1})


@pytest.mark.parametrize(("lang", "said"), [("en", "one training run"), ("ko", "학습 한 번")])
def test_card_says_that_a_learned_effect_rests_on_one_run(invented, lang, said):
    assert said in rendered(reported().record)["text/html"]
    invented["X01"]["kind"] = "architecture"
    assert said not in rendered(reported().record)["text/html"]


def test_numbers_and_caveats_are_behind_something_to_open(invented):
    html = rendered(reported().record)["text/html"]
    before, _, opened = html.partition("<details")
    assert "Holds if" in before and "<svg role" in before and "verdict-holds" in before
    assert "No number." in opened and "Off by" in opened and "No number." not in before


def test_full_size_has_its_own_verdict(invented):
    one = {"run": "r", "networks": ["big"], "untrained": [],
           "trained": {"values": {"near": 0.5, "gap": None}, "verdict": "partly"}}
    html = rendered(reported().record, {"X01": [one]})["text/html"]
    assert "big: nearest head: 0.5 · gap of 4 px: – " in html and "◆" in html


def test_a_card_is_guessed_by_what_it_shows_unless_it_is_invented(invented):
    attributes = lambda: Tags(rendered(reported().record)["text/html"]).seen[0][1]
    assert attributes()["data-verdict"] == "holds" and attributes()["data-control"] == "no"
    assert attributes()["data-chapter"] == "17" and attributes()["data-claim"] == "X01"
    invented["X01"]["paper"] = "invented"
    assert "data-claim" not in attributes()


def test_card_is_sound_html_and_escapes_what_it_is_told(invented):
    evil = "<script>alert('&')</script>"
    invented["X01"]["quantities"]["near"] |= {"en": evil}
    invented["X01"]["note"] = {"en": evil + "{off}", "ko": evil}
    seen = Tags(reported(facts={"side": evil, "off": evil})._repr_mimebundle_()["text/html"]).seen
    assert "script" not in {tag for tag, _ in seen}
    assert [attributes["lang"] for _, attributes in seen if attributes.get("class") == "claim-text"] == ["en", "ko"]
    assert seen[0][1].items() >= {"class": "claim claim-holds", "id": "claim-X01"}.items()
