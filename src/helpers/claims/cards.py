"""What is seen of a report: cards, outlines, maps and forests, by the claims' present words and rules.

CSS classes (book/_static/claims.css): .claim (a card, with .claim- and its verdict), .claim-text (its text in one
language), .claim-title, .claim-rule, .claim-answer, .claim-outcome, .claim-kind, .claim-more, .claim-facts,
.claim-note, .claim-source, .claim-outline (a list); .verdict with .verdict- and the verdict, wherever mark and word stand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from .charts import dot_text, panel_html
from .entries import LANGUAGES, Entry, claim
from .forest_plot import forest_html
from .numerals import number_text
from .render import MARKS, WORDS, card_text, condition, facts, meaning, source_text
from .reports import completed
from .strips import shown_first, strips_of
from .verdict_map import map_html

FullSizes = Mapping[str, Sequence[Any]]  # claim → what runs on public weights say to it (paper/stored.py)
NONE: Mapping[str, Any] = {}
CHIP = "border:1px solid;border-radius:.6em;padding:0 .4em;font-size:.85em"  # a bare notebook has no style sheet
CONTROL = {True: "yes", False: "no", None: "none"}  # whether random weights earn it too


def rendered(record: dict[str, Any], full_size: FullSizes = NONE) -> dict[str, Any]:
    """Card of a record as HTML and as text, by the claims' present words and rules."""
    entry, done = claim(record["id"]), with_full_size(record, full_size)
    return {"text/html": card_html(entry, done),
            "text/plain": "\n".join(card_text(entry, done, lang) for lang in LANGUAGES)}


def with_full_size(record: dict[str, Any], full_size: FullSizes) -> dict[str, Any]:
    """A record completed, with what results/ says to its claim."""
    return completed(record) | {"full_size": list(full_size.get(record["id"], []))}


def rendered_list(record: Mapping[str, Any], reported: Mapping[str, dict[str, Any]] = NONE,
                  full_size: FullSizes = NONE) -> dict[str, Any]:
    """An outline, a map or a forest as HTML and as text, with what has been `reported` (by id) so far."""
    entries = [claim(id) for id in record["ids"]]
    done = {id: with_full_size(reported[id], full_size) for id in record["ids"] if id in reported}
    rows = [(entry, done.get(entry["id"])) for entry in entries]
    score = '<div class="guess-score" hidden></div>' if record["kind"] == "overview" else ""  # guess.js fills it
    draw = {"forest": forest_html, "overview": map_html}.get(record["kind"])
    html = outline_html(entries) if draw is None else "".join(
        f'<div class="bi" lang="{lang}">{draw(rows, lang)}{score}</div>' for lang in LANGUAGES)
    lines = [f"{entry['id']} {entry['statement'][lang]}" for lang in LANGUAGES for entry in entries]
    return {"text/html": html, "text/plain": "\n".join(lines)}


def card_html(entry: Entry, record: dict[str, Any]) -> str:
    """The card in both languages; it needs no style sheet to be readable."""
    texts = "".join(_card_language(entry, record, lang) for lang in LANGUAGES)
    guess = "" if entry["paper"] == "invented" else (  # what guess.js asks for
        f' data-claim="{entry["id"]}" data-chapter="{entry["chapter"][:2]}" data-verdict="{record["verdict"]}" '
        f'data-control="{CONTROL[record["control_holds"]]}"')
    return f'<div class="claim claim-{record["verdict"]}" id="claim-{entry["id"]}"{guess}>{texts}</div>'


def _card_language(entry: Entry, record: dict[str, Any], lang: str) -> str:
    shown, more = shown_first(strips_of(record))
    return (f'<div class="claim-text" lang="{lang}">'
            f'<p class="claim-title"><strong>{entry["id"]}</strong> {escape(entry["statement"][lang])}</p>'
            f'{rule_html(entry, record, lang)}<div class="claim-answer">{panel_html(shown, lang)}'
            f"{outcome_html(record, lang)}"
            f'<details class="claim-more"><summary>{WORDS[lang]["more"]}</summary>'
            f"{panel_html(more, lang)}{details_html(entry, record, lang)}</details></div></div>")


def rule_html(entry: Entry, record: dict[str, Any], lang: str) -> str:
    """The rule in one line."""
    rule = condition(entry, record, lang)
    return f'<p class="claim-rule">{escape(rule)}</p>' if rule else ""


def outcome_html(record: dict[str, Any], lang: str) -> str:
    """Verdict, what it holds by, and what that means."""
    words = WORDS[lang]
    by = f' <span class="claim-kind" style="{CHIP}">{words[record["learned"]]}</span>' if record["learned"] else ""
    if record["one_run"]:
        runs = words["one run" if record["runs"] == 1 else "few runs"].format(record["runs"])
        by += f' <span class="claim-kind claim-one-run" style="{CHIP}">{runs}</span>'
    return f'<p class="claim-outcome">{verdict_html(record["verdict"], lang)}{by} {escape(meaning(record, lang))}</p>'


def verdict_html(name: str, lang: str) -> str:
    """A verdict's mark and word."""
    mark = f'<span aria-hidden="true">{MARKS[name]}</span> ' if name in MARKS else ""
    return f'<span class="verdict verdict-{name}">{mark}{WORDS[lang][name]}</span>'


def details_html(entry: Entry, record: dict[str, Any], lang: str) -> str:
    """What stands behind a card and behind a line of the ledger: wording, numbers, full size, caveats, source."""
    words = WORDS[lang]
    rows = {label: escape(text) for label, text in facts(entry, record, lang).items()}
    for key in ("test", "threshold"):
        if key in entry:
            rows[words[key]] = escape(entry[key][lang])
    if texts := [_full_text(one, record, lang) for one in record["full_size"] if one["trained"]]:
        rows[words["full"]] = "<br>".join(texts)
    items = "".join(f"<div><dt>{label}</dt><dd>{text}</dd></div>" for label, text in rows.items())
    note = f'<p class="claim-note">{escape(record["note"][lang])}</p>' if record["note"] else ""
    return (f'<dl class="claim-facts">{items}</dl>{note}'
            f'<p class="claim-source">{escape(source_text(entry, lang))}</p>')


def _full_text(one: Mapping[str, Any], record: Mapping[str, Any], lang: str) -> str:
    """A full-size network with its numbers and what the rule says of them."""
    trained, names = one["trained"], record["names"][lang]
    value = lambda number: (dot_text(number, lang) if hasattr(number, "low") else number if isinstance(number, str)
                            else "–" if number is None else number_text(number))
    numbers = " · ".join(f"{names[name]}: {value(number)}" for name, number in trained["values"].items()
                         if name in names)
    verdict = f" {verdict_html(trained['verdict'], lang)}" if trained["verdict"] else ""
    return f"{escape(' × '.join(one['networks']))}: {escape(numbers)}{verdict}"


def outline_html(entries: list[Entry]) -> str:
    """A list of claims in both languages, each shown on the pages of its own."""
    item = lambda entry, lang: (f"<li><strong>{entry['id']}</strong> {escape(entry['statement'][lang])} "
                                f'<span class="claim-source">{escape(source_text(entry, lang))}</span></li>')
    return "".join(f'<ul class="claim-outline bi" lang="{lang}">{"".join(item(entry, lang) for entry in entries)}</ul>'
                   for lang in LANGUAGES)
