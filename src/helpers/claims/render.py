"""How a claim reads: cards and the ledger page, in English and Korean.

CSS classes (book/_static/claims.css): .claim (a card, with .claim- and its verdict), .claim-text (its text in one
language), .claim-title, .claim-source, .claim-facts, .claim-note; .ledger (a table), .ledger-counts,
.ledger-statement, .ledger-source; .claims-overview (a small table); .verdict with .verdict- and the verdict, or
.verdict-open, for the mark and the word, wherever they stand.
"""

from __future__ import annotations

from collections import Counter
from html import escape
from typing import Any

from . import rules
from .entries import LANGUAGES, rule_of
from .numerals import number_text

MARKS = {"holds": "✓", "partly": "◐", "inconclusive": "≈", "fails": "✗", "untestable": "?"}
PAPERS = ("background", "vit", "raghu")
SECTION_WORDS = {"App.": "부록", "Fig.": "그림", "Table": "표", "eq.": "식", " left": " 왼쪽", " centre": " 가운데"}
WORDS = {
    "en": {
        "holds": "holds", "partly": "partly", "inconclusive": "inconclusive", "fails": "fails",
        "untestable": "not testable here",
        "background": "Background", "vit": "Dosovitskiy et al. 2021 (ViT)", "raghu": "Raghu et al. 2021",
        "invented": "Invented",
        "claim": "Claim", "says": "Paper says", "measured": "We measured", "control": "Untrained network",
        "verdict": "Verdict", "rule": "Rule", "testable": "testable", "others": "Other training runs",
        "none": "not run: {}",
        "no evidence": "The untrained network satisfies this too, so it is no evidence of learning.",
        "before": "The untrained network satisfies it, at least in part.",
        "planned": "chapter {} is not written yet", "missing": "not measured in chapter {} yet",
        "open": "not measured yet", "yes": "yes", "no": "no", "to": " to ", "evidence E": "run on weights",
        "chapter": "Chapter", "claims": "Claims", "control too": "the untrained network satisfies it too",
        "evidence T": "trained in the book", "evidence D": "arithmetic",
        "evidence E/T": "run on weights or trained in the book",
    },
    "ko": {
        "holds": "성립", "partly": "부분 성립", "inconclusive": "결론 유보", "fails": "불성립",
        "untestable": "판정 불가",
        "background": "배경", "vit": "Dosovitskiy 외 2021 (ViT)", "raghu": "Raghu 외 2021",
        "invented": "지어낸 주장",
        "claim": "주장", "says": "논문의 주장", "measured": "측정한 값", "control": "학습하지 않은 신경망",
        "verdict": "판정", "rule": "기준", "testable": "확인 가능", "others": "다시 학습한 신경망",
        "none": "재지 않음: {}",
        "no evidence": "학습하지 않은 신경망에서도 성립하므로 학습의 증거가 되지 않는다.",
        "before": "학습하지 않은 신경망에서는 적어도 부분적으로 성립한다.",
        "planned": "{}장 준비 중", "missing": "{}장에서 아직 재지 않음", "open": "아직 재지 않음",
        "yes": "예", "no": "아니요", "to": "~",
        "evidence E": "가중치로 실행", "evidence T": "책에서 학습", "evidence D": "계산",
        "chapter": "장", "claims": "주장", "control too": "학습하지 않은 신경망에서도 성립",
        "evidence E/T": "가중치로 실행하거나 책에서 학습",
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


def rule_lines(entry: dict, record: dict, lang: str) -> list[str]:
    """The parts of the claim's rule in words; none for a claim that cannot be tested here."""
    words, names = WORDS[lang], record["names"][lang]
    parts = {part: rules.in_words(rule, names, lang) for part, rule in rule_of(entry).items()}
    return [f"{words[part]}: {text}" for part, text in parts.items()]


def doubt(record: dict, lang: str) -> str:
    """The sentence that belongs to a verdict which the untrained network earns as well, or surpasses."""
    if not record["control_holds"] or record["verdict"] == "untestable":
        return ""
    return f". {WORDS[lang]['before' if record['verdict'] == 'fails' else 'no evidence']}"


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
    outcome = f"{MARKS[record['verdict']]} {WORDS[lang][record['verdict']]}{doubt(record, lang)}"
    if rule := rule_lines(entry, record, lang):
        lines.append(f"  {WORDS[lang]['rule']}: {'; '.join(rule)}")
    lines.append(f"  {WORDS[lang]['verdict']}: {outcome}")
    return "\n".join([*lines, f"  {record['note'][lang]}"] if record["note"] else lines)


def card_html(entry: dict, record: dict) -> str:
    """The card in both languages; it needs no style sheet to be readable."""
    texts = "".join(_card_language(entry, record, lang) for lang in LANGUAGES)
    return f'<div class="claim claim-{record["verdict"]}" id="claim-{entry["id"]}">{texts}</div>'


def _card_language(entry: dict, record: dict, lang: str) -> str:
    rows = {label: escape(text) for label, text in facts(entry, record, lang).items()}
    if rule := rule_lines(entry, record, lang):
        rows[WORDS[lang]["rule"]] = "<br>".join(map(escape, rule))
    rows[WORDS[lang]["verdict"]] = _verdict_html(record["verdict"], lang) + doubt(record, lang)
    items = "".join(f"<div><dt>{label}</dt><dd>{text}</dd></div>" for label, text in rows.items())
    note = f'<p class="claim-note">{escape(record["note"][lang])}</p>' if record["note"] else ""
    return (
        f'<div class="claim-text" lang="{lang}">'
        f'<p class="claim-title"><strong>{entry["id"]}</strong> {escape(entry["statement"][lang])}</p>'
        f'<p class="claim-source">{escape(source_text(entry, lang))}</p>'
        f'<dl class="claim-facts">{items}</dl>{note}</div>'
    )


def outline_html(entries: list[dict]) -> str:
    """A list of claims in both languages, each shown on the pages of its own."""
    item = lambda entry, lang: (f"<li><strong>{entry['id']}</strong> {escape(entry['statement'][lang])} "
                                f'<span class="claim-source">{escape(source_text(entry, lang))}</span></li>')
    return "".join(f'<ul class="claim-outline bi" lang="{lang}">{"".join(item(entry, lang) for entry in entries)}</ul>'
                   for lang in LANGUAGES)


def overview_html(rows: list[tuple[dict, dict | None]], lang: str) -> str:
    """Claims by chapter with their verdicts at a glance, then the counts."""
    words, chapters = WORDS[lang], sorted({entry["chapter"] for entry, _ in rows})
    head = "".join(f'<th scope="col">{words[key]}</th>' for key in ("chapter", "claims"))
    line = lambda name: chips_html([row for row in rows if row[0]["chapter"] == name], lang)
    body = "".join(f'<tr><th scope="row">{int(name[:2])}</th><td>{line(name)}</td></tr>' for name in chapters)
    numbers = " ".join(name[:2] for name in chapters)
    return (f'<table class="claims-overview" data-chapters="{numbers}"><caption>{_counts(rows, lang)} · '
            f'° {words["control too"]}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>')


def chips_html(rows: list[tuple[dict, dict | None]], lang: str) -> str:
    """Claims with the marks of their verdicts in one line."""
    return " ".join(_chip(*row, lang) for row in rows)


def _chip(entry: dict, record: dict | None, lang: str) -> str:
    """A claim's id with the mark of its verdict; a link to its card once there is one."""
    id, name = entry["id"], record["verdict"] if record else "open"
    degree = "°" if record and record["learned"] == "architecture" else ""
    label = f'{escape(entry["statement"][lang])} ({WORDS[lang][name]})'
    chip = f'<span class="verdict verdict-{name}" title="{label}">{MARKS.get(name, "")}&nbsp;{id}{degree}</span>'
    return f'<a href="{entry["chapter"]}.html#claim-{id}">{chip}</a>' if record else chip


def _counts(rows: list[tuple[dict, dict | None]], lang: str) -> str:
    counts = Counter(record["verdict"] if record else "open" for _, record in rows)
    return " · ".join(f"{_verdict_html(name, lang)} {counts[name]}" for name in [*MARKS, "open"] if counts[name])


def ledger_page(rows: list[tuple[dict, dict | None]], lang: str) -> str:
    """Counts by verdict, then one table for each paper."""
    counts = Counter(record["verdict"] if record else "open" for _, record in rows)
    names = [*MARKS, "open"]
    items = "".join(f"<li>{_verdict_html(name, lang)} {counts[name]}</li>" for name in names)
    written = {entry["chapter"] for entry, record in rows if record}
    tables = [_table(paper, [row for row in rows if row[0]["paper"] == paper], written, lang) for paper in PAPERS]
    return f'<ul class="ledger-counts">{items}</ul>' + "".join(tables)


def _verdict_html(name: str, lang: str) -> str:
    mark = f'<span aria-hidden="true">{MARKS[name]}</span> ' if name in MARKS else ""
    return f'<span class="verdict verdict-{name}">{mark}{WORDS[lang][name]}</span>'


def _table(paper: str, rows: list[tuple[dict, dict | None]], written: set[str], lang: str) -> str:
    words = WORDS[lang]
    heads = [words[key] for key in ("claim", "says", "measured", "control", "verdict")]
    head = "".join(f'<th scope="col">{text}</th>' for text in heads)
    body = "".join(_row(entry, record, written, lang) for entry, record in rows)
    return (
        f'<h2 id="ledger-{paper}">{words[paper]}</h2><div class="table-scroll"><table class="ledger">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _row(entry: dict, record: dict | None, written: set[str], lang: str) -> str:
    words, id = WORDS[lang], entry["id"]
    if record is None:
        state = words["missing" if entry["chapter"] in written else "planned"].format(int(entry["chapter"][:2]))
        texts = {words["says"]: entry["paper_value"][lang]}
        outcome = f'<span class="verdict verdict-open">{state}</span>'
    else:
        id = f'<a href="{entry["chapter"]}.html#claim-{id}">{id}</a>'
        texts, outcome = facts(entry, record, lang), _verdict_html(record["verdict"], lang) + doubt(record, lang)
    labels = [words[key] for key in ("says", "measured", "control")]
    cells = {**{label: escape(texts.get(label, "")) for label in labels}, words["verdict"]: outcome}
    data = "".join(f'<td data-label="{label}">{text}</td>' for label, text in cells.items())
    return (
        f'<tr id="{entry["id"]}"><th scope="row">{id} '
        f'<span class="ledger-statement">{escape(entry["statement"][lang])}</span> '
        f'<span class="ledger-source">{escape(source_text(entry, lang))}</span></th>{data}</tr>'
    )
