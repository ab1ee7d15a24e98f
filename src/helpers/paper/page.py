"""The page "At full size": every run in results/ beside the lab's and the paper's values, as HTML in one language."""

from __future__ import annotations

import base64
import io
import json
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from .. import plots
from ..claims.entries import LANGUAGES, claim
from ..claims.intervals import Interval
from ..claims.numerals import number_text
from ..claims.render import MARKS, facts, value_text
from ..claims.render import WORDS as CLAIM_WORDS
from ..claims.scores import is_block, middles
from ..claims.verdicts import judged, pooled
from .cost import DEVICES, PAIRS, hours
from .stored import CONTENT, ROWS, Result, Results, Row, numbers_of, runs_in

MEASURED = CONTENT["measures"]
WORDS = {lang: {key: text[lang] for key, text in CONTENT["words"].items()} for lang in LANGUAGES}


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
    found, verdicts, lines = numbers_of(run, row, trained), verdicts_of(run, row, trained), []
    for network, draws in found.items():
        lines += [f"<strong>{escape(network)}</strong>", *map(escape, _texts(row, draws, lang))]
        if network in verdicts:
            lines.append(_verdict_html(verdicts[network], lang))
    return "<br>".join(lines) or WORDS[lang]["missing"]


def _verdict_html(verdict: str, lang: str) -> str:
    return f'<span class="verdict verdict-{verdict}">{MARKS[verdict]} {CLAIM_WORDS[lang][verdict]}</span>'


def _skipped(run: Results, lang: str) -> str:
    found = {(r["measure"], " × ".join(r["networks"])): r["skipped"][lang] for r in run.found if "skipped" in r}
    items = "".join(f"<li>{escape(MEASURED[measure][lang])}, {escape(networks)}: {escape(reason)}</li>"
                    for (measure, networks), reason in found.items())
    return f"<p>{WORDS[lang]['skipped']}:</p><ul>{items}</ul>" if items else ""


# ---- figures ----------------------------------------------------------------------------------------------------


CURVES = {"attn CLS": "C1o-", "mlp CLS": "C1s--", "attn spatial": "C0o-", "mlp spatial": "C0s--", "ResNet": "C7^:"}


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
    """CKA of the blocks of every ViT with a CNN: a row for the pair, and one for its first untrained draw."""
    found = [r for trained in (True, False) for r in run.of("similarity", trained) if r["draw"] in (None, 0)]
    pairs = sorted((r for r in found if [run.kind(name) for name in r["networks"]] == ["vit", "cnn"]),
                   key=lambda r: r["networks"])
    if not pairs:
        return None
    figure, axes = plt.subplots(len(pairs), 3, figsize=(11, 3.5 * len(pairs)), layout="compressed", squeeze=False)
    for row, pair in zip(axes, pairs, strict=True):
        layers = [pair["names"][f"layers {i}"] for i in (0, 1)]
        at = [[i for i, name in enumerate(names) if is_block(name)] for names in layers]
        mine, theirs = ([names[i] for i in chosen] for names, chosen in zip(layers, at, strict=True))
        of = lambda name, i, j, pair=pair, at=at: np.array(pair["arrays"][name], dtype=float)[np.ix_(at[i], at[j])]
        plots.heatmaps([(of("within 0", 0, 0), mine, mine), (of("cross", 0, 1).T, mine, theirs),
                        (of("within 1", 1, 1), theirs, theirs)], label="CKA", axes=row)
        a, b = (name if pair["trained"] else f"{name}, untrained" for name in pair["networks"])
        for ax, title in zip(row, (a, f"{a} → · {b} ↑", b), strict=True):
            ax.set_title(title, fontsize=9)
    return figure


def _curves(run: Results) -> Any:
    """A column per ViT: attention distances of all heads above, norm ratios over relative depth below."""
    distances, ratios = run.of("attention", True), run.of("norms", True)
    if not distances or not ratios:
        return None
    with plots.look():
        figure, axes = plt.subplots(2, len(distances), figsize=(5 * len(distances), 7), layout="compressed",
                                    squeeze=False, sharey="row")
    for (above, below), result in zip(axes.T, distances, strict=True):
        (name,) = result["networks"]
        for drawn in [r for r in run.of("attention", False) if r["networks"] == [name]]:
            pixels = np.array(drawn["arrays"]["pixels"])
            above.scatter(np.repeat(np.arange(len(pixels)), pixels.shape[1]), pixels, s=14, color="0.8")
        plots.dots(np.array(result["arrays"]["pixels"]), x="", y="px", level=result["arrays"]["uniform"], ax=above)
        above.set_title(name, fontsize=9)
        for pair in [r for r in ratios if r["networks"][0] == name][:1]:
            for curve, style in CURVES.items():
                values = np.array(pair["arrays"][f"ratio {curve}"], dtype=float)
                below.plot(middles(len(values)), values, style, ms=4, label=curve)
        below.set(xlabel=r"$\ell / L$", ylabel=r"$\|z\| / \|f(z)\|$")
        below.set_yscale("log", base=2)
        below.yaxis.set_major_formatter("{x:g}")
    axes[1, 0].legend(frameon=False, fontsize=8)
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
