"""The studio as a reader meets it: started by a button, on samples and own pictures, in both languages."""

from __future__ import annotations

import io
import re
import shutil
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from playwright.sync_api import expect
from studio_site import open_studio

from bookbuild.studio.exports import rounded
from bookbuild.studio.files import KOREAN_CLASSES
from helpers import load_images, load_model
from helpers.inputs.bundled import CIFAR_CLASSES, normalise
from helpers.inputs.variants import shifted

PHONE = {"width": 390, "height": 844}
SAMPLE = 3  # what the studio shows first
FIRST = {"en": "ViT with [CLS]", "ko": "[CLS] 방식 ViT"}
KOREAN = dict(zip(CIFAR_CLASSES, KOREAN_CLASSES, strict=True))
MOST_STARTED = 10e6  # bytes that are loaded until the first answer


@pytest.fixture(scope="module")
def place(studio_site, serve) -> str:
    """Where the studio's little site is served."""
    return serve(studio_site)


@pytest.fixture
def studio(visit, place):
    """studio(language, …) → its page, started; nothing may have gone wrong on it in the end."""
    visitors = []

    def start(language: str = "en", theme: str = "light", link: str = "", own: str = place, **options):
        visitors.append(visit(own="file://" if own.startswith("file:") else place, **options))
        return open_studio(visitors[-1], own, language, theme, link)

    yield start
    assert [trouble for visitor in visitors for trouble in visitor.troubles] == []


def answer(network: str, raw: torch.Tensor, language: str = "en", trained: bool = True, change=None) -> str:
    """Class and probability as PyTorch gives them, in the page's words; `change` mends the network first."""
    model = rounded(load_model(network, trained=trained))
    if change:
        change(model)
    with torch.no_grad():
        shares = model(normalise(raw[None])).softmax(1)[0]
    name, share = CIFAR_CLASSES[int(shares.argmax())], f"{100 * shares.max():.1f}"
    return f"{KOREAN[name]}, {share}%" if language == "ko" else f"{name}, {share}\u00a0%"


def caption(page):
    return page.locator("#studio-view .ex-caption")


def set_slider(page, label: str, value: int) -> None:
    """By its place among its values."""
    page.get_by_label(label, exact=True).fill(str(value))


def png(pixels: np.ndarray | Image.Image) -> bytes:
    image, buffer = pixels if isinstance(pixels, Image.Image) else Image.fromarray(pixels), io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def choose_file(page, name: str, data: bytes, kind: str = "image/png") -> None:
    page.locator("#studio input[type=file]").set_input_files({"name": name, "mimeType": kind, "buffer": data})


def use_own(page, name: str, data: bytes, kind: str = "image/png") -> None:
    """Open a file and take the square that is offered."""
    choose_file(page, name, data, kind)
    page.get_by_role("button", name="Use this part").click()


# --- starting -------------------------------------------------------------------------------------------------------


def test_nothing_is_loaded_before_the_start(visit, place):
    visitor, loaded = visit(own=place), []
    visitor.page.on("response", lambda r: loaded.append((r.url, int(r.headers.get("content-length", 0)))))
    visitor.page.goto(f"{place}/en/studio-light.html")
    visitor.page.wait_for_load_state("networkidle")
    assert not [url for url, _ in loaded if "/studio/" in url]
    visitor.page.locator("#studio-start").click()
    expect(caption(visitor.page)).to_contain_text("ResNet: cat")
    names = {Path(url).name for url, _ in loaded if "/studio/" in url}
    assert names == {"studio.js", "about.js", "runtime.js", "vit_cls.js", "resnet.js"}
    assert 8e6 < sum(size for _, size in loaded) < MOST_STARTED  # the page says: about 9 MB
    assert visitor.troubles == []


@pytest.mark.parametrize(("language", "options"), [("en", {}), ("ko", {"viewport": PHONE})])
def test_the_first_answer_is_pytorchs(studio, language, options):
    page, raw = studio(language, **options), load_images().raw[SAMPLE]
    expect(caption(page)).to_contain_text(f"{FIRST[language]}: {answer('vit_cls', raw, language)}.")
    expect(caption(page)).to_contain_text(f"ResNet: {answer('resnet', raw, language)}.")
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_it_runs_from_a_disk(studio, studio_site):
    page = studio(own=studio_site.as_uri())
    expect(caption(page)).to_contain_text(f"ResNet: {answer('resnet', load_images().raw[SAMPLE])}.")


@pytest.mark.parametrize("missing", ["", "runtime.js"])
def test_missing_files_give_a_sentence(visit, studio_site, tmp_path, missing):
    copy = shutil.copytree(studio_site, tmp_path / "copy")
    if missing:
        (copy / "studio" / missing).unlink()
    else:
        shutil.rmtree(copy / "studio")
    page = visit(own="file://").page
    page.goto((copy / "ko/studio-light.html").as_uri())
    page.locator("#studio-start").click()
    expect(page.locator("#studio")).to_contain_text("studio 폴더" if missing else "스튜디오 파일이 이 페이지 옆에 없다")


# --- networks and changes -------------------------------------------------------------------------------------------


def test_every_network_answers(studio):
    page, raw = studio(), load_images().raw[SAMPLE]
    choose = page.get_by_label("Second network")
    for label, name in [("ViT with GAP", "vit_gap"), ("MLP-Mixer", "mixer"), ("hybrid", "hybrid")]:
        choose.select_option(label)
        expect(caption(page)).to_contain_text(f"{label}: {answer(name, raw)}.")
    choose.select_option("untrained ResNet")
    expect(caption(page)).to_contain_text(f"untrained ResNet: {answer('resnet', raw, trained=False)}.")
    choose.select_option("untrained ViT with GAP")
    expect(caption(page)).to_contain_text("untrained ViT with GAP: all classes alike")


def test_changes_are_answered_live(studio):
    page, raw = studio(), load_images().raw[SAMPLE]
    set_slider(page, "Shift right", 16 + 8)  # the slider's places begin at −16
    for label, name in [("ViT with [CLS]", "vit_cls"), ("ResNet", "resnet")]:
        after = answer(name, shifted(raw[None], 8)[0]).split(", ")
        expect(caption(page)).to_contain_text(re.compile(rf"{re.escape(label)}: .*{after[0]}.*{re.escape(after[1])}"))
    expect(caption(page)).to_contain_text("What changed:")
    page.get_by_role("button", name="Undo all changes").click()
    expect(caption(page)).to_contain_text("Nothing is changed.")
    page.get_by_label("off", exact=True).check()
    blind = answer("vit_cls", raw, change=lambda model: torch.nn.init.zeros_(model.pos_embed)).split(", ")[1]
    expect(caption(page)).to_contain_text(blind)
    expect(caption(page)).to_contain_text(f"ResNet: {answer('resnet', raw)}.")  # it has no positions to lose


def test_without_positions_a_vit_does_not_see_the_order(studio):
    page = studio(link="#studio.a=vit_gap&studio.positions=off")
    both = re.compile(r"ViT with GAP: (.*(?:→|became).*) ResNet: (\w+, [\d.]+)")
    expect(caption(page)).to_have_text(both)
    vit, resnet = both.search(caption(page).text_content()).groups()
    set_slider(page, "Patches", 4)
    expect(caption(page)).to_have_text(re.compile(r"ResNet: .*(→|became)"))
    assert f"ViT with GAP: {vit} ResNet: " in caption(page).text_content()
    assert f"{resnet} %. Each column" not in caption(page).text_content()


def test_covering_by_mouse_and_keys(studio):
    page = studio()
    page.get_by_label("covers", exact=True).check()
    image = page.get_by_role("slider", name="The image as both networks read it")
    box = image.bounding_box()
    image.click(position={"x": box["width"] / 2, "y": 160})
    expect(caption(page)).to_contain_text("What changed:")
    page.get_by_role("button", name="Undo all changes").click()
    expect(caption(page)).to_contain_text("Nothing is changed.")
    image.press("ArrowRight")
    expect(caption(page)).to_contain_text("What changed:")


def test_views_and_their_numbers(studio):
    page = studio(link="#studio.count=8&studio.b=vit_gap")
    said = {"Attention": "attends to in block 5", "Reach": "how far each head looks",
            "Norm ratio": "the skip is longer", "Content": "of the change comes from the place itself",
            "CKA": "8 images, block 5"}
    page.get_by_role("button", name="Show the numbers").click()
    for view, words in said.items():
        page.get_by_label(view, exact=True).check()
        expect(caption(page)).to_contain_text(words)
        expect(page.locator(".ex-table tbody tr").first).to_be_visible()
        assert page.locator("#studio-view canvas:visible").count() >= 4
    page.get_by_label("Attention", exact=True).check()
    heads = page.get_by_role("slider", name="in all blocks and heads")
    heads.press("ArrowRight")
    expect(caption(page)).to_contain_text("in block 5, head 1.")
    page.get_by_label("rollout", exact=True).check()
    expect(caption(page)).to_contain_text("Rollout from patch (3, 3) through blocks 0–5")


def test_a_tray_adds_to_cka(studio):
    page = studio(link="#studio.view=cka&studio.count=8")
    expect(caption(page)).to_contain_text("8 images, block 5")
    set_slider(page, "Shift down", 20)
    page.get_by_role("button", name="Add to the CKA tray").click()
    expect(caption(page)).to_contain_text("9 images, block 5")
    expect(caption(page)).to_contain_text("1 of the images are from your tray")
    page.get_by_role("button", name="Empty the tray").click()
    expect(caption(page)).to_contain_text("8 images, block 5")


def test_a_link_opens_the_same_settings(studio, place, visit):
    page = studio(permissions=["clipboard-read", "clipboard-write"])
    page.get_by_label("Second network").select_option("MLP-Mixer")
    set_slider(page, "Rotate", 14)
    expect(caption(page)).to_contain_text("MLP-Mixer")
    expect(caption(page)).to_contain_text("What changed:")
    said = caption(page).text_content()
    page.get_by_role("button", name="Copy link").click()
    link = page.evaluate("location.hash")
    assert "studio.b=mixer" in link and "studio.turn=30" in link and len(link) < 500
    again = open_studio(visit(own=place), place, link=link)
    expect(caption(again)).to_have_text(said)


# --- own pictures ---------------------------------------------------------------------------------------------------


def test_own_picture_of_the_networks_size_is_read_exactly(studio):
    raw = load_images("fashion").raw[2]
    page = studio()
    use_own(page, "shoe.png", png(raw.permute(1, 2, 0).numpy()))
    expect(caption(page)).to_contain_text(f"ViT with [CLS]: {answer('vit_cls', raw)}.")
    expect(caption(page)).to_contain_text(f"ResNet: {answer('resnet', raw)}.")


def test_pictures_are_pasted_and_dropped(studio):
    raw, page = load_images("fashion").raw[2], studio()
    data = list(png(raw.permute(1, 2, 0).numpy()))
    send = """([kind, data]) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([new Uint8Array(data)], "own.png", { type: "image/png" }));
      const place = document.getElementById("studio"), more = { bubbles: true, cancelable: true };
      place.dispatchEvent(kind === "paste" ? new ClipboardEvent("paste", { clipboardData: transfer, ...more })
        : new DragEvent("drop", { dataTransfer: transfer, ...more }));
    }"""
    for kind in ("paste", "drop"):
        page.evaluate(send, [kind, data])
        page.get_by_role("button", name="Use this part").click()
        expect(caption(page)).to_contain_text(f"ResNet: {answer('resnet', raw)}.")
        page.get_by_role("slider", name="Images to choose from").press("ArrowLeft")
        expect(caption(page)).not_to_contain_text(f"ResNet: {answer('resnet', raw)}.")


def test_transparency_rotation_and_animation(studio):
    """A transparent picture lies on white, a photo stands as its camera says, an animation is its first image."""
    page = studio()
    half = np.zeros((64, 64, 3), np.uint8)
    half[:32] = 255
    white = np.full((64, 64, 3), 255, np.uint8)
    upright = load_images().raw[0].permute(1, 2, 0).numpy()
    turned = Image.fromarray(np.rot90(upright).copy())  # stored lying, to be shown turned to the right
    exif = Image.Exif()
    exif[0x0112] = 6
    photo, animation = io.BytesIO(), io.BytesIO()
    turned.save(photo, "PNG", exif=exif)
    Image.fromarray(white).save(animation, "GIF", save_all=True, append_images=[Image.fromarray(half)], duration=50)
    shown = lambda pixels: torch.tensor(pixels[:: len(pixels) // 32, :: len(pixels) // 32].copy()).permute(2, 0, 1)
    for name, data, expected in [("glass.png", png(Image.new("RGBA", (64, 64), (9, 9, 9, 0))), shown(white)),
                                 ("photo.png", photo.getvalue(), shown(upright)),
                                 ("moving.gif", animation.getvalue(), shown(white))]:
        use_own(page, name, data, "image/gif" if name.endswith("gif") else "image/png")
        expect(caption(page)).to_contain_text(f"ResNet: {answer('resnet', expected)}.")


def huge_png(side: int = 10_000) -> bytes:
    """A white picture of 100 megapixels in a few kilobytes."""
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    packed = zlib.compress((b"\0" + b"\xff" * (side // 8)) * side, 9)
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


@pytest.mark.parametrize(("name", "kind", "data", "said"), [
    ("notes.txt", "text/plain", b"words", "notes.txt is not a picture. Choose a JPEG"),
    ("photo.heic", "image/heic", b"\0\0\0\x18ftypheic", "cannot read photo.heic. A HEIC photo, for example,"),
    ("broken.png", "image/png", b"\x89PNG nothing", "cannot read broken.png"),
    ("wall.png", "image/png", huge_png(), "wall.png has 100 megapixels; pictures up to 50"),
    ("dot.png", "image/png", png(np.zeros((4, 4, 3), np.uint8)), "dot.png is smaller than 8 × 8 pixels"),
])
def test_wrong_files_get_a_sentence(studio, name, kind, data, said):
    page = studio()
    choose_file(page, name, data, kind)
    expect(page.locator("#studio .st-input")).to_contain_text(said)
    expect(page.get_by_role("button", name="Use this part")).to_be_hidden()


def test_the_crop_is_moved_by_keys(studio):
    left, right = np.zeros((40, 80, 3), np.uint8), load_images().raw[1].permute(1, 2, 0).numpy()
    left[4:36, 44:76] = right
    page = studio()
    choose_file(page, "wide.png", png(left))
    crop = page.get_by_role("slider", name="Part of the picture")
    before = crop.evaluate("canvas => canvas.toDataURL()")
    for _ in range(25):
        crop.press("ArrowRight")
    assert crop.get_attribute("aria-valuetext").startswith("100%") and crop.evaluate("c => c.toDataURL()") != before
    page.get_by_role("button", name="Cancel").click()
    expect(crop).to_be_hidden()


def test_no_camera_gets_a_sentence(studio):
    page = studio()
    page.get_by_role("button", name="Camera").click()
    expect(page.locator("#studio .st-input")).to_contain_text("There is no camera here")


# --- for everyone, for long -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("language", "theme"), [("en", "light"), ("ko", "dark")])
def test_axe_finds_nothing_serious(studio, axe, language, theme):
    page = studio(language, theme)
    page.evaluate(axe.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run('#studio', { resultTypes: ['violations'] }).then(r => r.violations)")
    assert [(v["id"], v["nodes"][0]["html"][:200]) for v in found if v["impact"] in ("serious", "critical")] == []


def test_two_hundred_images_leave_no_memory_behind(studio):
    page = studio()
    gallery = page.get_by_role("slider", name="Images to choose from")
    tools = page.context.new_cdp_session(page)

    def heap_after(images: int) -> float:
        for _ in range(images):
            gallery.press("ArrowRight")
            set_slider(page, "Shift right", 16 + heap_after.shift)
            heap_after.shift = (heap_after.shift + 1) % 16
        page.wait_for_timeout(500)
        tools.send("HeapProfiler.collectGarbage")
        return tools.send("Runtime.getHeapUsage")["usedSize"] / 1e6

    heap_after.shift = 0
    heap_after(60)  # by now the store of results is full
    first = heap_after(20)
    assert heap_after(200) < first + 30
