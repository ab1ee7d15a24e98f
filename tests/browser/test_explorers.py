"""Explorers without a kernel: in a plain page made by Python, and on the built chapter page."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path

import numpy as np
import pytest
from cka_bias_reference import both_cka, reference_cka, reference_sample, shown
from PIL import Image
from plain_page import picture_of, press
from playwright.sync_api import expect

from helpers.explore.base import module_source
from helpers.explore.cka_bias import CkaBias
from helpers.explore.packing import pack, script_json

ROOT = Path(__file__).resolve().parents[2]
SIZES = {"desktop": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}
EXPOSE = "window.js = { samplePath, randomRow, expectedBiased, STRINGS, WORDS, make, unpack, fixed, colour };"

# --- a plain page -----------------------------------------------------------------------------------------------------


@pytest.fixture
def js(plain):
    """js(expression, argument): evaluates with the module's functions in `window.js`."""
    page = plain().open(f'<script type="module">{module_source(CkaBias.scripts)}\n{EXPOSE}</script>')
    page.wait_for_function("window.js")
    return page.evaluate


# --- numbers ----------------------------------------------------------------------------------------------------------


def test_the_page_computes_what_the_definitions_give(js):
    sizes = [8, 9, 16, 40]
    for p, signal, seed in [(1, 0.0, 0), (5, 0.3, 1), (60, 0.0, 2), (200, 0.7, 3), (4096, 0.05, 9)]:
        values = js(
            """([p, signal, seed, sizes]) => {
                const path = js.samplePath({ p, signal, seed });
                while (path.reached < Math.max(...sizes)) path.work.next();
                return sizes.map(n => [path.biased[n], path.unbiased[n]]);
            }""",
            [p, signal, seed, sizes],
        )
        x, y = reference_sample(max(sizes), p, signal, seed)
        expected = [both_cka(x[:n], y[:n]) for n in sizes]
        np.testing.assert_allclose(values, expected, rtol=1e-8, atol=1e-10, err_msg=f"{p=} {signal=} {seed=}")


@pytest.mark.parametrize(("n", "p", "signal"), [(16, 3, 0.0), (16, 64, 0.0), (24, 24, 0.5), (12, 200, 0.2)])
def test_its_samples_are_distributed_like_plain_gaussian_ones(js, n, p, signal):
    runs, rng = 400, np.random.default_rng(0)
    drawn = js(
        """([n, p, signal, runs]) => Array.from({ length: runs }, (_, seed) => {
            const path = js.samplePath({ p, signal, seed });
            while (path.reached < n) path.work.next();
            return [path.biased[n], path.unbiased[n]];
        })""",
        [n, p, signal, runs],
    )
    plain_values = []
    for _ in range(runs):
        x, z = rng.standard_normal((2, n, p))
        plain_values.append(both_cka(x, np.sqrt(signal) * x + np.sqrt(1 - signal) * z))
    drawn, plain_values = np.array(drawn), np.array(plain_values)
    error = np.sqrt((drawn.var(0) + plain_values.var(0)) / runs)
    assert (np.abs(drawn.mean(0) - plain_values.mean(0)) < 4 * error).all()
    np.testing.assert_allclose(drawn.std(0), plain_values.std(0), rtol=0.25)


@pytest.mark.parametrize(("n", "p", "signal"), [(128, 64, 0.0), (128, 1024, 0.0), (256, 256, 0.0), (96, 300, 0.4)])
def test_the_expected_curve_is_where_samples_lie(js, n, p, signal):
    rng = np.random.default_rng(1)
    samples = []
    for _ in range(10):
        x, z = rng.standard_normal((2, n, p))
        samples.append(both_cka(x, np.sqrt(signal) * x + np.sqrt(1 - signal) * z)[0])
    assert js("([n, p, s]) => js.expectedBiased(n, p, s)", [n, p, signal]) == pytest.approx(np.mean(samples), abs=0.01)


def test_the_same_seed_gives_the_same_numbers_and_another_seed_others(js):
    draw = "seed => { const r = js.randomRow(seed, 3); return [r.normal(), r.normal(), r.chi(9)]; }"
    assert js(draw, 5) == js(draw, 5) != js(draw, 6)


# --- shared tools -----------------------------------------------------------------------------------------------------


def test_both_languages_have_the_same_strings(js):
    for strings in ("STRINGS", "WORDS"):
        english, korean = (js(f"() => Object.keys(js.{strings}.{lang})") for lang in ("en", "ko"))
        assert english == korean


def test_text_is_never_read_as_html(js):
    assert js("() => js.make('td', {}, '<img src=x onerror=alert(1)>').children.length") == 0


@pytest.mark.parametrize("data", ["v.data", "new DataView(Uint8Array.from(atob(v.data), c => c.charCodeAt(0)).buffer)"])
@pytest.mark.parametrize("largest, digits, size", [(4, None, 1), (4, 3, 2), (1e5, 3, 4)])
def test_packed_arrays_are_unpacked_in_a_page_and_live(js, data, largest, digits, size):
    values = np.linspace(-1, largest, 12).reshape(3, 4)
    packed = json.loads(script_json(pack(values, digits=digits)))
    assert packed["bytes"] == size
    shape, got = js(
        f"""v => {{
            const array = js.unpack({{ ...v, data: {data} }});
            return [array.shape, Array.from({{ length: 12 }}, (_, i) => array.at(i))];
        }}""",
        packed,
    )
    assert shape == [3, 4]
    np.testing.assert_allclose(got, values.ravel(), atol=packed["step"] / 2 + 1e-12)


def test_numbers_are_written_with_a_true_minus_and_no_negative_zero(js):
    assert [js("v => js.fixed(v)", v) for v in (-0.25, -0.0001, 0.5)] == ["−0.250", "0.000", "0.500"]


def test_numbers_are_rounded_as_python_rounds_them(js):
    halves, random = [k / 64 for k in range(300)] + [k / 2000 for k in range(300)], np.random.default_rng(0).random(300)
    values = [*halves, *random.tolist()]
    for digits in (0, 1, 2, 3):
        written = js("([values, digits]) => values.map(v => js.fixed(v, digits))", [values, digits])
        assert written == [f"{value:.{digits}f}" for value in values]


def test_the_colour_scale_gets_steadily_brighter(js):
    colours = [[int(c) for c in re.findall(r"\d+", js("v => js.colour(v)", v))] for v in np.linspace(0, 1, 33)]
    brightness = np.array(colours) @ [0.2126, 0.7152, 0.0722]
    assert (np.diff(brightness) > 0).all()


# --- the explorer in a page -------------------------------------------------------------------------------------------

TEXTS = {
    "en": {
        "n": "Examples n",
        "p": "Features p",
        "s": "Shared signal s",
        "show": "Show the numbers",
        "again": "New sample",
        "caption": "n = {n} examples, p = {p} features, true CKA {s:.2f}",
    },
    "ko": {
        "n": "표본 수 n",
        "p": "특징 수 p",
        "s": "공유 신호 s",
        "show": "수치 보기",
        "again": "새로 뽑기",
        "caption": "표본 n = {n}개, 특징 p = {p}개, 참 CKA {s:.2f}",
    },
}


def check_numbers(page, lang: str, n: int, p: int, signal: float = 0.0, seed: int = 0) -> None:
    """Caption and, if open, table say what Python computes."""
    biased, unbiased = (shown(value) for value in reference_cka(n, p, signal, seed))
    caption = page.locator(".ex-caption")
    expect(caption).to_contain_text(TEXTS[lang]["caption"].format(n=n, p=p, s=signal))
    expect(caption).to_contain_text(f": {biased} (")
    expect(caption).to_contain_text(f": {unbiased}.")
    row = page.locator(".ex-table tr[aria-current]")
    if row.count():
        expected = shown(signal + (1 - signal) * p / (n + p))
        expect(row.locator("td")).to_have_text([str(n), biased, expected, unbiased, shown(signal)])


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("lang", TEXTS)
def test_moving_changes_picture_caption_and_table(plain, lang, size):
    t, page = TEXTS[lang], plain(viewport=SIZES[size]).open(CkaBias().html(), lang=lang)
    check_numbers(page, lang, 128, 1024)
    page.get_by_role("button", name=t["show"]).click()
    check_numbers(page, lang, 128, 1024)
    moves = [
        (lambda: press(page, t["n"], "ArrowLeft", 8), (32, 1024, 0.0, 0)),
        (lambda: press(page, t["p"], "Home"), (32, 1, 0.0, 0)),
        (lambda: press(page, t["p"], "ArrowRight", 7), (32, 8, 0.0, 0)),
        (lambda: press(page, t["s"], "ArrowUp", 10), (32, 8, 0.5, 0)),
        (lambda: page.get_by_role("button", name=t["again"]).click(), (32, 8, 0.5, 1)),
    ]
    for move, state in moves:
        before = [picture_of(page, index) for index in range(2)]
        move()
        check_numbers(page, lang, *state)
        after = [picture_of(page, index) for index in range(2)]
        assert all(old != new for old, new in zip(before, after, strict=True)), f"{state}: a picture did not change"
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size]["width"]


def test_the_whole_curve_is_computed_without_waiting_for_the_reader(plain):
    page = plain().open(CkaBias(p=64).html())
    page.get_by_role("button", name="Show the numbers").click()
    last = page.locator(".ex-table tbody tr").last.locator("td")
    expect(last.nth(1)).to_have_text(re.compile(r"^0\.0[56]\d$"))  # 64 / (1024 + 64) = 0.059
    expect(last.nth(3)).to_have_text(re.compile(r"^−?0\.0[01]\d$"))


def test_the_map_is_moved_by_keys_and_by_pointer(plain):
    page = plain(viewport=SIZES["desktop"]).open(CkaBias().html())
    point = page.get_by_role("slider", name="Expected excess of the biased CKA")
    point.press("ArrowLeft")
    point.press("ArrowDown")
    check_numbers(page, "en", 108, 861)
    expect(point).to_have_attribute("aria-valuetext", "n = 108, p = 861")
    box = point.bounding_box()
    point.click(position={"x": 41, "y": box["height"] - 105})  # the lower left corner of the map
    check_numbers(page, "en", 8, 1)


def test_a_share_link_opens_the_same_view(plain):
    visitor = plain()
    page = visitor.open(CkaBias().html(), lang="ko")
    visitor.context.grant_permissions(["clipboard-read", "clipboard-write"])
    press(page, "표본 수 n", "ArrowLeft", 8)
    press(page, "공유 신호 s", "ArrowRight", 3)
    page.get_by_role("button", name="링크 복사").click()
    expect(page.get_by_role("status")).to_have_text(re.compile("링크"))
    assert page.url.endswith("#cka_bias.n=32&cka_bias.p=1024&cka_bias.signal=0.15&cka_bias.seed=0")
    other = visitor.context.new_page()
    other.goto(page.url)
    check_numbers(other, "ko", 32, 1024, 0.15)


def test_links_reach_only_the_explorer_they_name_and_ignore_nonsense(plain):
    visitor = plain()
    address = visitor.write(CkaBias(n=16).html(), CkaBias(n=32).html())
    captions = visitor.page.locator(".ex-caption")
    for link, n in [
        ("#cka_bias-2.n=64", (16, 64)),
        ("#cka_bias.n=99999&cka_bias-2.n=%3Cb%3E", (1024, 64)),
        ("#cka_bias.n=&cka_bias-2.unknown=3", (1024, 64)),
        ("#a-section", (1024, 64)),
    ]:
        visitor.page.goto(address + link)
        for index in range(2):
            expect(captions.nth(index)).to_contain_text(f"n = {n[index]} examples")


def test_the_saved_picture_is_a_png_of_the_whole_view(plain, tmp_path):
    page = plain(viewport=SIZES["desktop"]).open(CkaBias().html())
    with page.expect_download() as download:
        page.get_by_role("button", name="Save picture").click()
    assert download.value.suggested_filename == "cka_bias.png"
    download.value.save_as(tmp_path / "saved.png")
    image = Image.open(tmp_path / "saved.png").convert("RGB")
    width = page.locator(".ex-panels").evaluate("frame => frame.clientWidth")
    assert image.width == 2 * (width + 48)
    present = {colour for _, colour in image.getcolors(maxcolors=2**24)}
    assert {(255, 255, 255), (200, 80, 30), (31, 111, 178)} <= present  # paper, biased and unbiased


def test_the_theme_of_the_page_is_followed(plain):
    page = plain().open(CkaBias().html())
    light = picture_of(page, 0)
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert picture_of(page, 0) != light
    assert page.locator(".explorer").evaluate("e => getComputedStyle(e).backgroundColor") == "rgb(25, 29, 36)"


def test_without_a_theme_the_preference_of_the_system_counts(plain):
    visitor = plain(color_scheme="dark")
    page = visitor.open(CkaBias().html())
    paper = "getComputedStyle(document.querySelector('.explorer')).backgroundColor"
    assert page.evaluate(paper) == "rgb(255, 255, 255)"
    page.evaluate("delete document.documentElement.dataset.theme")
    assert page.evaluate(paper) == "rgb(25, 29, 36)"


@pytest.mark.parametrize(("live_view", "explorers"), [("", 1), ('<div data-live="here"></div>', 0)])
def test_a_waiting_page_form_draws_only_if_no_live_view_is_there(plain, live_view, explorers):
    visitor = plain()
    visitor.page.clock.install(time=0)
    visitor.page.clock.pause_at(1000)  # from here on time passes only when it is told to
    page = visitor.open(live_view, CkaBias().html("here", host="notebook", wait=200))
    page.clock.run_for(199)
    assert page.locator(".explorer").count() == 0
    page.clock.run_for(1)
    assert page.locator(".explorer").count() == explorers


# --- accessibility ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("lang", "theme", "size"), list(itertools.product(TEXTS, ("light", "dark"), SIZES)))
def test_axe_finds_nothing(plain, axe, lang, theme, size):
    page = plain(viewport=SIZES[size]).open("<h1>CKA</h1>", CkaBias().html(), lang=lang, theme=theme)
    page.get_by_role("button", name=TEXTS[lang]["show"]).click()
    page.evaluate(axe.read_text(encoding="utf-8"))
    violations = page.evaluate("axe.run('.explorer').then(result => result.violations)")
    assert [(violation["id"], violation["nodes"][0]["html"]) for violation in violations] == []


# --- the chapter ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("lang", TEXTS)
def test_the_chapter_has_a_working_explorer(visit, site, address, lang, size):
    chapters = sorted((site / lang).rglob("17_cka.html"))
    assert chapters, f"_site/{lang} has no page 17_cka.html"
    visitor = visit(viewport=SIZES[size])
    page = visitor.open(f"{address}/{chapters[0].relative_to(site).as_posix()}#cka_bias.n=32&cka_bias.p=64")
    check_numbers(page, lang, 32, 64)
    press(page, TEXTS[lang]["n"], "ArrowRight", 4)
    check_numbers(page, lang, 64, 64)
    assert visitor.troubles == []
