"""The language of rules: what it says yes to, how it reads, and what it refuses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.claims.intervals import Interval
from helpers.claims.rules import in_words, is_met, names, parse, reads_untrained

VALUES = {"near": 0.2, "far": Interval(0.9, 0.8, 1.0), "leads": True, "kind": "vit", "lost": None}


@pytest.mark.parametrize(("rule", "met"), [
    ("near < 0.3 and far > 0.85", True),
    ("near < 0.3 and far.low > 0.85", False),
    ("far.high <= 1", True),
    ("0.25 <= near <= 0.75", False),
    ("0.1 <= near <= 0.75", True),
    ("not near < 0.3", False),
    ("leads", True),
    ("leads and not leads or near == 0.2", True),
    ("abs(near - 1) == 0.8", True),
    ("max(near, far) > 0.85 and min(near, far.low) < 0.3", True),
    ("round(far, 0) == 1", True),
    ("near * 5 >= far / 0.9", True),
    ("-near < 0", True),
    ("kind == 'vit'", True),
    ("near != 0.2", False),
])
def test_a_rule_is_met_or_not(rule, met):
    assert is_met(rule, VALUES) is met


@pytest.mark.parametrize(("rule", "met"), [
    ("lost > 0", False), ("not lost > 0", False), ("lost > 0 or near < 1", True), ("lost > 0 and near < 1", False),
    ("abs(lost) < 1", False), ("lost + 1 > 0", False), ("-lost < 0 or not (lost < 0 and near > 1)", True)])
def test_what_has_no_value_decides_nothing(rule, met):
    assert is_met(rule, VALUES) is met


def test_the_untrained_network_may_be_the_yardstick():
    trained, untrained = {"gap": Interval(0.5, 0.4, 0.6)}, {"gap": Interval(0.3, 0.2, 0.45)}
    assert is_met("gap.low > untrained.gap", trained, untrained)
    assert not is_met("gap.low > untrained.gap.high", trained, untrained)
    assert reads_untrained("gap.low > untrained.gap") and not reads_untrained("gap > 0")
    assert names("gap.low > untrained.step.high and abs(near) < 1") == {"gap", "step", "near"}


@given(st.floats(-2, 2), st.floats(-2, 2), st.booleans())
def test_a_rule_agrees_with_python(a, b, flag):
    rule = "a < b and (flag or a - b * 2 <= 1) or not abs(a) > max(b, 0.5)"
    assert is_met(rule, {"a": a, "b": b, "flag": flag}) is bool(eval(rule, {}, {"a": a, "b": b, "flag": flag}))


@pytest.mark.parametrize("rule", [
    "__import__('os').system('true')", "near.real > 0", "(lambda: 1)()", "near if near else far", "[near] == 1",
    "near < far for near in far", "near = 1", "open('x')", "near ** 9", "f'{near}'", "near.low.low", "abs(x=1)"])
def test_anything_else_is_refused_with_its_text(rule):
    with pytest.raises(ValueError, match="the rule"):
        parse(rule)


def test_a_number_alone_is_neither_true_nor_false():
    with pytest.raises(ValueError, match=r"'near' is 0\.2, neither true nor false"):
        is_met("near", VALUES)


@pytest.mark.parametrize(("rule", "en", "ko"), [
    ("near < 0.3 and far.low > -0.5", "“nearest” < 0.3 and “farthest”, lower end > −0.5",
     "‘최소’ < 0.3 그리고 ‘최대’의 하한 > −0.5"),
    ("near.high <= untrained.far or abs(near - 1) != 0",
     "“nearest”, upper end ≤ untrained: “farthest” or |“nearest” − 1| ≠ 0",
     "‘최소’의 상한 ≤ 학습하지 않은 신경망의 ‘최대’ 또는 |‘최소’ − 1| ≠ 0"),
    ("not (near < 1 or far > 1)", "not (“nearest” < 1 or “farthest” > 1)", "(‘최소’ < 1 또는 ‘최대’ > 1)이 아님"),
])
def test_a_rule_reads_in_both_languages(rule, en, ko):
    assert in_words(rule, {"near": "nearest", "far": "farthest"}, "en") == en
    assert in_words(rule, {"near": "최소", "far": "최대"}, "ko") == ko
