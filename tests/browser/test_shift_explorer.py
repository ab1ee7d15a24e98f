"""The explorer of shifts without a kernel: every number on the page is the one that the networks give in Python."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
import torch
from plain_page import picture_of, press
from playwright.sync_api import Page, expect

from helpers import load_images, load_model
from helpers.explore import shift_explorer
from helpers.explore.base import module_source
from helpers.metrics.shifts import shift_errors, with_circular_padding

SIZES = {"desktop": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}
EVERY_VIEW = list(itertools.product(("en", "ko"), SIZES))
SHIFTS = [0, 1, 2, 4]
LAYERS = {"ViT": ["patch_embed.proj", "blocks.5"], "<b>wrapped</b>": ["stem.conv", "stages.2.blocks.2"]}
BOTH = {
    "right": ("Right, px", "오른쪽, 픽셀"),
    "down": ("Down, px", "아래쪽, 픽셀"),
    "depth": ("Relative depth", "상대 깊이"),
    "image": ("Image", "이미지"),
    "upper": ("Above", "위"),
    "lattice": ("Error of both networks", "모든 이동에서"),
    "show": ("Show the numbers", "수치 보기"),
}
WORDS = {lang: {key: texts[i] for key, texts in BOTH.items()} for i, lang in enumerate(("en", "ko"))}


@pytest.fixture(scope="module")
def models():
    return {"ViT": load_model("vit_cls"), "<b>wrapped</b>": with_circular_padding(load_model("resnet"))}


@pytest.fixture(scope="module")
def explorer(models):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BOOK_STATIC", "1")
        return shift_explorer(models, load_images(n=2), layers=LAYERS, shifts=SHIFTS)


def numbers_in(text: str) -> list[float]:
    """All numbers of a text, those in names of layers left out."""
    text = re.sub(r"(blocks|stages)[\w.]*", "", text)
    return [float(number.replace("−", "-")) for number in re.findall(r"−?\d+(?:\.\d+)?", text)]


def expected(models, name: str, image: int, layer: int, right: int, down: int) -> tuple[list[float], list[str]]:
    """What the page says about one network: two errors, probability after and before; and the two classes."""
    images = load_images(n=2)
    one = images.tensor[image : image + 1]
    moved = one.roll((down, right), (-2, -1))
    with torch.no_grad():
        after, before = (models[name](x).softmax(1)[0] for x in (moved, one))
    errors = shift_errors(models[name], one, [(right, down)], LAYERS[name])
    classes = [images.classes[int(p.argmax())] for p in (after, before)]
    shares = [100 * p.max().item() for p in (after, before)]
    return [errors.moved[layer, 0, 0], errors.still[layer, 0, 0], *shares], classes


def check(page: Page, models, state: dict, names=tuple(LAYERS)) -> None:
    picture_of(page, 0)
    caption = page.locator(".ex-caption").inner_text()
    values, classes = [state["right"], state["down"]], []
    for name in names:
        found, labels = expected(models, name, **state)
        values += found
        classes += labels
    assert numbers_in(caption) == pytest.approx(values, abs=0.06), caption
    errors = [i for i in range(2, len(values)) if (i - 2) % 4 < 2]
    np.testing.assert_allclose([numbers_in(caption)[i] for i in errors], [values[i] for i in errors], atol=6e-4)
    assert all(label in caption for label in classes)
    row = page.locator(".ex-table tr[aria-current] td").all_inner_texts()
    assert row[:3] == [str(state["right"]), str(state["down"]), names[0]]
    assert [float(cell) for cell in row[4:6]] == pytest.approx(values[2:4], abs=6e-4)
    assert row[6] == classes[0] and numbers_in(row[7])[0] == pytest.approx(values[4], abs=0.06)


@pytest.mark.parametrize(("lang", "size"), EVERY_VIEW)
def test_numbers_follow_every_control(plain, explorer, models, lang, size):
    t, page = WORDS[lang], plain(viewport=SIZES[size]).open(explorer.html(), lang=lang)
    page.get_by_role("button", name=t["show"]).click()
    state = {"image": 0, "layer": 0, "right": 0, "down": 0}
    lattice = page.get_by_role("slider", name=t["lattice"])
    changes = [
        ({}, lambda: None, ()),
        ({"right": 2}, lambda: press(page, t["right"], "ArrowRight", 2), (0, 1)),
        ({"layer": 1}, lambda: press(page, t["depth"], "End"), (0, 1)),
        ({"down": 4}, lambda: press(page, t["down"], "End"), (0, 1)),
        ({"right": 4}, lambda: lattice.press("ArrowRight"), (0, 1)),
        ({"down": 2}, lambda: lattice.press("ArrowUp"), (0, 1)),
        ({"image": 1}, lambda: page.get_by_label(t["image"], exact=True).select_option(index=1), (0, 1, 2)),
    ]
    for change, act, canvases in changes:
        before = [picture_of(page, i) for i in canvases]
        act()
        after = [picture_of(page, i) for i in canvases]
        assert all(old != new for old, new in zip(before, after, strict=True)), f"{change}: a picture did not change"
        state |= change
        check(page, models, state)
    page.get_by_label(t["upper"], exact=True).select_option(index=1)
    check(page, models, state, ("<b>wrapped</b>",))
    assert page.locator(".explorer b").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size]["width"]


def test_the_page_says_which_map_moved_along(plain, explorer):
    page = plain().open(explorer.html())
    caption = page.locator(".ex-caption")
    expect(caption).to_contain_text("Both maps moved along exactly.")
    press(page, "Right, px", "ArrowRight")
    expect(caption).to_contain_text("Only the map of <b>wrapped</b> moved along exactly.")
    press(page, "Relative depth", "End")
    expect(caption).to_contain_text("Neither map moved along exactly.")


def test_a_click_on_either_lattice_moves_the_image(plain, explorer):
    page = plain(viewport=SIZES["desktop"]).open(explorer.html())
    lattice = page.get_by_role("slider", name=WORDS["en"]["lattice"])
    for x, y, text in ((20, 50, "0, 0"), (160, 190, "4, 4"), (200, 50, "0, 0"), (325, 120, "4, 2")):
        lattice.click(position={"x": x, "y": y})
        expect(lattice).to_have_attribute("aria-valuetext", text)


def test_a_share_link_opens_the_same_view(plain, explorer):
    visitor = plain()
    link = "shift.image=1&shift.upper=%3Cb%3Ewrapped%3C%2Fb%3E&shift.lower=ViT&shift.depth=1&shift.right=2&shift.down=4"
    visitor.page.goto(f"{visitor.write(explorer.html())}#{link}")
    caption = visitor.page.locator(".ex-caption")
    expect(caption).to_contain_text("moved 2 px right and 4 px down. <b>wrapped</b>, stages.2.blocks.2")
    visitor.page.get_by_role("button", name="Copy link").click()
    expect(visitor.page.get_by_role("status")).to_have_text(re.compile("link", re.IGNORECASE))
    assert visitor.page.url.split("#")[1] == link


def test_both_languages_have_the_same_strings_and_the_picture_is_saved(plain, explorer):
    source = f'<script type="module">{module_source(explorer.scripts)}\nwindow.js = {{ STRINGS }};</script>'
    page = plain(viewport=SIZES["desktop"]).open(source, explorer.html())
    page.wait_for_function("window.js")
    english, korean = (page.evaluate(f"Object.keys(js.STRINGS.{lang})") for lang in ("en", "ko"))
    assert english == korean
    with page.expect_download() as download:
        page.get_by_role("button", name="Save picture").click()
    assert download.value.suggested_filename == "shift.png"


@pytest.mark.parametrize(("lang", "size"), EVERY_VIEW)
def test_axe_finds_nothing(plain, explorer, axe, lang, size):
    for theme in ("light", "dark"):
        page = plain(viewport=SIZES[size]).open("<h1>ViT</h1>", explorer.html(), lang=lang, theme=theme)
        page.get_by_role("button", name=WORDS[lang]["show"]).click()
        page.evaluate(axe.read_text(encoding="utf-8"))
        violations = page.evaluate("axe.run('.explorer').then(result => result.violations)")
        assert [(violation["id"], violation["nodes"][0]["html"]) for violation in violations] == []
