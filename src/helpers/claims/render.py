"""How a claim reads, in English and Korean: values, rules, verdicts and what they mean, and the card as plain text."""

from __future__ import annotations

from typing import Any

from . import rules
from .entries import LANGUAGES, rule_of
from .numerals import number_text

MARKS = {"holds": "✓", "partly": "◐", "inconclusive": "≈", "fails": "✗", "untestable": "?"}
KINDS = ("learned", "architecture", "arithmetic")  # what a claim holds by
PAPERS = ("background", "vit", "raghu")
SECTION_WORDS = {"App.": "부록", "Fig.": "그림", "Table": "표", "eq.": "식", " left": " 왼쪽", " centre": " 가운데"}
WORDS = {
    "en": {
        "holds": "holds", "partly": "partly", "inconclusive": "inconclusive", "fails": "fails",
        "untestable": "not testable here",
        "background": "Background", "vit": "Dosovitskiy et al. 2021 (ViT)", "raghu": "Raghu et al. 2021",
        "invented": "Invented",
        "says": "Paper says", "measured": "We measured", "control": "Untrained network",
        "verdict": "Verdict", "others": "Other training runs",
        "test": "Decided by", "threshold": "Why this threshold", "full": "Full size", "note": "Note",
        "none": "not run: {}", "open": "not measured yet", "yes": "yes", "no": "no", "to": " to ",
        "if holds": "Holds if {}", "if partly": "partly if {}", "if inconclusive": "inconclusive if {}",
        "if testable": "testable if {}",
        "evidence E": "run on weights", "evidence T": "trained in the book", "evidence D": "arithmetic",
        "evidence E/T": "run on weights or trained in the book",
        "learned": "learned", "architecture": "architecture", "arithmetic": "arithmetic",
        "one run": "one training run", "few runs": "{} training runs", "more": "Numbers, the paper’s words, caveats",
        "by learned": "The trained network meets it{}; none of the {} random ones does.",
        "by learned, 1": "The trained network meets it{}; the random one does not.", "in part": " in part",
        "by architecture": "Random weights meet it too: the architecture, no evidence of learning.",
        "by construction": "It holds by construction; nothing is learned for it.",
        "by arithmetic": "It is arithmetic; no network was asked.",
        "not, random too": "The trained network does not meet it; random weights do.",
        "not": "The trained network does not meet it, and random weights do not either.",
        "not, alone": "What was measured does not meet it.",
        "by inconclusive": "The interval leaves both answers open.",
        "by untestable": "Nothing measured here can decide it.",
    },
    "ko": {
        "holds": "성립", "partly": "부분 성립", "inconclusive": "결론 유보", "fails": "불성립",
        "untestable": "판정 불가",
        "background": "배경", "vit": "Dosovitskiy 외 2021 (ViT)", "raghu": "Raghu 외 2021",
        "invented": "지어낸 주장",
        "says": "논문의 주장", "measured": "측정한 값", "control": "학습하지 않은 신경망",
        "verdict": "판정", "others": "다시 학습한 신경망",
        "test": "판정 방법", "threshold": "기준값의 근거", "full": "실제 크기", "note": "덧붙임",
        "none": "재지 않음: {}", "open": "아직 재지 않음", "yes": "예", "no": "아니요", "to": "~",
        "if holds": "성립하는 조건: {}", "if partly": "부분 성립: {}", "if inconclusive": "결론 유보: {}",
        "if testable": "판정할 수 있는 조건: {}",
        "evidence E": "가중치로 실행", "evidence T": "책에서 학습", "evidence D": "계산",
        "evidence E/T": "가중치로 실행하거나 책에서 학습",
        "learned": "학습", "architecture": "구조", "arithmetic": "계산",
        "one run": "학습 한 번", "few runs": "학습 {}번", "more": "숫자, 논문의 표현, 주의할 점",
        "by learned": "학습한 신경망은 기준을{} 충족하고, 무작위 신경망 {}개는 하나도 그러지 못한다.",
        "by learned, 1": "학습한 신경망은 기준을{} 충족하고, 무작위 신경망은 그러지 못한다.", "in part": " 일부",
        "by architecture": "무작위 가중치도 기준을 충족한다. 구조에서 온 것이지 학습의 증거가 아니다.",
        "by construction": "만드는 방식에서 바로 나오는 것으로, 배워야 할 것이 없다.",
        "by arithmetic": "계산으로 확인한 것이며 신경망은 쓰지 않았다.",
        "not, random too": "학습한 신경망은 기준을 충족하지 못하지만 무작위 가중치는 충족한다.",
        "not": "학습한 신경망도 무작위 가중치도 기준을 충족하지 못한다.",
        "not, alone": "측정한 값이 기준을 충족하지 못한다.",
        "by inconclusive": "구간이 두 답을 모두 열어 둔다.",
        "by untestable": "여기서 잰 것만으로는 판정할 수 없다.",
    },
}  # fmt: skip


def value_text(value: Any, lang: str) -> str:
    """A stored value in words: a number, an interval, a text, [[name, value], …] or {"en": value, "ko": value}."""
    if isinstance(value, list):
        return " · ".join(f"{name}: {value_text(item, lang)}" for name, item in value)
    if isinstance(value, dict) and set(value) == set(LANGUAGES):
        return value_text(value[lang], lang)
    if isinstance(value, dict):
        number, low, high = (number_text(value[key]) for key in ("value", "low", "high"))
        return f"{number} ({low}{WORDS[lang]['to']}{high})"
    if value is None:
        return "–"
    if isinstance(value, bool):
        return WORDS[lang]["yes" if value else "no"]
    return value if isinstance(value, str) else number_text(value)


def facts(entry: dict, record: dict, lang: str) -> dict[str, str]:
    """Label → text: paper says, we measured, untrained network."""
    words = WORDS[lang]
    rows = {words["says"]: entry["paper_value"][lang], words["measured"]: value_text(record["measured"], lang)}
    if record["control"] is not None:
        rows[words["control"]] = value_text(record["control"], lang)
    elif record["control_reason"]:
        rows[words["control"]] = words["none"].format(record["control_reason"][lang])
    if record["others"]:
        rows[words["others"]] = " · ".join(f"{MARKS[other['verdict']]} {value_text(other['measured'], lang)}"
                                           for other in record["others"])
    return rows


def condition(entry: dict, record: dict, lang: str) -> str:
    """The rule as one sentence: “Holds if …; partly if ….” Nothing for a claim that no number decides."""
    words, names = WORDS[lang], record["names"][lang]
    parts = rule_of(entry)
    order = [part for part in ("holds", "partly", "inconclusive", "testable") if part in parts]
    text = "; ".join(words[f"if {part}"].format(rules.in_words(parts[part], names, lang)) for part in order)
    return text and f"{text[0].upper()}{text[1:]}."


def meaning(record: dict, lang: str) -> str:
    """What a verdict says, in one sentence made from verdict, control and kind."""
    words, verdict, by, draws = WORDS[lang], record["verdict"], record["learned"], record["draws"]
    if verdict in ("inconclusive", "untestable"):
        return words[f"by {verdict}"]
    if by == "learned" and draws:
        wholly = words["in part"] if verdict == "partly" else ""
        return words["by learned" if draws > 1 else "by learned, 1"].format(wholly, draws)
    if verdict == "fails":
        key = {True: "not, random too", False: "not", None: "not, alone"}[record["control_holds"]]
        return words[key]
    if by == "architecture":
        return words["by architecture" if draws else "by construction"]
    return words["by arithmetic"] if by == "arithmetic" else ""


def source_text(entry: dict, lang: str) -> str:
    """Paper, section and kind of a claim."""
    paper = WORDS[lang][entry["paper"]]
    section = f", {entry['section']}" if entry["section"] != entry["paper"] else ""
    if lang == "ko":
        for english, korean in SECTION_WORDS.items():
            section = section.replace(english, korean)
    return f"{paper}{section} · {entry['evidence']}: {WORDS[lang]['evidence ' + entry['evidence']]}"


def card_text(entry: dict, record: dict, lang: str) -> str:
    """The card as plain text."""
    lines = [f"{entry['id']} {entry['statement'][lang]}"]
    lines += [f"  {label}: {text}" for label, text in facts(entry, record, lang).items()]
    outcome = f"{MARKS[record['verdict']]} {WORDS[lang][record['verdict']]}. {meaning(record, lang)}"
    if rule := condition(entry, record, lang):
        lines.insert(1, f"  {rule}")
    lines.append(f"  {WORDS[lang]['verdict']}: {outcome}")
    return "\n".join([*lines, f"  {record['note'][lang]}"] if record["note"] else lines)
