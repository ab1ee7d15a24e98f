"""What full-size networks saw: parts that are small enough, complete, and those of the files."""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from PIL import Image

from helpers.explore import attention_explorer, field_explorer, stored
from helpers.explore.packing import part_script

pytestmark = pytest.mark.usefixtures("book_build")

MOST_BYTES_OF_A_PART, MOST_BYTES_IN_ALL = 1_500_000, 25_000_000


def addresses() -> set[str]:
    parts = attention_explorer(full_size=True).parts | field_explorer(full_size=True).parts
    return set(parts.values())


def test_what_a_page_loads_at_once_is_small():
    sizes = {address: len(part_script(address, stored.part_at(address)).encode()) for address in addresses()}
    assert len(sizes) == 3 * 7 + 7 + 5  # attention of three networks, photos, fields
    assert {address: size for address, size in sizes.items() if size > MOST_BYTES_OF_A_PART} == {}
    assert sum(path.stat().st_size for path in stored.FOLDER.iterdir()) < MOST_BYTES_IN_ALL


def test_the_photos_are_small_and_each_has_a_source():
    photos = sorted((stored.ASSETS / stored.FREE_PHOTOS).glob("*.webp"))
    said = (stored.ASSETS / stored.FREE_PHOTOS / "SOURCES.md").read_text(encoding="utf-8")
    assert [photo.stem for photo in photos] == list(stored.PHOTOS)
    for photo in photos:
        assert photo.stat().st_size < 25_000 and f"| {photo.name} |" in said
        assert Image.open(photo).size == (224, 224)


def test_an_address_says_which_file_it_is_and_changes_with_it():
    address = stored.address_of("attention.vit_ti16.chelsea")
    assert address.startswith("attention.vit_ti16.chelsea.") and len(address.rpartition(".")[2]) == 8
    part = stored.part_at(address)
    with np.load(stored.FOLDER / "attention.vit_ti16.chelsea.npz") as kept:
        assert zlib.decompress(part["shares"]["data"]) == kept["shares"].tobytes()
        assert part["levels"] == kept["levels"]
    assert part["shares"]["shape"] == [12, 3, 197, 196]


def test_rows_of_attention_add_up_to_one():
    part = stored.part_at(stored.address_of("attention.deit_ti16.coffee"))
    codes = np.frombuffer(zlib.decompress(part["shares"]["data"]), np.uint8).reshape(part["shares"]["shape"])
    read = lambda packed: (packed["low"] + packed["step"] * np.frombuffer(packed["data"], "<u2")).reshape(
        packed["shape"])
    total = ((codes / part["levels"]) ** 2 * read(part["peaks"])).sum(-1) + read(part["onPrefix"]).sum(-1)
    np.testing.assert_allclose(total, 1, atol=0.04)
    assert np.abs(total - 1).mean() < 0.004


def test_what_networks_call_the_photos_has_a_name_in_both_languages():
    said = stored.predictions_of(stored.networks())
    assert list(said) == list(stored.PHOTOS)
    for answers in said.values():
        assert [answer["network"]["en"] for answer in answers] == ["ViT-Ti", "DeiT-Ti", "ResNet-50"]
        assert all(answer["class"]["ko"] != answer["class"]["en"] and 0 < answer["share"] <= 1 for answer in answers)
    assert {answer["class"]["en"] for answer in said["chelsea"]} == {"Egyptian cat"}


def test_missing_data_say_how_they_are_made(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"python -m helpers\.explore\.full_size"):
        stored.networks(tmp_path)
