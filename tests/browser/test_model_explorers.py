"""Explorers of models without a kernel: every number on the page is the one that the metric gives in Python."""

from __future__ import annotations

import itertools
import json
import re

import numpy as np
import pytest
from layer_words import in_words
from model_results import RESNET, VIT, Measured, measure
from plain_page import picture_of, press
from playwright.sync_api import Page, expect

from helpers import load_images, load_model
from helpers.explore import attention_explorer
from helpers.explore.base import module_source
from helpers.explore.packing import script_json

SIZES = {"desktop": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}
EVERY_VIEW = list(itertools.product(("en", "ko"), SIZES))
BOTH = {  # what controls and pictures are called in English and in Korean
    "show": ("Show the numbers", "수치 보기"),
    "link": ("Copy link", "링크 복사"),
    "layer": ("Block", "블록"),
    "head": ("Head", "헤드"),
    "depth": ("Relative depth", "상대 깊이"),
    "query": ("Query token on the image", "이미지 위의 질의 토큰"),
    "weights": ("Attention of the query", "그 질의가 모든 패치에"),
    "strip": ("Mean attention distance", "모든 블록 모든 헤드"),
    "rollout": ("Rollout", "롤아웃"),
    "left": ("Left", "왼쪽"),
    "before": ("before", "더하기 전"),
    "token": ("The chosen token against", "모델마다 한 장씩"),
    "probe": ("Probe accuracy", "프로브 정확도"),
    "model": ("Network", "모델"),
    "position": ("Cosine similarity", "고른 위치와"),
    "image": ("Image", "이미지"),
    "radius": ("Radius that holds half", "기울기의 절반을 담는"),
}
WORDS = {lang: {key: texts[i] for key, texts in BOTH.items()} for i, lang in enumerate(("en", "ko"))}


@pytest.fixture(scope="module")
def measured() -> Measured:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BOOK_STATIC", "1")
        return measure()


# --- reading the page -------------------------------------------------------------------------------------------------


def numbers_in(text: str) -> list[float]:
    """All numbers of a text, those in names of layers and stages left out."""
    text = re.sub(r"(blocks|stages)[\w.]*|(stage \d, block|스테이지 \d 블록) \d|, (block|블록) \d(?=[,:])", "", text)
    return [float(number.replace("−", "-")) for number in re.findall(r"−?\d+(?:\.\d+)?", text)]


def caption_of(page: Page) -> str:
    picture_of(page, 0)  # once the last change is drawn
    return page.locator(".ex-caption").inner_text()


def check_caption(page: Page, expected: list[float], tolerance: float, *texts: str) -> None:
    caption = caption_of(page)
    assert numbers_in(caption) == pytest.approx(expected, abs=tolerance), caption
    assert all(text in caption for text in texts), caption


def current_row(page: Page) -> list[str]:
    picture_of(page, 0)
    return page.locator(".ex-table tr[aria-current] td").all_inner_texts()


def open_with_table(plain, explorer, lang: str, size: str) -> Page:
    page = plain(viewport=SIZES[size]).open(explorer.html(), lang=lang)
    page.get_by_role("button", name=WORDS[lang]["show"]).click()
    return page


def moved(page: Page, change, *canvases: int) -> None:
    """Makes a change; the pictures of these canvases must follow."""
    before = [picture_of(page, i) for i in canvases]
    change()
    after = [picture_of(page, i) for i in canvases]
    assert all(old != new for old, new in zip(before, after, strict=True)), "a picture did not change"


def pick(page: Page, lang: str, what: str, key: str, times: int = 1) -> None:
    for _ in range(times):
        page.get_by_role("slider", name=WORDS[lang][what]).press(key)


# --- attention --------------------------------------------------------------------------------------------------------


def attention_numbers(
    measured: Measured, image: int, layer: int, head: int | str, row: int, column: int
) -> list[float]:
    """What the caption of a patch query says."""
    heads = slice(None) if head == "mean" else slice(head, head + 1)
    weights = measured.maps[image, layer, heads, 1 + 8 * row + column].mean(0)
    patches = weights[1:].reshape(8, 8)
    best = np.unravel_index(patches.argmax(), (8, 8))
    y, x = np.indices((8, 8))
    reach = (patches * 4 * np.hypot(y - row, x - column)).sum() / patches.sum()
    far, on_cls = (table[layer, heads].mean() for table in (measured.distance.pixels, measured.distance.cls_mass))
    which = [] if head == "mean" else [head]
    return [
        layer,
        *which,
        row,
        column,
        100 * weights[0],
        *best,
        100 * patches.max(),
        reach,
        24,
        far,
        measured.distance.uniform,
        100 * on_cls,
    ]


@pytest.mark.parametrize(("lang", "size"), EVERY_VIEW)
def test_attention_follows_layer_head_and_query(plain, measured, lang, size):
    t, page = WORDS[lang], open_with_table(plain, measured.explorers["attention"], lang, size)
    state = {"image": 0, "layer": 2, "head": 3, "row": 4, "column": 4}
    changes = [
        ({}, lambda: None, ()),
        ({"layer": 3}, lambda: press(page, t["layer"], "ArrowRight"), (0, 1, 2)),
        ({"head": 5}, lambda: page.get_by_label(t["head"], exact=True).select_option("5"), (0, 1, 2)),
        (
            {"row": 3, "column": 6},
            lambda: [pick(page, lang, "query", "ArrowRight", 2), pick(page, lang, "query", "ArrowUp")],
            (0, 1),
        ),
        ({"head": "mean"}, lambda: page.get_by_label(t["head"], exact=True).select_option(index=0), (0, 1, 2)),
        ({"layer": 4}, lambda: pick(page, lang, "strip", "ArrowRight"), (0, 1, 2)),
        ({"image": 1}, lambda: page.get_by_label(t["image"], exact=True).select_option(index=1), (0, 1)),
    ]
    for change, act, canvases in changes:
        moved(page, act, *canvases)
        state |= change
        expected = attention_numbers(measured, **state)
        check_caption(page, expected, 0.15, "[CLS]")
        head, far, on_cls, here, reach, best, most = current_row(page)
        assert head == str(state["head"]) or state["head"] == "mean"
        assert [
            float(far),
            numbers_in(on_cls)[0],
            numbers_in(here)[0],
            float(reach),
            *numbers_in(best),
            *numbers_in(most),
        ] == pytest.approx([expected[-3], expected[-1], *[expected[i] for i in (-9, -5, -8, -7, -6)]], abs=0.15)
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size]["width"]


def test_the_class_token_is_a_query_too(plain, measured):
    page = open_with_table(plain, measured.explorers["attention"], "en", "desktop")
    pick(page, "en", "query", "ArrowUp", 5)
    weights = measured.maps[0, 2, 3, 0]
    expect(page.get_by_role("slider", name=WORDS["en"]["query"])).to_have_attribute("aria-valuetext", "[CLS]")
    assert numbers_in(caption_of(page))[2] == pytest.approx(100 * weights[0], abs=0.06)
    assert current_row(page)[4] == "–"
    pick(page, "en", "query", "ArrowDown")
    expect(page.get_by_role("slider", name=WORDS["en"]["query"])).to_have_attribute("aria-valuetext", "patch (0, 4)")


def test_the_query_is_moved_by_a_click_on_either_map(plain, measured):
    page = plain(viewport=SIZES["desktop"]).open(measured.explorers["attention"].html())
    canvas, beside = (page.get_by_role("slider", name=WORDS["en"][what]) for what in ("query", "weights"))
    for clicked, share, text in ((canvas, 0.01, "patch (0, 0)"), (beside, 0.99, "patch (0, 7)")):
        clicked.click(position={"x": share * clicked.bounding_box()["width"], "y": 40})
        expect(canvas).to_have_attribute("aria-valuetext", text)
    canvas.click(position={"x": 20, "y": 14})
    expect(canvas).to_have_attribute("aria-valuetext", "[CLS]")


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_a_network_without_a_class_token_speaks_of_none(plain, monkeypatch, lang):
    monkeypatch.setenv("BOOK_STATIC", "1")
    w = attention_explorer(load_model("vit_gap", trained=False), load_images(n=1), query=3)
    page = open_with_table(plain, w, lang, "desktop")
    pick(page, lang, "query", "ArrowUp")  # there is nothing above the first row
    assert "(0, 3)" in caption_of(page)
    page.get_by_label(WORDS[lang]["rollout"], exact=True).check()
    assert "(0, 3)" in caption_of(page)
    assert "[CLS]" not in page.locator(".explorer").inner_text()


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_rollout_is_that_of_the_metric(plain, measured, lang):
    page = open_with_table(plain, measured.explorers["attention"], lang, "desktop")
    moved(page, lambda: page.get_by_label(WORDS[lang]["rollout"], exact=True).check(), 0)
    press(page, WORDS[lang]["layer"], "End")
    pick(page, lang, "query", "ArrowUp", 5)
    layers, own, _, best, most = current_row(page)
    assert layers == "0–5"
    mass = 1 - numbers_in(own)[0] / 100  # of the patches; the metric's map is of them alone
    expected = measured.rollout[0]
    assert numbers_in(best) == list(np.unravel_index(expected.argmax(), (8, 8)))
    assert numbers_in(most)[0] == pytest.approx(100 * mass * expected.max(), abs=0.06)


def test_the_whole_rollout_map_agrees_with_the_metric(plain, measured):
    w = measured.explorers["attention"]
    page = plain().open(
        f'<script type="module">{module_source(w.scripts)}\nwindow.js = {{ attentionRows, unpackAll }};</script>'
    )
    page.wait_for_function("window.js")
    rows = page.evaluate(
        "([part, about]) => Array.from(js.attentionRows(js.unpackAll(part), about).rollout(5, 0))",
        [json.loads(script_json(w.parts["lab 0"])), w.about["models"]["lab"]],
    )
    assert sum(rows) == pytest.approx(1, abs=0.01)
    np.testing.assert_allclose(np.array(rows[1:]) / sum(rows[1:]), measured.rollout[0].ravel(), atol=2e-4)


# --- receptive fields -------------------------------------------------------------------------------------------------


def field_numbers(result, layer: int) -> list[float]:
    centre, even = 100 * result.centre_share[layer], 100 * result.uniform_share[layer]
    return [result.radius(0.5)[layer], 90, result.radius(0.9)[layer], centre, even, centre / even]


@pytest.mark.parametrize(("lang", "size"), EVERY_VIEW)
def test_fields_follow_depth_skip_and_network(plain, measured, lang, size):
    t, page = WORDS[lang], open_with_table(plain, measured.explorers["field"], lang, size)

    def said(entry, layer: int) -> str:
        return in_words(entry.layers[layer], lang)

    def check(where: str, depth: int, left: str = VIT) -> None:
        entries = [measured.fields[name][where] for name in dict.fromkeys((left, RESNET))]
        layers = [int(depth / 100 * (len(entry.layers) - 1) + 0.5) for entry in entries]
        expected = [
            number for entry, layer in zip(entries, layers, strict=True) for number in field_numbers(entry, layer)
        ]
        names = [said(entry, i) for entry, i in zip(entries, layers, strict=True)]
        check_caption(page, [*expected, 50, 90], 0.51, *names)
        row = current_row(page)
        assert row[0].rstrip("\u00a0%") == str(depth)
        for entry, layer, cells in zip(entries, layers, (row[1:5], row[5:]), strict=False):
            half, most, centre = entry.radius(0.5)[layer], entry.radius(0.9)[layer], 100 * entry.centre_share[layer]
            assert cells[:3] == [said(entry, layer), f"{half:.1f}", f"{most:.1f}"]
            assert cells[3].rstrip("\u00a0%") == f"{centre:.1f}"

    check("after", 0)
    moved(page, lambda: press(page, t["depth"], "End"), 0, 1, 2, 3)
    check("after", 100)
    moved(page, lambda: pick(page, lang, "radius", "ArrowLeft"), 0, 1, 2, 3)
    check("after", 50)
    moved(page, lambda: page.get_by_label(t["before"], exact=True).check(), 0, 1, 2, 3)
    check("before", 50)
    moved(page, lambda: page.get_by_label(t["left"], exact=True).select_option(index=1), 0, 2)
    check("before", 50, RESNET)
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size]["width"]


# --- tokens -----------------------------------------------------------------------------------------------------------


def in_small_grid(row: int, column: int) -> tuple[int, int]:
    return row // 2, column // 2


@pytest.mark.parametrize(("lang", "size"), EVERY_VIEW)
def test_tokens_follow_place_and_depth(plain, measured, lang, size):
    t, page = WORDS[lang], open_with_table(plain, measured.explorers["token"], lang, size)

    def check(row: int, column: int, layer: int) -> None:
        readings, cells = [], []
        for result, (y, x) in (
            (measured.tokens[VIT][layer], (row, column)),
            (measured.tokens[RESNET], in_small_grid(row, column)),
        ):
            columns = result.grid[1]
            one = result.maps[y * columns + x]
            others = (one.sum() - one[y, x]) / (one.size - 1)
            best = np.unravel_index(one.argmax(), one.shape)
            readings += [one[y, x], others, *best]
            cells.append(([one[y, x], others], f"({best[0]}, {best[1]})"))
        caption = numbers_in(caption_of(page))
        assert caption[:-2] == pytest.approx([row, column, *readings], abs=0.0016)
        name, where, own, others, best = current_row(page)
        assert (name, where, best) == (VIT, in_words(measured.tokens[VIT][layer].layer, lang), cells[0][1])
        assert [float(v.replace("−", "-")) for v in (own, others)] == pytest.approx(cells[0][0], abs=0.0016)

    check(4, 4, 0)
    moved(page, lambda: press(page, t["depth"], "End"), 0, 1)
    check(4, 4, 1)
    moved(page, lambda: [pick(page, lang, "token", "ArrowLeft", 3), pick(page, lang, "token", "ArrowDown")], 0, 1)
    check(5, 1, 1)
    assert RESNET in caption_of(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size]["width"]


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_probes_of_the_chosen_token(plain, measured, lang):
    t, page = WORDS[lang], open_with_table(plain, measured.explorers["token"], lang, "desktop")
    moved(page, lambda: page.get_by_label(t["probe"], exact=True).check(), 0, 1)
    moved(page, lambda: press(page, t["depth"], "ArrowRight"), 0, 1)
    moved(page, lambda: pick(page, lang, "token", "ArrowLeft", 2), 0, 1)
    vit, resnet = measured.probes[VIT], measured.probes[RESNET]
    shares = [vit["token"].accuracy[1, 34], vit["mean"].accuracy[1], vit["[CLS]"].accuracy[1]]
    shares_resnet = [resnet["token"].accuracy[0, 9], resnet["mean"].accuracy[0]]
    expected = [4, 2, 1, 0, 2, *[100 * v for v in shares], 0, 0, 0, *[100 * v for v in shares_resnet]]
    check_caption(page, expected, 0.06, "[CLS]")
    row = current_row(page)
    assert row[:2] == [VIT, "1"]
    assert [numbers_in(cell)[0] for cell in row[2:]] == pytest.approx([100 * v for v in shares], abs=0.06)


# --- positions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("lang", "size"), EVERY_VIEW)
def test_positions_follow_network_and_place(plain, measured, lang, size):
    t, page = WORDS[lang], open_with_table(plain, measured.explorers["posembed"], lang, size)

    def check(name: str, row: int, column: int) -> None:
        cosines = measured.positions[name][8 * row + column].reshape(8, 8)
        y, x = (np.abs(place - own) for place, own in zip(np.indices((8, 8)), (row, column), strict=True))
        groups = [y + x == 1, (y + x > 1) & ((y == 0) | (x == 0)), (y > 0) & (x > 0) & (y + x > 1)]
        others = np.where(y + x == 0, -2, cosines)
        best = np.unravel_index(others.argmax(), (8, 8))
        caption = numbers_in(caption_of(page))
        assert caption[:8] == pytest.approx(
            [row, column, *best, others.max(), *[cosines[g].mean() for g in groups]][:8], abs=0.0016
        )
        shown = [
            [float(cell.replace("−", "-")) for cell in line.locator("td").all_inner_texts()[1:]]
            for line in page.locator(".ex-table tbody tr").all()
        ]
        np.testing.assert_allclose(shown, cosines, atol=0.00051)
        assert current_row(page)[0] == str(row)

    check("trained", 4, 4)
    shares = measured.components
    assert numbers_in(caption_of(page))[-3:] == pytest.approx([28, 100 * shares.sum(), 100 * shares[0]], abs=0.06)
    moved(page, lambda: [pick(page, lang, "position", "ArrowUp", 4), pick(page, lang, "position", "ArrowRight")], 0)
    check("trained", 0, 5)
    moved(page, lambda: page.get_by_label(t["model"], exact=True).select_option(index=1), 0, 1)
    check("untrained", 0, 5)
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size]["width"]


# --- all four ---------------------------------------------------------------------------------------------------------

NAMES = ["attention", "field", "token", "posembed"]
CHANGED = {
    "attention": "attention.image=1&attention.layer=4&attention.head=mean&attention.view=rollout&attention.query=0",
    "field": "field.left=%3Cb%3EResNet%3C%2Fb%3E&field.right=ViT&field.skip=before&field.depth=1",
    "token": "token.view=probe&token.depth=0.5&token.token=17",
    "posembed": "posembed.model=untrained&posembed.position=9",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_share_link_opens_the_same_view(plain, measured, name):
    visitor = plain()
    address = visitor.write(measured.explorers[name].html())
    visitor.page.goto(f"{address}#{CHANGED[name]}")
    caption, seen = caption_of(visitor.page), picture_of(visitor.page, 0)
    visitor.page.goto("about:blank")
    visitor.page.goto(address)
    assert caption_of(visitor.page) != caption
    visitor.page.goto(f"{address}#{CHANGED[name]}")
    assert (caption_of(visitor.page), picture_of(visitor.page, 0)) == (caption, seen)
    visitor.page.get_by_role("button", name=WORDS["en"]["link"]).click()
    expect(visitor.page.get_by_role("status")).to_have_text(re.compile("link", re.IGNORECASE))
    assert visitor.page.url.split("#")[1] == CHANGED[name]


@pytest.mark.parametrize("name", NAMES)
def test_both_languages_have_the_same_strings_and_names_stay_text(plain, measured, name):
    w = measured.explorers[name]
    page = plain().open(
        f'<script type="module">{module_source(w.scripts)}\nwindow.js = {{ STRINGS }};</script>', w.html()
    )
    page.wait_for_function("window.js")
    english, korean = (page.evaluate(f"Object.keys(js.STRINGS.{lang})") for lang in ("en", "ko"))
    assert english == korean
    assert page.locator(".explorer b").count() == 0


@pytest.mark.parametrize("name", NAMES)
def test_the_saved_picture_is_a_png_of_the_whole_view(plain, measured, name, tmp_path):
    page = plain(viewport=SIZES["desktop"]).open(measured.explorers[name].html())
    with page.expect_download() as download:
        page.get_by_role("button", name="Save picture").click()
    assert download.value.suggested_filename == f"{name}.png"
    download.value.save_as(tmp_path / "saved.png")
    assert (tmp_path / "saved.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("name", "view"), [(name, view) for i, name in enumerate(NAMES) for view in (EVERY_VIEW[i], EVERY_VIEW[3 - i])]
)
def test_axe_finds_nothing(plain, measured, axe, name, view):
    lang, size = view
    for theme in ("light", "dark"):
        page = plain(viewport=SIZES[size]).open("<h1>ViT</h1>", measured.explorers[name].html(), lang=lang, theme=theme)
        page.get_by_role("button", name=WORDS[lang]["show"]).click()
        page.evaluate(axe.read_text(encoding="utf-8"))
        violations = page.evaluate("axe.run('.explorer').then(result => result.violations)")
        assert [(violation["id"], violation["nodes"][0]["html"]) for violation in violations] == []
