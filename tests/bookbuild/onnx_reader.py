"""Protocol buffers, read field by field."""

from __future__ import annotations


def read(data: bytes) -> dict[int, list]:
    """Field number → its values, in order: whole numbers, or bytes."""
    found: dict[int, list] = {}
    at = 0

    def varint() -> int:
        nonlocal at
        number = shift = 0
        while True:
            byte = data[at]
            at += 1
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return number

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            value: int | bytes = varint()
        else:
            length = 4 if key & 7 == 5 else varint()
            value, at = data[at : at + length], at + length
        found.setdefault(key >> 3, []).append(value)
    return found
