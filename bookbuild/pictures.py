"""Draw the first page's picture, the favicon, the picture for shared links, and the README's view of the built book.

`python -m bookbuild pictures`, after `make book`.
"""

from __future__ import annotations

import io
import shutil
from pathlib import Path

import yaml
from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from .paths import ROOT

STATIC = ROOT / "book" / "_static"

COVER = """<style>
  body {{ margin: 0; background: #f4f8fc; color: #1a3f6f; font-family: "Nanum Gothic", sans-serif; }}
  h1 {{ position: absolute; left: 84px; top: 330px; margin: 0; font-size: 76px; letter-spacing: -1px; }}
  p {{ position: absolute; left: 88px; top: 440px; margin: 0; font-size: 46px; color: #2b6cb0; }}
  svg {{ position: absolute; }}
</style>
{drawing}
<h1>{english}</h1><p>{korean}</p>"""


def fields() -> str:
    """A convolution's field grows ring by ring; a query patch is joined to every other patch at once."""
    side, gap = 26, 4
    step = side + gap
    parts = []
    for i in range(7):
        for j in range(7):
            ring = max(abs(i - 3), abs(j - 3))
            shade = ["#1a3f6f", "#2b6cb0", "#9cc3e6", "#dbe8f5"][ring]
            parts.append(f'<rect x="{j * step}" y="{i * step}" width="{side}" height="{side}" rx="4" fill="{shade}"/>')
            x, y = j * step + side / 2 + 260, i * step + side / 2
            cx, cy = 3 * step + side / 2 + 260, 3 * step + side / 2
            parts.append(f'<path d="M{cx} {cy}L{x} {y}" stroke="#f2a33a" stroke-width="1.5" opacity="0.55"/>')
    for i in range(7):
        for j in range(7):
            shade = "#1a3f6f" if (i, j) == (3, 3) else "#f2a33a" if (i * 5 + j * 3) % 11 == 0 else "#dbe8f5"
            box = f'x="{j * step + 260}" y="{i * step}" width="{side}" height="{side}" rx="4"'
            parts.append(f'<rect {box} fill="{shade}" fill-opacity="0.9"/>')
    size = 'width="480" height="210" viewBox="0 0 470 206"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{"".join(parts)}</svg>'


def covers(browser: Browser) -> None:
    """Write cover.png and favicon.ico."""
    english = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["title"]
    korean = yaml.safe_load((ROOT / "book/locale/ko/config.yml").read_text(encoding="utf-8"))["title"]
    logo = (STATIC / "logo.svg").read_text(encoding="utf-8")
    eye = logo.replace("<svg ", '<svg style="left:84px;top:84px" width="190" height="190" ', 1)
    drawing = eye + fields().replace("<svg ", '<svg style="left:640px;top:72px" ', 1)
    page = browser.new_page(viewport={"width": 1200, "height": 630})
    page.set_content(COVER.format(drawing=drawing, english=english, korean=korean))
    save(Image.open(io.BytesIO(page.screenshot())), STATIC / "cover.png", 64)
    page.set_viewport_size({"width": 256, "height": 256})
    page.set_content(f'<body style="margin:0">{logo.replace("<svg ", "<svg width=256 height=256 ", 1)}</body>')
    favicon = Image.open(io.BytesIO(page.screenshot(omit_background=True)))
    favicon.save(STATIC / "favicon.ico", sizes=[(16, 16), (32, 32), (48, 48)])


def save(picture: Image.Image, path: Path, colours: int) -> None:
    """A small PNG: few colours are enough for flat drawings and pages."""
    picture.convert("P", palette=Image.Palette.ADAPTIVE, colors=colours).save(path, optimize=True)
    print(f"Wrote {path.relative_to(ROOT)}")


def view(browser: Browser, site: Path, where: str, size: tuple[int, int], theme: str, lift: int) -> Image.Image:
    """A page of the site as a reader sees it, scrolled until its explorer is `lift` pixels below the top."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme=theme)  # type: ignore[arg-type]
    context.add_init_script(f"localStorage.setItem('mode', '{theme}'); localStorage.setItem('theme', '{theme}')")
    page = context.new_page()
    page.goto((site / where).as_uri())
    explorer = page.locator(".explorer").first
    explorer.get_by_role("button").first.wait_for()
    explorer.evaluate("(node, lift) => window.scrollTo({top: node.getBoundingClientRect().top + scrollY - lift, "
                      "behavior: 'instant'})", lift)
    page.wait_for_timeout(1000)  # the explorer draws when it comes in sight
    picture = Image.open(io.BytesIO(page.screenshot()))
    context.close()
    return picture


def book(browser: Browser, site: Path) -> None:
    """Write book.png: a chapter in English on a desk, and one in Korean, in the dark, on a phone."""
    desk = view(browser, site, "en/19_attention_distance.html", (1180, 760), "light", 150)
    phone = view(browser, site, "ko/24_localization.html", (390, 700), "dark", 70)
    gap = 30
    whole = Image.new("RGB", (desk.width + phone.width + 3 * gap, desk.height + 2 * gap), "#dbe8f5")
    whole.paste(desk, (gap, gap))
    whole.paste(phone, (desk.width + 2 * gap, gap + (desk.height - phone.height) // 2))
    save(whole, ROOT / "book" / "book.png", 192)


def draw() -> None:
    """Write them all; the README's picture only when there is a built book to look at."""
    (STATIC / "fields.svg").write_text(fields(), encoding="utf-8")
    site = ROOT / "_site"
    with sync_playwright() as p:
        browser = p.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        covers(browser)
        if site.is_dir():
            book(browser, site)
        else:
            print("No picture of the book: make book builds it first")
        browser.close()
