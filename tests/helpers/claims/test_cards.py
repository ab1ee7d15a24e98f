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
    assert "Rule: holds: “nearest head” < 0.3 and “gap of 4 px”, lower end > 0; partly: “nearest head” < 0.6" in repr(
        reported())


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_card_says_what_the_untrained_network_earns(invented, lang):
    says = lambda **states: {key for key in ("no evidence", "before")
                             if WORDS[lang][key] in rendered(reported(**states).record)["text/html"]}
    assert says() == says(trained={"near": 0.9}) == set()
    assert says(untrained={"near": 0.1, "gap": 1}) == {"no evidence"}
    assert says(trained={"near": 0.9}, untrained={"near": 0.1, "gap": 1}) == {"before"}


def test_card_is_sound_html_and_escapes_what_it_is_told(invented):
    evil = "<script>alert('&')</script>"
    invented["X01"]["quantities"]["near"] |= {"en": evil}
    invented["X01"]["note"] = {"en": evil + "{off}", "ko": evil}
    seen = Tags(reported(facts={"side": evil, "off": evil})._repr_mimebundle_()["text/html"]).seen
    assert "script" not in {tag for tag, _ in seen}
    assert [attributes["lang"] for _, attributes in seen if attributes.get("class") == "claim-text"] == ["en", "ko"]
    assert seen[0][1] == {"class": "claim claim-holds", "id": "claim-X01"}
