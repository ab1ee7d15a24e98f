"""The explorer of self-attention without a kernel: what the page computes is what numpy computes."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from plain_page import picture_of, press
from playwright.sync_api import Page, expect

from helpers.explore.base import module_source
from helpers.explore.qkv import TOKENS, W_K, W_Q, W_V, Qkv

SIZES = {"desktop": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}
EVERY_VIEW = list(itertools.product(("en", "ko"), SIZES))
WORDS = {
    "en": {
        "show": "Show the numbers",
        "tokens": "Tokens x, row {}, column {}",
        "w_k": "W_k, row {}, column {}",
        "steps": ["q,\u00a0k,\u00a0v", "scores", "softmax", "mix"],
        "no": "no",
        "matrices": "Matrices of this step",
    },
    "ko": {
        "show": "수치 보기",
        "tokens": "토큰 x, {}행 {}열",
        "w_k": "W_k, {}행 {}열",
        "steps": ["q,\u00a0k,\u00a0v", "점수", "소프트맥스", "섞기"],
        "no": "아니요",
        "matrices": "이 단계의 행렬들",
    },
}
EXPOSE = "window.js = { attentionSteps, entropyOf, STRINGS };"


def reference(tokens, w_q, w_k, w_v, scaled: bool = True) -> dict[str, np.ndarray]:
    """Self-attention as numpy computes it."""
    q, k, v = (np.asarray(tokens, float) @ np.asarray(w, float) for w in (w_q, w_k, w_v))
    products = q @ k.T
    scores = products / np.sqrt(q.shape[1]) if scaled else products
    powers = np.exp(scores - scores.max(1, keepdims=True))
    weights = powers / powers.sum(1, keepdims=True)
    return {"q": q, "k": k, "v": v, "products": products, "scores": scores, "weights": weights, "mixed": weights @ v}


@pytest.fixture
def js(plain):
    page = plain().open(f'<script type="module">{module_source(Qkv.scripts)}\n{EXPOSE}</script>')
    page.wait_for_function("window.js")
    return page.evaluate


@pytest.mark.parametrize("scaled", [True, False])
def test_every_step_is_that_of_numpy(js, scaled):
    rng = np.random.default_rng(0)
    for n in (2, 3, 5):
        for size in (0.3, 3, 60):  # the last one would overflow a naive softmax
            tokens, *matrices = (size * rng.standard_normal((rows, 2)) for rows in (n, 2, 2, 2))
            tables = [table.tolist() for table in (tokens, *matrices)]
            given = dict(zip(("tokens", "wq", "wk", "wv"), tables, strict=True)) | {"scaled": scaled}
            found = js("given => js.attentionSteps(given)", given)
            for name, expected in reference(tokens, *matrices, scaled).items():
                np.testing.assert_allclose(found[name], expected, rtol=1e-9, atol=1e-12, err_msg=f"{name} {n=} {size=}")
            for row in found["weights"]:
                entropy = -sum(w * np.log(w) for w in row if w > 0)
                assert js("row => js.entropyOf(row)", row) == pytest.approx(entropy, abs=1e-12)


def test_both_languages_have_the_same_strings(js):
    english, korean = (js(f"() => Object.keys(js.STRINGS.{lang})") for lang in ("en", "ko"))
    assert english == korean


# --- in a page --------------------------------------------------------------------------------------------------------


def numbers_in(text: str) -> list[float]:
    text = text.replace("√2", "")
    return [float(number.replace("−", "-")) for number in re.findall(r"−?\d+(?:\.\d+)?", text)]


def check(page: Page, state: dict, step: str, query: int, scaled: bool = True) -> None:
    """Caption and table say what numpy computes."""
    picture_of(page, 0)
    r = reference(**state, scaled=scaled)
    i, n = query, len(state["tokens"])
    entropy = -(r["weights"][i] * np.log(r["weights"][i])).sum()
    expected = {
        "qkv": [i + 1, *r["q"][i], *r["k"][i], *r["v"][i]],
        "scores": [i + 1, *r["products"][i], *(r["scores"][i] if scaled else ())],
        "softmax": [*r["scores"][i], *r["weights"][i], 1],
        "mix": [*r["weights"][i], *r["mixed"][i]],
    }[step]
    caption = page.locator(".ex-caption").inner_text()
    assert numbers_in(caption)[: len(expected)] == pytest.approx(expected, abs=0.0051), caption
    if step == "softmax":
        assert sorted(numbers_in(caption)[len(expected) :]) == pytest.approx(sorted([entropy, np.log(n)]), abs=0.0051)
    row = page.locator(".ex-table tr[aria-current] td").all_inner_texts()
    values = [*state["tokens"][i], *r["q"][i], *r["k"][i], *r["v"][i], r["products"][i, i], r["scores"][i, i],
              r["weights"][i, i], *(r["weights"][i, i] * r["v"][i]), *r["mixed"][i]]  # fmt: skip
    assert [number for cell in row[1:] for number in numbers_in(cell)] == pytest.approx(values, abs=0.0051)


@pytest.mark.parametrize(("lang", "size"), EVERY_VIEW)
def test_the_readers_numbers_change_everything(plain, lang, size):
    t, page = WORDS[lang], plain(viewport=SIZES[size]).open(Qkv().html(), lang=lang)
    page.get_by_role("button", name=t["show"]).click()
    state = {"tokens": [list(r) for r in TOKENS], "w_q": W_Q, "w_k": [list(r) for r in W_K], "w_v": W_V}
    for step, name in zip(("qkv", "scores", "softmax", "mix"), t["steps"], strict=True):
        page.get_by_label(name, exact=True).check()
        check(page, state, step, 0)
    for table, row, column, value in (("tokens", 1, 0, -1.5), ("w_k", 0, 1, 2.25), ("w_k", 1, 1, 0)):
        before = [picture_of(page, index) for index in range(2)]
        page.get_by_label(t[table].format(row + 1, column + 1), exact=True).fill(str(value))
        state[table][row][column] = value
        check(page, state, "mix", 0)
        assert picture_of(page, 1) != before[1]
    page.get_by_role("slider", name=t["matrices"]).press("ArrowDown")
    check(page, state, "mix", 1)
    page.get_by_label(t["no"], exact=True).check()
    check(page, state, "mix", 1, scaled=False)
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size]["width"]


def test_a_field_that_is_no_number_waits_and_comes_back(plain):
    page = plain().open(Qkv(step="scores").html())
    caption = page.locator(".ex-caption")
    before = caption.inner_text()
    field = page.get_by_label("W_q, row 1, column 1", exact=True)
    for text in ("", "1000"):
        field.fill(text)
        picture_of(page, 0)
        assert caption.inner_text() == before
        field.blur()
        expect(field).to_have_value("2")


def test_arrows_in_a_field_count_and_a_click_on_a_row_asks(plain):
    page = plain(viewport=SIZES["desktop"]).open(Qkv(step="qkv").html())
    press(page, "Tokens x, row 1, column 1", "ArrowUp")
    expect(page.locator(".ex-caption")).to_contain_text("q = (3.00, 0.00)")  # 1.5 × 2
    matrices = page.get_by_role("slider", name="Matrices of this step")
    matrices.click(position={"x": 20, "y": 100})
    expect(matrices).to_have_attribute("aria-valuetext", "token 3")


def test_a_share_link_opens_the_same_numbers(plain):
    visitor = plain()
    address = visitor.write(Qkv().html())
    tables = "qkv.tokens=1,2,3,4,5,6&qkv.w_q=1,0,0,1&qkv.w_k=0,1,1,0&qkv.w_v=1,1,0,0"
    link = f"{tables}&qkv.query=2&qkv.scaled=no&qkv.step=scores"
    visitor.page.goto(f"{address}#{link}")
    expect(visitor.page.locator(".ex-caption")).to_contain_text("Token 3 asks: q · k is 16.00, 38.00, 60.00")
    visitor.page.get_by_role("button", name="Copy link").click()
    expect(visitor.page.get_by_role("status")).to_have_text(re.compile("link", re.IGNORECASE))
    assert visitor.page.url.split("#")[1].replace("%2C", ",") == link
    for nonsense in ("qkv.tokens=1,2,3", "qkv.w_q=1,0,0,x", "qkv.w_q=1,0,0,", "qkv.query=7", "qkv.w_q=1e9,0,0,1"):
        visitor.page.goto("about:blank")
        visitor.page.goto(f"{address}#qkv.step=qkv&{nonsense}")
        expect(visitor.page.locator(".ex-caption")).to_contain_text("Token 1 asks with q = (2.00, 0.00)")


def test_the_saved_picture_is_a_png(plain, tmp_path):
    page = plain(viewport=SIZES["desktop"]).open(Qkv(step="mix").html())
    with page.expect_download() as download:
        page.get_by_role("button", name="Save picture").click()
    assert download.value.suggested_filename == "qkv.png"


@pytest.mark.parametrize(("lang", "size"), EVERY_VIEW)
def test_axe_finds_nothing(plain, axe, lang, size):
    for theme in ("light", "dark"):
        page = plain(viewport=SIZES[size]).open("<h1>ViT</h1>", Qkv(step="softmax").html(), lang=lang, theme=theme)
        page.get_by_role("button", name=WORDS[lang]["show"]).click()
        page.evaluate(axe.read_text(encoding="utf-8"))
        violations = page.evaluate("axe.run('.explorer').then(result => result.violations)")
        assert [(violation["id"], violation["nodes"][0]["html"]) for violation in violations] == []
