"""How arrays travel to a page: packed, exact to half a step, and unable to leave their script."""

from __future__ import annotations

import base64
import json
import zlib

import numpy as np
import pytest

from explorer_samples import Labelled, mounted_state
from helpers.explore.base import show
from helpers.explore.packing import both_languages, pack, part_script, script_json


@pytest.mark.parametrize("values", [np.linspace(-2, 3, 24).reshape(2, 3, 4), np.full((5,), 0.7), np.arange(2)])
def test_packed_values_come_back_to_within_half_a_step(values):
    packed = pack(values)
    back = packed["low"] + packed["step"] * np.frombuffer(packed["data"], np.uint8).reshape(packed["shape"])
    assert len(packed["data"]) == values.size
    assert np.abs(back - values).max() <= packed["step"] / 2 + 1e-12


def test_packed_values_travel_as_base64_in_a_page(book_build):
    packed = pack(np.array([0.0, 1.0]))
    state = mounted_state(show(Labelled, image=packed).html())
    assert base64.b64decode(state["image"]["data"]) == packed["data"] == b"\x00\xfe"


@pytest.mark.parametrize("values", [np.array([]), np.array([1.0, np.nan]), np.array([np.inf])])
def test_values_without_a_finite_range_are_not_packed(values):
    with pytest.raises(ValueError, match="finite values"):
        pack(values)
    with pytest.raises(ValueError, match="finite values"):
        pack(values, digits=3)


def test_numbers_that_are_read_keep_the_decimals_that_python_writes():
    values = np.random.default_rng(0).normal(size=2000)
    values[:3] = 0.4995, -0.0004, 1.0005  # halves and a negative zero
    packed = pack(values, digits=3)
    codes = np.frombuffer(packed["data"], "<u2")
    assert [f"{packed['low'] + packed['step'] * code:.3f}".replace("-0.000", "0.000") for code in codes] == [
        f"{value:.3f}".replace("-0.000", "0.000") for value in values
    ]


def test_a_wide_range_takes_four_bytes_and_too_wide_a_range_is_refused():
    packed = pack(np.array([0.25, np.nan, 38896.81]), digits=2, allow_nan=True)
    assert packed["bytes"] == 4
    codes = np.frombuffer(packed["data"], "<u4")
    assert f"{packed['low'] + packed['step'] * codes[2]:.2f}" == "38896.81" and codes[1] == packed["undefined"]
    with pytest.raises(ValueError, match="fewer digits"):
        pack(np.array([0.0, 1e8]), digits=3)


def test_undefined_values_have_a_code_of_their_own():
    values = np.array([[1.0, np.nan], [0.25, 0.0]])
    for packed, kind in [(pack(values, allow_nan=True), "u1"), (pack(values, digits=3, allow_nan=True), "<u2")]:
        codes = np.frombuffer(packed["data"], kind)
        assert (codes == packed["undefined"]).tolist() == [False, True, False, False]
    assert "undefined" not in pack(np.array([1.0, 0.0]), allow_nan=True)
    with pytest.raises(ValueError, match="or NaN here and there"):
        pack(np.array([np.nan]), allow_nan=True)


def test_pictures_are_packed_as_they_are():
    image = np.random.default_rng(0).integers(3, 250, (4, 5, 3), dtype=np.uint8)
    assert pack(image) == {"data": image.tobytes(), "shape": [4, 5, 3], "low": 0.0, "step": 1.0, "bytes": 1}


def test_deflated_arrays_are_smaller_and_the_same():
    values = np.tile(np.arange(256, dtype=np.uint8), 50)
    packed, plain = pack(values, deflate=True), pack(values)
    assert zlib.decompress(packed["data"]) == plain["data"] and len(packed["data"]) < len(plain["data"]) / 10
    assert packed | {"data": None} == plain | {"data": None, "deflated": True}


def test_a_part_becomes_a_script_that_cannot_end_early():
    text = part_script("0123", {"name": "</script><!--"})
    assert "<" not in text.replace("\\u003c", "")
    assert json.loads(text[text.index("] = ") + 4 : -2]) == {"name": "</script><!--"}


def test_names_come_in_both_languages():
    names = {"b": {"en": "untrained", "ko": "학습하지 않음"}}
    assert both_languages(["a", "b"], names) == {"a": {"en": "a", "ko": "a"}, "b": names["b"]}
    with pytest.raises(ValueError, match="names has 'c', which is not one of 'a', 'b'"):
        both_languages(["a", "b"], {"c": "d"})
    with pytest.raises(ValueError, match="must be a text or"):
        both_languages(["a"], {"a": {"en": "only English"}})


def test_an_english_name_is_known_in_korean():
    name = "ViT with [CLS]"
    assert both_languages(["CLS"], {"CLS": name})["CLS"] == {"en": name, "ko": "[CLS]로 학습한 ViT"}
    assert both_languages(["untrained ViT"])["untrained ViT"] == {"en": "untrained ViT", "ko": "학습하지 않은 ViT"}


def test_unknown_objects_in_the_state_are_an_error():
    with pytest.raises(TypeError):
        script_json({"model": object()})
