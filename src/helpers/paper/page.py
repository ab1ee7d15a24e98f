"""The page "At full size": every run in results/ beside the lab's and the paper's values, as HTML in one language."""

from __future__ import annotations

import json
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import Any

from ..claims.entries import LANGUAGES, claim
from ..claims.intervals import Interval
from ..claims.numerals import number_text
from ..claims.render import MARKS, facts, value_text
from ..claims.render import WORDS as CLAIM_WORDS
from ..claims.verdicts import judged, pooled
from .cost import DEVICES, PAIRS, hours
from .dots import dots_html
from .findings import findings_html
from .pictures import Drawn, as_picture, figures_html
from .stored import CONTENT, ROWS, Result, Results, Row, numbers_of, runs_in

MEASURED = CONTENT["measures"]
WORDS = {lang: {key: text[lang] for key, text in CONTENT["words"].items()} for lang in LANGUAGES}


def runs_html(folder: Path, records: list[Result], lang: str, drawn: Drawn = as_picture) -> str:
    """All runs of a folder; `records` are what the chapters report about the claims, `drawn` makes HTML of a figure."""
    by_id = {record["id"]: record for record in records}
    runs = runs_in(folder)
    if not runs:
        return f"<p>{WORDS[lang]['none']}</p>"
    return "".join(_run_html(run, by_id, lang, drawn) for run in runs)


def _run_html(run: Results, records: dict[str, Result], lang: str, drawn: Drawn) -> str:
    """What was found, then pictures, then the numbers behind buttons."""
    words = WORDS[lang]
    head = lambda key: f"<h3>{words[key]}</h3>"
    inside = [f"<p><strong>{escape(run.name)}</strong>: {escape(_what(run, lang))}</p>"]
    if found := findings_html(run, records, lang):
        inside += [head("findings"), found]
    inside += [head("dots"), f"<p>{escape(words['dots note'])}</p>", dots_html(run, records, lang)]
    if pictures := figures_html(run, words, drawn):
        inside += [head("pictures"), pictures]
    inside += [_hidden(words["table"], _table(run, records, lang)),
               _hidden(words["about"], _about(run, lang) + _skipped(run, lang))]
    return f'<section class="full-size-run" id="run-{escape(run.name)}">{"".join(inside)}</section>'


def _what(run: Results, lang: str) -> str:
    """The networks and photos in one line."""
    images = run.about["images"]
    photos = WORDS[lang]["photos"].format(photos=images["photos"], classes=images["classes"],
                                          hash=images["sha256"][:12])
    return f"{', '.join(run.called(name) for name in run.about['networks'])}. {photos}."


def _hidden(title: str, content: str) -> str:
    return f"<details><summary>{title}</summary>{content}</details>"


def _about(run: Results, lang: str) -> str:
    """What was measured: networks with their notes, photos, settings, versions."""
    words, about = WORDS[lang], run.about
    items = []
    for name, network in about["networks"].items():
        text = words["network"].format(architecture=network["architecture"], millions=network["parameters"] / 1e6,
                                       tens_of_thousands=network["parameters"] / 1e4,
                                       hash=next(iter(network["sha256"].values()))[:12])
        note = f'<span class="full-size-note">{escape(network["note"][lang])}</span>' if network["note"] else ""
        right = [r["numbers"]["top-1"] for r in run.of("accuracy", True) if r["networks"] == [name]]
        accuracy = words["accuracy"].format(name=name, value=value_text(right[0], lang)) if right else ""
        items.append(f"<strong>{escape(name)}</strong>: {escape(text)}. {note} {escape(accuracy)}")
    images, settings = about["images"], about["settings"]
    counts = {m: [max((r["images"] for r in run.of(m, trained)), default=0) for trained in (True, False)]
              for m in [*settings["images"], "probes"]}
    items.append(escape(words["photos"].format(photos=images["photos"], classes=images["classes"],
                                               hash=images["sha256"][:12])) + ".")
    counted = ", ".join(f"{MEASURED[m][lang]} {n:,} ({twins:,})" for m, (n, twins) in counts.items() if n)
    items.append(escape(words["numbers"].format(counts=counted, parts=settings["parts"],
                                                draws=settings["draws"], channels=settings["field_channels"])))
    items.append(escape(words["made"].format(begun=about["begun"], **about["made_with"])))
    return "<ul>" + "".join(f"<li>{item}</li>" for item in items) + "</ul>"


# ---- the table --------------------------------------------------------------------------------------------------


def _table(run: Results, records: dict[str, Result], lang: str) -> str:
    words = WORDS[lang]
    labels = [words[key] for key in ("claim", "says", "lab", "trained", "untrained")]
    head = "".join(f'<th scope="col">{label}</th>' for label in labels)
    body = "".join(_row(run, row, records.get(row.claim), labels, lang) for row in ROWS
                   if any(r["measure"] == row.measure and "skipped" not in r for r in run.found))
    return (f'<div class="table-scroll"><table class="ledger full-size"><thead><tr>{head}</tr></thead>'
            f"<tbody>{body}</tbody></table></div>")


def _row(run: Results, row: Row, record: Result | None, labels: list[str], lang: str) -> str:
    entry = claim(row.claim)
    id, lab = row.claim, WORDS[lang]["missing"]
    if record is not None:
        words = CLAIM_WORDS[lang]
        id = f'<a href="{entry["chapter"]}.html#claim-{id}">{id}</a>'
        measured_in_lab = facts(entry, record, lang)[words["measured"]]
        lab = f"{escape(measured_in_lab)}<br>{_verdict_html(record['verdict'], lang)}"
    measured = [_numbers_html(run, row, trained, lang) for trained in (True, False)]
    cells = [escape(entry["paper_value"][lang]), lab, *measured]
    data = "".join(f'<td data-label="{label}">{cell}</td>' for label, cell in zip(labels[1:], cells, strict=True))
    statement = f'<span class="ledger-statement">{escape(entry["statement"][lang])}</span>'
    return f'<tr><th scope="row">{id} {statement}</th>{data}</tr>'


def verdicts_of(run: Results, row: Row, trained: bool) -> dict[str, str]:
    """Network, or pair of them, → the verdict of the claim's own rule, where all that it reads was measured."""
    if row.numbers is not None:
        return {}
    untrained, found = numbers_of(run, row, False), {}
    for networks, draws in numbers_of(run, row, trained).items():
        outcome = judged(claim(row.claim), draws[:1] if trained else [], untrained.get(networks, []))
        if verdict := outcome.verdict if trained else outcome.control:
            found[networks] = str(verdict)
    return found


def _texts(row: Row, draws: list[dict[str, Any]], lang: str) -> list[str]:
    """Each number with its name; of several draws mean and range."""
    words = row.named(lang)
    shown = lambda value: WORDS[lang]["infinite"] if value is None else value_text(
        asdict(value) if isinstance(value, Interval) else value, lang)
    return [f"{words[key]}: {shown(value)}" for key, value in pooled(draws).items()]


def _numbers_html(run: Results, row: Row, trained: bool, lang: str) -> str:
    """Each network, or pair, with its numbers and verdict; what all of them share stands once, first."""
    found, verdicts = numbers_of(run, row, trained), verdicts_of(run, row, trained)
    texts = {networks: _texts(row, draws, lang) for networks, draws in found.items()}
    first, *others = texts.values() or [[]]
    shared = [text for text in first if others and all(text in of_network for of_network in others)]
    lines = list(map(escape, shared))
    for networks, of_network in texts.items():
        lines += [f"<strong>{escape(networks)}</strong>", *(escape(text) for text in of_network if text not in shared)]
        if networks in verdicts:
            lines.append(_verdict_html(verdicts[networks], lang))
    return "<br>".join(lines) or WORDS[lang]["missing"]


def _verdict_html(verdict: str, lang: str) -> str:
    return f'<span class="verdict verdict-{verdict}">{MARKS[verdict]} {CLAIM_WORDS[lang][verdict]}</span>'


def _skipped(run: Results, lang: str) -> str:
    found = {(r["measure"], " × ".join(r["networks"])): r["skipped"][lang] for r in run.found if "skipped" in r}
    items = "".join(f"<li>{escape(MEASURED[measure][lang])}, {escape(networks)}: {escape(reason)}</li>"
                    for (measure, networks), reason in found.items())
    return f"<p>{WORDS[lang]['skipped']}:</p><ul>{items}</ul>" if items else ""


# ---- the estimate -----------------------------------------------------------------------------------------------


def cost_html(path: Path, lang: str) -> str:
    """What the paper's setting takes on two accelerators, reckoned from the counts in results/cost.json."""
    counts, words = json.loads(path.read_text(encoding="utf-8")), WORDS[lang]
    labels = [words["pair"], words["operations"], words["moved"], *DEVICES]
    rows = []
    for pair in PAIRS:
        both = [counts[name] for name in pair]
        taken = [hours(both, device) for device in DEVICES.values()]
        cells = [f"{number_text(sum(c['flops'] for c in both) / 1e9)} G",
                 f"{number_text(sum(c['features'] for c in both) / 1e6)} M",
                 *(words["hours"].format(t) if t >= 1 else words["minutes"].format(60 * t) for t in taken)]
        data = "".join(f'<td data-label="{label}">{cell}</td>' for label, cell in zip(labels[1:], cells, strict=True))
        rows.append(f'<tr><th scope="row">{" × ".join(pair)}</th>{data}</tr>')
    head = "".join(f'<th scope="col">{label}</th>' for label in labels)
    return (f'<div class="table-scroll"><table class="ledger"><thead><tr>{head}</tr></thead>'
            f'<tbody>{"".join(rows)}</tbody></table></div>')
