"""The page "At full size": every run in results/ beside the lab's and the paper's values, as HTML in one language."""

from __future__ import annotations

import base64
import io
import json
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import yaml

from .. import plots
from ..claims import rules
from ..claims.entries import LANGUAGES, called, claim, rule_of
from ..claims.intervals import Interval
from ..claims.numerals import number_text
from ..claims.render import MARKS, facts, value_text
from ..claims.render import WORDS as CLAIM_WORDS
from ..claims.reports import decide
from .cost import DEVICES, PAIRS, hours

Result = dict[str, Any]


@dataclass(frozen=True)
class Row:
    """One claim and the numbers of a measurement that speak to it; only for networks of one kind, if that is named.

    Numbers that are the claim's own quantities are named, and judged, as in the chapter; others are named here.
    """

    claim: str
    measure: str
    numbers: dict[str, dict[str, str]] | None = None  # key in the results → what it is, in both languages
    kind: str | None = None

    def named(self, lang: str) -> dict[str, str]:
        """Key in the results → what it is called."""
        if self.numbers is None:
            return called(claim(self.claim), lang)
        return {key: words[lang] for key, words in self.numbers.items()}


_content = yaml.safe_load(files("helpers").joinpath("paper/full_size.yml").read_text(encoding="utf-8"))
ROWS = [Row(**row) for row in _content["rows"]]
MEASURED = _content["measures"]
WORDS = {lang: {key: text[lang] for key, text in _content["words"].items()} for lang in LANGUAGES}


class Results:
    """One run as it lies in its folder; measurements that are not done yet are simply not there."""

    def __init__(self, folder: Path) -> None:
        self.name = folder.name
        read = lambda path: json.loads(path.read_text(encoding="utf-8"))
        self.about: Result = read(folder / "run.json")
        self.found: list[Result] = [read(path) for path in sorted(folder.glob("*.json")) if path.name != "run.json"]

    def of(self, measure: str, trained: bool) -> list[Result]:
        """Results of one measurement; skipped ones are left out."""
        return [r for r in self.found if r["measure"] == measure and r["trained"] == trained and "numbers" in r]

    def kind(self, network: str) -> str:
        return self.about["networks"][network]["kind"]


def runs_in(folder: Path) -> list[Results]:
    """All runs, in the order of their names."""
    return [Results(path.parent) for path in sorted(folder.glob("*/run.json"))]


def runs_html(folder: Path, records: list[Result], lang: str) -> str:
    """All runs of a folder; `records` are what the chapters report about the claims."""
    by_id = {record["id"]: record for record in records}
    runs = runs_in(folder)
    if not runs:
        return f"<p>{WORDS[lang]['none']}</p>"
    return "".join(_run_html(run, by_id, lang) for run in runs)


def _run_html(run: Results, records: dict[str, Result], lang: str) -> str:
    inside = [f"<h3>{escape(run.name)}</h3>", _about(run, lang), *_figures(run, lang), _table(run, records, lang),
              _skipped(run, lang)]
    return f'<section class="full-size-run" id="run-{escape(run.name)}">{"".join(inside)}</section>'


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
                                                blocks=settings["field_blocks"], channels=settings["field_channels"])))
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


def numbers_of(run: Results, row: Row, trained: bool, lang: str) -> dict[str, list[str]]:
    """Network, or pair of them, → the numbers that speak to a claim."""
    found: dict[str, list[str]] = {}
    order = list(row.named(lang))
    for result in run.of(row.measure, trained):
        for key, value in sorted(result["numbers"].items(), key=lambda n: order.index(n[0]) if n[0] in order else 0):
            network, label = _meaning(result, key, row, lang)
            wanted = row.kind is None or run.kind(network) == row.kind
            if label is not None and wanted:
                text = WORDS[lang]["infinite"] if value["value"] is None else value_text(value, lang)
                found.setdefault(network, []).append(f"{label}: {text}")
    return found


def verdicts_of(run: Results, row: Row, trained: bool) -> dict[str, str]:
    """Network, or pair of them, → the verdict of the claim's own rule, where all that it reads was measured."""
    entry = claim(row.claim)
    found: dict[str, str] = {}
    reads = set().union(*(rules.names(rule) for rule in rule_of(entry).values()))
    quantities = lambda result: {name: Interval(**value) for name, value in result["numbers"].items()
                                 if name in entry["quantities"]}
    untrained = {tuple(result["networks"]): quantities(result) for result in run.of(row.measure, False)}
    for result in run.of(row.measure, trained) if row.numbers is None else ():
        values, control = quantities(result), untrained.get(tuple(result["networks"]), {})
        yardstick = any(map(rules.reads_untrained, rule_of(entry).values()))
        if reads <= values.keys() and (not yardstick or reads <= control.keys()):
            found[" × ".join(result["networks"])] = decide(entry, values, control)
    return found


def _numbers_html(run: Results, row: Row, trained: bool, lang: str) -> str:
    found, verdicts, lines = numbers_of(run, row, trained, lang), verdicts_of(run, row, trained), []
    for network, numbers in found.items():
        lines += [f"<strong>{escape(network)}</strong>", *map(escape, numbers)]
        if network in verdicts:
            lines.append(_verdict_html(verdicts[network], lang))
    return "<br>".join(lines) or WORDS[lang]["missing"]


def _verdict_html(verdict: str, lang: str) -> str:
    return f'<span class="verdict verdict-{verdict}">{MARKS[verdict]} {CLAIM_WORDS[lang][verdict]}</span>'


def _meaning(result: Result, key: str, row: Row, lang: str) -> tuple[str, str | None]:
    """Whose number it is and what it is called; None when the row does not speak of it."""
    networks, named = result["networks"], row.named(lang)
    if row.measure == "cuts":  # keys end with, or contain, the number of a block
        for start, words in named.items():
            if start in key:
                block = next(part for part in key.replace(",", " ").split() if part.isdigit())
                return networks[0], words.format(block=block)
        return networks[0], None
    if key in named:
        return " × ".join(networks), named[key]
    name, _, place = key.rpartition(" ")
    if name in named and place.isdigit():  # one number for each of two networks
        return networks[int(place)], named[name]
    return networks[0], None


def _skipped(run: Results, lang: str) -> str:
    found = {(r["measure"], " × ".join(r["networks"])): r["skipped"][lang] for r in run.found if "skipped" in r}
    items = "".join(f"<li>{escape(MEASURED[measure][lang])}, {escape(networks)}: {escape(reason)}</li>"
                    for (measure, networks), reason in found.items())
    return f"<p>{WORDS[lang]['skipped']}:</p><ul>{items}</ul>" if items else ""


# ---- figures ----------------------------------------------------------------------------------------------------


CURVES = {"attn spatial": "attn", "mlp spatial": "mlp", "attn cls": "attn [CLS]", "mlp cls": "mlp [CLS]",
          "conv spatial": ""}


def _figures(run: Results, lang: str) -> list[str]:
    drawn = [(_maps(run), "maps"), (_curves(run), "curves")]
    html = []
    for figure, name in drawn:
        if figure is None:
            continue
        picture = io.BytesIO()
        figure.savefig(picture, format="png", dpi=90, metadata={"Software": None})
        plt.close(figure)
        data = base64.b64encode(picture.getvalue()).decode()
        alt, caption = (escape(WORDS[lang][key]) for key in (f"{name} alt", name))
        html.append(f'<p><img src="data:image/png;base64,{data}" alt="{alt}"></p><p><em>{caption}</em></p>')
    return html


def _maps(run: Results) -> Any:
    """CKA heatmaps of the first pair, trained above untrained."""
    pairs = [r for trained in (True, False) for r in run.of("similarity", trained) if "cross" in r["arrays"]][:2]
    pairs = [r for r in pairs if r["networks"] == pairs[0]["networks"]]
    if not pairs:
        return None
    figure, axes = plt.subplots(len(pairs), 3, figsize=(11, 3.5 * len(pairs)), layout="compressed", squeeze=False)
    a, b = pairs[0]["networks"]
    for row, pair in zip(axes, pairs, strict=True):
        arrays = {name: np.array(values, dtype=float) for name, values in pair["arrays"].items()}
        mine, theirs = pair["names"]["layers 0"], pair["names"]["layers 1"]
        plots.heatmaps([(arrays["within 0"], mine, mine), (arrays["cross"].T, mine, theirs),
                        (arrays["within 1"], theirs, theirs)], label="CKA", axes=row)
        for ax, title in zip(row, (a, f"{a} → · {b} ↑", b), strict=True):
            ax.set_title(title, fontsize=9)
    return figure


def _curves(run: Results) -> Any:
    """Attention distances of all heads, and norm ratios over relative depth."""
    distances, ratios = run.of("attention", True)[:1], run.of("norms", True)
    if not distances or not ratios:
        return None
    with plots.look():
        figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="compressed")
    uniform = distances[0]["arrays"]["uniform"]
    for result in run.of("attention", False)[:1]:
        pixels = np.array(result["arrays"]["pixels"])
        left.scatter(np.repeat(np.arange(len(pixels)), pixels.shape[1]), pixels, s=14, color="0.8")
    plots.dots(np.array(distances[0]["arrays"]["pixels"]), x=r"$\ell$", y="px", level=uniform, ax=left)
    left.set_title(distances[0]["networks"][0], fontsize=9)
    for result in ratios:
        for key, name in CURVES.items():
            if key in result["arrays"]:
                curve, label = np.array(result["arrays"][key], dtype=float), f"{result['networks'][0]} {name}".strip()
                right.plot(np.linspace(0, 1, len(curve)), curve, "o-", ms=3, label=label)
    right.set(xlabel=r"$\ell / L$", ylabel=r"$\|z\| / \|f(z)\|$")
    right.set_yscale("log", base=2)
    right.yaxis.set_major_formatter("{x:g}")
    right.legend(frameon=False, fontsize=8)
    return figure


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
