"""Explorers with full-size networks: other network, photo and preset; what is stored is loaded when it is shown."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from plain_page import picture_of
from playwright.sync_api import Page, expect

from helpers import load_images, load_model
from helpers.explore import attention_explorer, field_explorer, stored
from helpers.explore.packing import part_script

SIZES = {"desktop": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}
EVERY_VIEW = list(itertools.product(("en", "ko"), SIZES))
SMALLEST_TARGET = 19  # px a patch is wide under a finger
WORDS = {
    "en": dict(network="Network", image="Image", beside="untrained", map="map", local="A local head", left="Left",
               whole="A global head", sharpest="The most concentrated patch", query="Query token", cat="cat",
               answer="Egyptian cat", photo="Photo", wide="The widest layer on the left", espresso="espresso"),
    "ko": dict(network="신경망", image="이미지", beside="학습 전", map="지도", local="지역적 헤드", left="왼쪽",
               whole="전역적 헤드", sharpest="한곳만 보는 패치", query="이미지 위의 질의", cat="고양이",
               answer="이집트고양이", photo="사진", wide="왼쪽에서 가장 넓은 층", espresso="에스프레소"),
}


@pytest.fixture
def show(plain, monkeypatch):
    """show(explorer, lang, size) → the page, with the stored parts beside it as a build of the book puts them."""
    monkeypatch.setenv("BOOK_STATIC", "1")

    def start(explorer, lang: str, size: str) -> Page:
        place = plain(viewport=SIZES[size])
        folder = place.folder / "_static" / "explorers"
        folder.mkdir(parents=True)
        for address in filter(lambda part: isinstance(part, str), explorer.parts.values()):
            (folder / f"{address}.js").write_text(part_script(address, stored.part_at(address)), encoding="utf-8")
        page = place.open(explorer.html(), lang=lang)
        expect(page.locator(".ex-caption")).to_contain_text(re.compile(r"\d"))
        return page

    return start


def caption_of(page: Page) -> str:
    expect(page.locator(".ex-presets button").first).to_be_enabled()
    picture_of(page, 0)
    caption = page.locator(".ex-caption")
    expect(caption).not_to_have_text(re.compile("…$"))  # a part is still on its way
    return caption.inner_text()


@pytest.mark.parametrize(("lang", "size"), EVERY_VIEW)
def test_presets_find_what_they_promise(show, lang, size):
    t, about = WORDS[lang], stored.networks()["deit_ti16"]["attention"]
    page = show(attention_explorer(full_size=True, network="deit_ti16", image=2), lang, size)
    reach = np.array(about["distance"])
    for preset, place in ((t["local"], reach.argmin()), (t["whole"], reach.argmax())):
        before = picture_of(page, 0)
        page.get_by_role("button", name=preset).click()
        layer, head = np.unravel_index(place, reach.shape)
        assert re.search(rf"(Block|블록) {layer}, (head|헤드) {head},", caption_of(page))
        assert f"{reach.flat[place]:.1f}" in caption_of(page) and picture_of(page, 0) != before
    page.get_by_role("button", name=t["sharpest"]).click()
    largest = max(map(float, re.findall(r"([\d.]+)\s?%", caption_of(page).split(t["answer"])[0])))
    assert largest > 50  # no patch of a trained network stares harder
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size]["width"]


@pytest.mark.parametrize(("lang", "size"), EVERY_VIEW)
def test_the_reader_changes_network_photo_and_what_stands_beside(show, lang, size):
    t = WORDS[lang]
    lab = attention_explorer(load_model("vit_cls"), load_images(n=2), full_size=True, image=1, query=64)
    page = show(lab, lang, size)
    page.get_by_label(t["network"], exact=True).select_option("ViT-Ti")
    caption = caption_of(page)
    assert "(13, 13)" in caption and "ViT-Ti" in caption  # the query stays at its place, the lower right corner
    page.get_by_label(t["image"], exact=True).select_option(t["cat"])
    assert caption_of(page).count(t["answer"]) == 3  # all three networks agree
    twin = picture_of(page, 1)
    page.get_by_label(t["map"], exact=True).check()
    assert picture_of(page, 1) != twin
    page.get_by_label(t["network"], exact=True).select_option(index=0)
    assert "(7, 7)" in caption_of(page) and t["answer"] not in caption_of(page)
    assert not page.get_by_label(t["beside"], exact=True).is_visible()  # no twin was given


def test_a_phone_shows_the_caption_and_patches_that_a_finger_can_hit(show):
    page = show(attention_explorer(full_size=True, head="local"), "ko", "phone")
    canvas = page.get_by_role("slider", name=WORDS["ko"]["query"])
    caption_of(page)
    box, caption = canvas.bounding_box(), page.locator(".ex-caption").bounding_box()
    assert caption["y"] + 60 < SIZES["phone"]["height"]  # its first lines
    assert box["y"] + box["height"] <= caption["y"] < page.locator("canvas").nth(1).bounding_box()["y"]
    places = set()
    for x in np.arange(box["width"] / 2, box["width"] / 2 + 3 * SMALLEST_TARGET, SMALLEST_TARGET):
        canvas.click(position={"x": float(x), "y": 100})
        row, column = int(100 / box["height"] * 14), int(x / box["width"] * 14)  # from 0; readers may count from 1
        there = re.compile(rf"\(({row}|{row + 1}), ({column}|{column + 1})\)")
        expect(canvas).to_have_attribute("aria-valuetext", there)  # on a busy machine it follows a moment later
        places.add(canvas.get_attribute("aria-valuetext"))
    assert 2 <= len(places) <= 4
    for button in page.locator(".explorer button:visible").all():
        assert button.bounding_box()["height"] >= SMALLEST_TARGET


@pytest.mark.parametrize(("lang", "size"), EVERY_VIEW)
def test_fields_lie_over_the_photo_that_the_reader_chooses(show, lang, size):
    t = WORDS[lang]
    page = show(field_explorer(full_size=True, left="vit_ti16", right="resnet50_v1"), lang, size)
    before = [picture_of(page, i) for i in range(2)]
    page.get_by_label(t["photo"], exact=True).select_option(t["espresso"])
    expect(page.locator(".ex-presets button").first).to_be_enabled()
    assert all(picture_of(page, i) != before[i] for i in range(2))
    page.get_by_role("button", name=t["wide"]).click()
    layers = stored.part_at(stored.address_of("field.vit_ti16"))["after"]
    widest = max(layer["half"] for layer in layers)
    assert f"{widest:.1f}" in caption_of(page)
    page.get_by_label(t["left"], exact=True).select_option(index=3)
    assert caption_of(page).startswith(("untrained ViT-Ti", "학습하지 않은 ViT-Ti"))
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size]["width"]


def test_only_what_is_shown_is_loaded(show):
    page = show(attention_explorer(full_size=True, image=2), "en", "desktop")
    names = "Object.keys(globalThis.explorerParts).map(name => name.split('.').slice(0, -1).join('.'))"
    loaded = lambda: page.evaluate(names)
    shown = {"photo.chelsea", "attention.vit_ti16.chelsea", "attention.vit_ti16_untrained.chelsea"}
    assert set(loaded()) == shown
    page.get_by_label("Network", exact=True).select_option("DeiT-Ti")
    caption_of(page)
    assert set(loaded()) == shown | {"attention.deit_ti16.chelsea"}


def test_a_link_opens_the_same_photo_network_and_twin(show):
    page = show(attention_explorer(full_size=True, image=2), "en", "desktop")
    page.get_by_label("Network", exact=True).select_option("DeiT-Ti")
    page.get_by_label("Image", exact=True).select_option("pavilion")
    page.get_by_role("button", name="A global head").click()
    said = caption_of(page)
    page.get_by_role("button", name="Copy link").click()
    again = page.context.new_page()
    again.goto(page.url)
    expect(again.locator(".ex-caption")).to_have_text(said)
    assert "DeiT-Ti" in said and "network=deit_ti16" in page.url and "image=3" in page.url
