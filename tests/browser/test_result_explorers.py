"""Explorers of CKA, skips and scale in a page without a kernel: what the reader sees is what Python measured."""

from __future__ import annotations

import itertools
import json
import re
from urllib.parse import urlencode

import numpy as np
import pytest
from cka_bias_reference import shown
from layer_words import in_words
from plain_page import picture_of
from playwright.sync_api import expect

from helpers import CKA, attention_distance, cka, norm_ratio, without_skip
from helpers.explore import cka_explorer, scale_explorer, skip_explorer
from helpers.explore.base import module_source

SIZES = {"desktop": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}
LANGUAGES = ("en", "ko")
SHOW, SAVE, LINK = {"en": "Show the numbers", "ko": "수치 보기"}, {"en": "Save picture", "ko": "그림 저장"}, "Copy link"
QUIET = {"progress": False, "batch_size": 12}


@pytest.fixture(autouse=True)
def book_build(monkeypatch):
    monkeypatch.setenv("BOOK_STATIC", "1")


@pytest.fixture
def maps(vit, resnet, images):
    """A pair of models with blocks and all taps, and one that is constant in a layer."""
    pair = cka(vit, images, resnet, **QUIET)
    every = cka(vit, images, resnet, layers="all", other_layers="all", **QUIET)
    matrix = pair.within.copy()
    matrix[1, :] = matrix[:, 1] = np.nan
    return {"pair": pair, "every": every, "constant": CKA(matrix, pair.layers, 24, 12)}


def cka_page(maps, **state) -> str:
    names = {"constant": {"en": "<b>constant</b>", "ko": "<b>상수</b>"}}
    results = {"ViT × ResNet": maps["pair"], "constant": maps["constant"]}
    return cka_explorer(results, {"ViT × ResNet": maps["every"]}, names=names, **state).html()


@pytest.fixture
def skip_page(vit, resnet, images):
    ratios = {"ViT": norm_ratio(vit, images, progress=False), "ResNet": norm_ratio(resnet, images, progress=False)}
    cut = {block: (cka(without_skip(vit, block), images, **QUIET), 0.5 + block / 16) for block in (0, 1, 2)}
    explorer = skip_explorer(ratios, (cka(vit, images, **QUIET), 0.75), {1: cut[1]}, cut)
    return ratios, cut, explorer.html()


@pytest.fixture
def scale_page(vit, images):
    full, other = (attention_distance(model, images, progress=False) for model in (vit, without_skip(vit, 0)))
    line = cka(vit, images, without_skip(vit, 0), **QUIET)
    models = {
        "ViT": {0.03: (line, other, 0.4125), 0.1: ([0.5, 0.25, -0.125], other, 0.5), 1.0: (None, full, 0.75)},
        "ResNet": {0.03: ([0.75, 0.5], None, 0.3), 1.0: (None, None, 0.8)},
    }
    return models, scale_explorer(models).html()


def caption_of(page):
    return page.locator(".ex-caption")


def changed(page, canvases: int, act) -> list[bool]:
    """Which pictures another state has changed."""
    before = [picture_of(page, i) for i in range(canvases)]
    act()
    return [picture_of(page, i) != old for i, old in enumerate(before)]


def centre(canvas, columns: int, rows: int, column: int, row: int, box) -> dict:
    """Point in the middle of a cell; box(width, height) → x, y, width, height of the grid, row 0 at the bottom."""
    size = canvas.bounding_box()
    x, y, width, height = box(size["width"], size["height"])
    return {"x": x + width * (column + 0.5) / columns, "y": y + height * (rows - row - 0.5) / rows}


MAP_BOX = lambda width, height: (34, 30, width - 48, height - 138)  # as in cka_map.js


# --- cka --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("lang", "size"), list(itertools.product(LANGUAGES, SIZES)))
def test_cka_cells_read_as_python_measured_them(plain, maps, lang, size):
    pair, page = maps["pair"], plain(viewport=SIZES[size]).open(cka_page(maps, row=1, column=2), lang=lang)
    value = lambda row, column: f"CKA {shown(pair.cross[column, row])}."
    expect(caption_of(page)).to_contain_text(value(1, 2))
    page.get_by_role("button", name=SHOW[lang]).click()
    grid = page.get_by_role("slider").first
    assert changed(page, 2, lambda: grid.press("ArrowUp")) == [True, True]
    expect(caption_of(page)).to_contain_text(value(2, 2))
    expect(caption_of(page)).to_contain_text(in_words(pair.other_layers[2], lang))
    grid.press("ArrowLeft")
    expect(grid).to_have_attribute("aria-valuetext", re.compile(re.escape(value(2, 1)) + "$"))
    names = [in_words(name, lang) for name in pair.layers]
    line = [f"{name}\t{shown(value)}" for name, value in zip(names, pair.cross[:, 2], strict=True)]
    assert page.locator(".ex-table tbody tr").all_inner_texts() == line
    expect(page.locator(".ex-table tr[aria-current] td").first).to_have_text(names[1])
    grid.click(position=centre(grid, 3, 4, 0, 3, MAP_BOX))
    expect(caption_of(page)).to_contain_text(value(3, 0))
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size]["width"]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_cka_presets_find_the_cells_that_surprise(plain, maps, lang):
    pair, page = maps["pair"], plain().open(cka_page(maps, row=1, column=2), lang=lang)
    values = pair.cross.T  # [rows, columns]
    rows, columns = (np.linspace(0, 1, n) for n in values.shape)
    apart = np.abs(rows[:, None] - columns)
    for place, surprise in enumerate((apart * values, 1 - apart - values)):
        page.locator(".ex-presets button").nth(place).click()
        row, column = np.unravel_index(surprise.argmax(), surprise.shape)
        expect(caption_of(page)).to_contain_text(f"CKA {shown(values[row, column])}.")
        expect(caption_of(page)).to_contain_text(in_words(pair.layers[column], lang))


def test_cka_hover_tells_without_choosing(plain, maps):
    page = plain(viewport=SIZES["desktop"]).open(cka_page(maps, row=1, column=2))
    chosen, grid = caption_of(page).inner_text(), page.get_by_role("slider").first
    grid.hover(position=centre(grid, 3, 4, 1, 3, MAP_BOX))
    wanted = f"ViT block 1 and ResNet stage 3, block 0: CKA {shown(maps['pair'].cross[1, 3])}."
    expect(caption_of(page)).to_contain_text(f"Under the pointer: {wanted}")
    page.mouse.move(2, 2)
    expect(caption_of(page)).to_have_text(chosen)


def test_cka_pairs_and_taps_are_chosen_and_data_is_text(plain, maps):
    page = plain().open(cka_page(maps, row=3))
    page.get_by_label("Models").select_option("<b>constant</b>")
    expect(caption_of(page)).to_contain_text("<b>constant</b> block 0 and <b>constant</b> block 2: CKA")
    page.get_by_role("slider").first.press("ArrowDown")
    expect(caption_of(page)).to_contain_text("CKA undefined. block 1 gives the same for every image")
    page.get_by_role("radio", name="all taps").check()
    expect(page.get_by_label("Models").locator("option")).to_have_text(["ViT × ResNet", "ViT", "ResNet"])
    every = maps["every"]
    below = in_words(every.other_layers[1], "en")
    expect(caption_of(page)).to_contain_text(f"{below}: CKA {shown(every.cross[0, 1])}.")
    page.get_by_role("radio", name="all taps").press("ArrowLeft")
    expect(page.get_by_role("radio", name="blocks")).to_be_checked()


def test_cka_link_opens_the_view_and_refuses_nonsense(plain, maps):
    visitor = plain()
    address = visitor.write(cka_page(maps))
    view = {"cka.taps": "all", "cka.pair": "ViT × ResNet", "cka.row": 5, "cka.column": 3}
    visitor.page.goto(f"{address}#{urlencode(view)}")
    every = maps["every"]
    column, row = in_words(every.layers[3], "en"), in_words(every.other_layers[5], "en")
    wanted = f"ViT {column} and ResNet {row}: CKA {shown(every.cross[3, 5])}."
    expect(caption_of(visitor.page)).to_contain_text(wanted)
    visitor.page.get_by_role("button", name=LINK).click()
    other = visitor.context.new_page()
    other.goto(visitor.page.url)
    expect(caption_of(other)).to_contain_text(wanted)
    other.evaluate("location.hash = 'cka.pair=unknown&cka.taps=%3Cb%3E&cka.row=999&cka.column=-1'")
    expect(caption_of(other)).to_contain_text(wanted)


# --- skip -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("lang", "size"), list(itertools.product(LANGUAGES, SIZES)))
def test_skip_reads_ratios_accuracy_and_maps(plain, skip_page, lang, size):
    ratios, cut, html = skip_page
    page = plain(viewport=SIZES[size]).open(html, lang=lang)
    ratio = lambda values, block: f" {values[block]:.2f}"
    expect(caption_of(page)).to_contain_text(ratio(ratios["ViT"].attn[:, 0], 0))
    chart = page.get_by_role("slider").nth(1)  # after the slider of the block
    chart.press("ArrowRight")
    for values in (ratios["ViT"].attn[:, 0], ratios["ViT"].attn[:, 1:].mean(1), ratios["ResNet"].blocks):
        expect(caption_of(page)).to_contain_text(ratio(values, 1))
    page.get_by_role("radio").nth(1).check()  # the MLP branch
    expect(caption_of(page)).to_contain_text(ratio(ratios["ViT"].mlp[:, 0], 1))
    page.get_by_role("radio").nth(3).check()  # cut after training: three blocks
    block = page.get_by_label({"en": "Block without skip", "ko": "스킵 없는 블록"}[lang])
    expect(page.locator("canvas:visible")).to_have_count(2)
    block.press("End")
    expect(page.locator("canvas:visible")).to_have_count(3)
    expect(caption_of(page)).to_contain_text("62.5%")
    expect(caption_of(page)).to_contain_text("75.0%")
    expect(caption_of(page)).to_contain_text(shown(cut[2][0].within[2, 0]))
    assert changed(page, 3, lambda: block.press("ArrowLeft")) == [True, False, True]
    expect(caption_of(page)).to_contain_text(shown(cut[1][0].within[2, 0]))
    page.get_by_role("button", name=SHOW[lang]).click()
    mlp = ratios["ViT"].mlp
    expected = ["1", f"{mlp[1, 0]:.2f}", f"{mlp[1, 1:].mean():.2f}", f"{ratios['ResNet'].blocks[1]:.2f}", "56.2%"]
    expect(page.locator(".ex-table tr[aria-current] td")).to_have_text(expected)
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size]["width"]


def test_skip_hover_and_link(plain, skip_page):
    ratios, _, html = skip_page
    visitor = plain(viewport=SIZES["desktop"])
    page = visitor.page
    page.goto(visitor.write(html) + "#skip.variant=trained&skip.block=2&skip.branch=mlp&skip.column=1")
    expect(caption_of(page)).to_contain_text("Without the skip of block 1 accuracy is 56.2%")  # the nearest trained one
    chart = page.get_by_role("slider").nth(1)
    size = chart.bounding_box()
    chart.hover(position={"x": 40 + (size["width"] - 52) * 2.5 / 4, "y": 150})
    expect(caption_of(page)).to_contain_text(f"Block 2: ViT · class token {ratios['ViT'].mlp[2, 0]:.2f}")
    expect(chart).to_have_attribute("aria-valuenow", "0")


def test_skip_without_other_networks_shows_the_intact_one(plain, vit, images):
    html = skip_explorer({"ViT": norm_ratio(vit, images, progress=False)}, (cka(vit, images, **QUIET), 0.75)).html()
    page = plain().open(html)
    expect(caption_of(page)).to_contain_text("accuracy 75.0%.")
    expect(page.locator(".ex-control:visible")).to_have_count(1)  # the branch: there is no block to choose
    page.get_by_role("button", name=SHOW["en"]).click()
    expect(page.locator(".ex-table th")).to_have_text(["block", "ViT · class token", "ViT · spatial tokens"])


# --- scale ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("lang", "size"), list(itertools.product(LANGUAGES, SIZES)))
def test_scale_reads_lines_and_dots(plain, scale_page, lang, size):
    models, html = scale_page
    page = plain(viewport=SIZES[size]).open(html, lang=lang)
    line, heads, _ = models["ViT"][0.03]
    expect(caption_of(page)).to_contain_text(f"CKA {shown(line.cross[0, 0])}")
    expect(caption_of(page)).to_contain_text(f"{41.25:.1f}%")
    page.get_by_role("button", name=SHOW[lang]).click()
    page.get_by_role("slider").nth(1).press("ArrowRight")
    expect(caption_of(page)).to_contain_text(f"CKA {shown(line.cross[1, 1])}")
    for end in (heads.pixels[1].min(), heads.pixels[1].max(), heads.uniform):
        expect(caption_of(page)).to_contain_text(f"{end:.2f}")
    row = ["blocks.1", shown(line.cross[1, 1]), f"{heads.pixels[1].min():.2f}", f"{heads.pixels[1].max():.2f}"]
    expect(page.locator(".ex-table tr[aria-current] td")).to_have_text(row)
    fraction = page.get_by_label({"en": "Part of the data", "ko": "데이터 비율"}[lang], exact=True)
    assert changed(page, 2, lambda: fraction.press("ArrowRight")) == [True, True]
    expect(fraction).to_have_attribute("aria-valuetext", "10%")
    expect(caption_of(page)).to_contain_text("CKA 0.250")
    expect(caption_of(page)).to_contain_text("−0.125")
    fraction.press("End")
    expect(caption_of(page)).to_contain_text("75.0%")
    page.get_by_label({"en": "Model", "ko": "모델"}[lang], exact=True).select_option("ResNet")
    expect(page.locator("canvas:visible")).to_have_count(1)
    fraction.press("Home")
    expect(caption_of(page)).to_contain_text("CKA 0.500")
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size]["width"]


def test_scale_link_snaps_to_a_fraction_that_exists(plain, scale_page):
    visitor = plain()
    visitor.page.goto(visitor.write(scale_page[1]) + "#scale.model=ViT&scale.fraction=0.12&scale.layer=2")
    expect(caption_of(visitor.page)).to_contain_text("ViT trained on 10% of the data")
    expect(caption_of(visitor.page)).to_contain_text("CKA −0.125")


# --- all three --------------------------------------------------------------------------------------------------------


@pytest.fixture
def pages(maps, skip_page, scale_page):
    return {"cka": cka_page(maps), "skip": skip_page[2], "scale": scale_page[1]}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_axe_finds_nothing(plain, axe, pages, lang):
    for theme, (name, size) in itertools.product(("light", "dark"), SIZES.items()):
        page = plain(viewport=size).open("<h1>Explorers</h1>", *pages.values(), lang=lang, theme=theme)
        for _ in pages:
            page.get_by_role("button", name=SHOW[lang]).first.click()
        page.evaluate(axe.read_text(encoding="utf-8"))
        violations = page.evaluate("axe.run('.explorer').then(result => result.violations)")
        assert [(v["id"], v["nodes"][0]["html"]) for v in violations] == [], (theme, name)


def test_pictures_can_be_saved_and_follow_the_theme(plain, pages):
    for name, html in pages.items():
        page = plain(viewport=SIZES["desktop"]).open(html)
        light = picture_of(page, 0)
        page.evaluate("document.documentElement.dataset.theme = 'dark'")
        assert picture_of(page, 0) != light, name
        with page.expect_download() as download:
            page.get_by_role("button", name=SAVE["en"]).click()
        assert download.value.suggested_filename == f"{name}.png"


@pytest.mark.parametrize("script", ["cka.js", "skip.js", "scale.js"])
def test_both_languages_have_the_same_strings(plain, script):
    keys = "window.keys = ['en', 'ko'].map(lang => Object.keys(STRINGS[lang]));"
    page = plain().open(f'<script type="module">{module_source(("cka_map.js", script))}\n{keys}</script>')
    page.wait_for_function("window.keys")
    english, korean = json.loads(page.evaluate("JSON.stringify(window.keys)"))
    assert english == korean
