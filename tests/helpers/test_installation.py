"""The check-up says in one line that everything works, and in one line each what does not."""

from __future__ import annotations

import re
import shutil
from importlib import metadata
from pathlib import Path

import pytest
import torch

from helpers import checkup, installation, load_model
from helpers.inputs import bundled
from helpers.installation import PACKAGES, Checkup
from helpers.lab import runs

PYPROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"


def only_line(found: Checkup) -> str:
    """The one English line; its Korean twin says it in Korean."""
    ((en,), (ko,)) = (found.lines(lang) for lang in ("en", "ko"))
    assert re.search("[가-힣]", ko) and not re.search("[가-힣]", en)
    assert "\n" not in en and repr(found) == f"{en}\n{ko}"
    assert en.startswith("✓") if found.ok else en.startswith("✗")
    return en


@pytest.fixture
def own_weights(tmp_path, monkeypatch) -> Path:
    """A folder with one network of the lab, which a test may damage."""
    for kind in ("json", "safetensors"):
        shutil.copy(runs.WEIGHTS / f"vit_cls.{kind}", tmp_path)
    monkeypatch.setattr(runs, "WEIGHTS", tmp_path)
    return tmp_path


@pytest.fixture
def own_images(tmp_path, monkeypatch) -> Path:
    """A copy of the bundled images, which a test may damage."""
    folder = shutil.copytree(bundled.ASSETS, tmp_path / "assets")
    monkeypatch.setattr(bundled, "ASSETS", folder)
    return folder


def test_packages_are_those_of_the_project():
    (listed,) = re.findall(r"^dependencies = \[\n(.*?)^\]", PYPROJECT.read_text(), re.MULTILINE | re.DOTALL)
    assert re.findall(r'"([^"]+)"', listed) == list(PACKAGES)


def test_everything_works_here(monkeypatch):
    monkeypatch.delenv("BOOK_STATIC", raising=False)
    line = only_line(checkup())
    assert f"torch {torch.__version__}" in line and f"{len(runs.read_manifest())} networks" in line
    assert "8,357 images" in line and "explorers live" in line


def test_the_built_book_has_the_page_form(monkeypatch):
    monkeypatch.setenv("BOOK_STATIC", "1")
    assert "explorers as in the built book" in only_line(checkup())


def test_a_missing_package(monkeypatch):
    real = metadata.version

    def version(name):
        if name == "anywidget":
            raise metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(metadata, "version", version)
    assert 'anywidget is not installed: `pip install "anywidget>=0.9.13"`' in only_line(checkup())


def test_a_package_that_is_too_old(monkeypatch):
    real = metadata.version
    monkeypatch.setattr(metadata, "version", lambda name: "1.0.9" if name == "timm" else real(name))
    assert "timm 1.0.9 is too old" in only_line(checkup())


def test_damaged_weights(own_weights):
    path = own_weights / "vit_cls.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    line = only_line(checkup())
    assert "vit_cls" in line and "SHA-256" in line


def test_missing_weights_and_no_networks(own_weights):
    (own_weights / "vit_cls.safetensors").unlink()
    assert "No weights of vit_cls" in only_line(checkup())
    (own_weights / "vit_cls.json").unlink()
    assert "There are no networks in" in only_line(checkup())


def test_missing_images(own_images):
    (own_images / "fashion_test.webp").unlink()
    assert "No fashion_test.webp" in only_line(checkup())


def test_images_that_cannot_be_read(own_images):
    (own_images / "cifar10_test.webp").write_bytes(b"<html>not found</html>")
    assert "Trouble with the images" in only_line(checkup())


def test_two_faults_are_two_lines(own_images, own_weights):
    (own_images / "cifar10_train.webp").unlink()
    (own_weights / "vit_cls.safetensors").unlink()
    first, second = checkup().lines("en")
    assert "weights" in first and "cifar10_train.webp" in second


def test_explorers_that_cannot_be_made(monkeypatch):
    monkeypatch.setattr("helpers.explore.cka_bias_explorer", lambda: 1 / 0)
    assert "Trouble with the explorers: ZeroDivisionError" in only_line(checkup())


def test_a_device_that_computes_something_else(monkeypatch):
    monkeypatch.setattr(installation, "load_model", lambda name: load_model(name, trained=False))
    assert "but vit_cls.json says" in only_line(checkup())


def test_a_device_that_breaks(monkeypatch):
    monkeypatch.setattr(installation, "pick_device", lambda: torch.device("meta"))
    assert "Trouble with the network" in only_line(checkup())


def test_another_device_than_the_cpu(accelerator, monkeypatch):
    monkeypatch.setattr(installation, "pick_device", lambda: accelerator)
    assert f"images, on {accelerator}" in only_line(checkup())


def test_a_page_shows_each_line_in_its_language():
    found = Checkup([{"en": "a <b>", "ko": "가"}, {"en": "c", "ko": "나"}], [])
    html = found._repr_html_()
    assert html.count('lang="en"') == html.count('lang="ko"') == 2 and "a &lt;b&gt;" in html
