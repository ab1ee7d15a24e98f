"""What the page "How we judge" shows of the claims: one judged step by step, and the list of amendments."""

from __future__ import annotations

from html import escape
from typing import Any

from ..networks.states import called_state
from . import rules
from .amendments import amendments
from .entries import Entry, claim, rule_of
from .holm import holm
from .numerals import number_text
from .render import MARKS, value_text
from .render import WORDS as CLAIM_WORDS

WORDS = {
    "en": {"network": "Network", "control": "Control", "verdict": "Verdict", "date": "Date", "claim": "Claim",
           "changed": "What changed", "why": "Why", "kind": "Kind", "rule": "Rule", "together": "Together",
           "all last": "All {} such verdicts survive.", "some": "Of {} such verdicts these do not survive: {}.",
           "unmeasured": "Chapter {} has not been run in this build.", "one run": "one run",
           "learned": "learned", "architecture": "architecture", "arithmetic": "arithmetic"},
    "ko": {"network": "신경망", "control": "대조군", "verdict": "판정", "date": "날짜", "claim": "주장",
           "changed": "바꾼 것", "why": "까닭", "kind": "종류", "rule": "기준", "together": "합치면",
           "all last": "그런 판정 {}개가 모두 남는다.", "some": "그런 판정 {}개 가운데 남지 않는 것: {}.",
           "unmeasured": "이번 빌드에서는 {}장을 실행하지 않았다.", "one run": "한 번의 학습",
           "learned": "학습", "architecture": "구조", "arithmetic": "계산"},
}  # fmt: skip


def example_html(id: str, record: dict[str, Any] | None, lang: str) -> str:
    """A claim with what every training run and every control gives, and how that makes its verdict."""
    entry, words = claim(id), WORDS[lang]
    title = f'<p><strong>{id}</strong> {escape(entry["statement"][lang])}</p>'
    if record is None:
        return title + f"<p>{words['unmeasured'].format(int(entry['chapter'][:2]))}</p>"
    read = _read(entry)
    head = [words["network"], *(record["names"][lang][name] for name in read), words["verdict"]]
    runs = [{"state": "trained", "values": record["values"], "verdict": record["first_verdict"]}, *record["others"]]
    body = [_row(state, read, False, lang) for state in runs]
    body += [_row(state, read, True, lang) for state in record["control_states"]]
    return title + _rule_html(entry, record, lang) + _table(head, body) + f"<p>{_outcome(record, lang)}</p>"


def _read(entry: Entry) -> list[str]:
    """The quantities that the claim's rule reads, in their order."""
    reads = {name for part in rule_of(entry).values() for name in rules.names(part)}
    return [name for name in entry["quantities"] if name in reads]


def _rule_html(entry: Entry, record: dict[str, Any], lang: str) -> str:
    parts = [f"<li>{CLAIM_WORDS[lang][part]}: {escape(rules.in_words(rule, record['names'][lang], lang))}</li>"
             for part, rule in rule_of(entry).items()]
    words = WORDS[lang]
    return f"<p>{words['kind']}: {words[entry['kind']]}. {words['rule']}:</p><ul>{''.join(parts)}</ul>"


def _row(state: dict[str, Any], read: list[str], control: bool, lang: str) -> str:
    name = called_state(state["state"], lang)
    name = f"{WORDS[lang]['control']}: {name}" if control else name
    cells = [escape(value_text(state["values"].get(quantity), lang)) for quantity in read]
    cells.append(verdict_html(state["verdict"], lang))
    data = "".join(f"<td>{cell}</td>" for cell in cells)
    return f'<tr><th scope="row">{escape(name)}</th>{data}</tr>'


def _outcome(record: dict[str, Any], lang: str) -> str:
    """The verdict of all runs together, what it holds by, and whether it rests on few runs."""
    words = WORDS[lang]
    by = [words[record["learned"]]] if record["learned"] else []
    few = [f"{words['one run']} ({number_text(record['runs'])})"] if record["one_run"] else []
    outcome = " · ".join([verdict_html(record["verdict"], lang), *by, *few])
    return f"<strong>{words['together']}</strong>: {outcome}"


def holm_html(records: list[dict[str, Any]], lang: str) -> str:
    """Which verdicts on learned effects do not survive the correction for their number within a chapter."""
    found, words = holm(records), WORDS[lang]
    gone = [f'<a href="{claim(id)["chapter"]}.html#claim-{id}">{id}</a>' for id, lasts in found.items() if not lasts]
    said = words["some"].format(len(found), ", ".join(gone)) if gone else words["all last"].format(len(found))
    return f"<p>{said}</p>"


def amendments_html(lang: str) -> str:
    """Every change of a rule: date, claim, old and new verdict, what and why; the newest first."""
    words = WORDS[lang]
    head = [words[key] for key in ("date", "claim", "verdict", "changed", "why")]
    body = []
    for change in reversed(amendments()):
        chapter, id = claim(change["id"])["chapter"], change["id"]
        verdicts = f"{verdict_html(change['old'], lang)} → {verdict_html(change['new'], lang)}"
        cells = [f'<a href="{chapter}.html#claim-{id}">{id}</a>', verdicts,
                 *(escape(change[part][lang]) for part in ("what", "why"))]
        data = "".join(f"<td>{cell}</td>" for cell in cells)
        body.append(f'<tr><th scope="row">{change["date"].isoformat()}</th>{data}</tr>')
    return _table(head, body)


def verdict_html(verdict: str, lang: str) -> str:
    """Mark and word of a verdict."""
    mark = f'<span aria-hidden="true">{MARKS[verdict]}</span>'
    return f'<span class="verdict verdict-{verdict}">{mark} {CLAIM_WORDS[lang][verdict]}</span>'


def _table(head: list[str], rows: list[str]) -> str:
    heads = "".join(f'<th scope="col">{escape(text)}</th>' for text in head)
    return (f'<div class="table-scroll"><table class="policy"><thead><tr>{heads}</tr></thead>'
            f'<tbody>{"".join(rows)}</tbody></table></div>')
