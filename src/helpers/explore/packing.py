"""Numbers on their way to the page: few bytes each, as parts that the page asks for when it needs them."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import yaml

# {address: part, or null for one that the package has stored}; a book build writes them beside the pages
PARTS_MIME = "application/vnd.vit-cnn-book.parts+json"


def pack(values: Any, *, digits: int | None = None, allow_nan: bool = False, deflate: bool = False) -> dict[str, Any]:
    """Any array → few bytes per value; `unpack` in parts.js gives it back.

    Pictures take one byte (256 steps between smallest and largest; uint8 stays as it is). Numbers that the reader sees
    take two, or four where their range is wide, and with `digits` decimals read exactly as Python writes them. NaN
    needs `allow_nan`; ∞ is refused. `deflate` makes large arrays smaller; the page inflates them when they arrive.
    """
    if deflate:
        packed = pack(values, digits=digits, allow_nan=allow_nan)
        return packed | {"data": zlib.compress(packed["data"], 9), "deflated": True}
    values = np.asarray(values)
    if digits is None and values.dtype == np.uint8 and values.size:
        return {"data": values.tobytes(), "shape": list(values.shape), "low": 0.0, "step": 1.0, "bytes": 1}
    values = values.astype(np.float64)
    missing = np.isnan(values)
    if values.size == 0 or np.isinf(values).any() or (missing.any() and not allow_nan) or missing.all():
        what = "non-empty array of finite values" + (", or NaN here and there," if allow_nan else "")
        raise ValueError(f"pack needs a {what}, got shape {values.shape}; remove NaN and ∞")
    filled = np.where(missing, values[~missing].flat[0], values)
    kind, codes, low, step = _one_byte(filled) if digits is None else _decimals(filled, digits)
    undefined = int(np.iinfo(kind).max)  # never the code of a number
    codes = np.where(missing, undefined, codes).astype(kind)
    packed = {"data": codes.tobytes(), "shape": list(values.shape), "low": low, "step": step, "bytes": codes.itemsize}
    return packed | ({"undefined": undefined} if missing.any() else {})


def _one_byte(values: np.ndarray) -> tuple[str, np.ndarray, float, float]:
    low = float(values.min())
    step = (float(values.max()) - low) / 254 or 1.0
    return "|u1", np.rint((values - low) / step), low, step


def _decimals(values: np.ndarray, digits: int) -> tuple[str, np.ndarray, float, float]:
    whole = np.array([int(f"{value:.{digits}f}".replace(".", "")) for value in values.flat]).reshape(values.shape)
    low, scale = int(whole.min()), 10**digits
    widest = int(whole.max()) - low
    if widest >= 2**32 - 1:
        raise ValueError(f"values from {values.min():g} to {values.max():g} with {digits} decimals need more than four "
                         f"bytes: pack them with fewer digits")
    return "<u2" if widest < 2**16 - 1 else "<u4", whole - low, low / scale, 1 / scale


def script_json(value: Any) -> str:
    """JSON that is safe inside <script>: bytes as base64, and no `<` that could end the element."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=_base64)
    return text.replace("<", "\\u003c")


def _base64(data: Any) -> str:
    if not isinstance(data, bytes):
        raise TypeError(f"{type(data).__name__} cannot go to the page: pack arrays, pass plain numbers and texts")
    return base64.b64encode(data).decode()


def address(part: Any) -> str:
    """Name of a part by its content: the same data has the same address, changed data another."""
    return hashlib.sha256(script_json(part).encode()).hexdigest()[:16]


def part_script(name: str, part: Any) -> str:
    """A classic script that brings one part: unlike `fetch` it also works in a page opened from a folder."""
    return f"(globalThis.explorerParts ??= {{}})[{script_json(name)}] = {script_json(part)};\n"


def share(value: Any, what: str) -> float:
    """A number from 0 to 1, such as an accuracy."""
    if not 0 <= float(value) <= 1:
        raise ValueError(f"{what} must be a share from 0 to 1, but it is {value!r}")
    return float(value)


def both_languages(keys: Any, names: Mapping[str, Any] | None = None) -> dict[str, dict[str, str]]:
    """{key: {"en": …, "ko": …}}: what the page calls a key: `names` of it, or the key itself.

    A name is given in English, and names.yml says what it is in Korean; or in both languages. Names that it does not
    know, such as ViT, are the same in both.
    """
    names = names or {}
    if unknown := [name for name in names if name not in list(keys)]:
        raise ValueError(f"names has {unknown[0]!r}, which is not one of {', '.join(map(repr, keys))}")
    found = {key: names.get(key, str(key)) for key in keys}
    found = {key: {"en": name, "ko": in_korean(name)} if isinstance(name, str) else dict(name)
             for key, name in found.items()}
    for key, name in found.items():
        if set(name) != {"en", "ko"}:
            raise ValueError(f"the name of {key!r} must be a text or {{'en': …, 'ko': …}}, but it is {name!r}")
    return found


@cache
def _korean_names() -> dict[str, str]:
    return yaml.safe_load((Path(__file__).parent / "names.yml").read_text(encoding="utf-8"))


def in_korean(name: str) -> str:
    """The Korean of an English name by names.yml, or the name itself."""
    rest = name.removeprefix("untrained ")
    korean = _korean_names().get(rest, rest)
    return korean if rest == name else f"학습하지 않은 {korean}"
