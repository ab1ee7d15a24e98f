"""A computation graph, written as an ONNX file.

torch.onnx needs onnx, onnxscript and what these need. The lab's networks are a list of operations and their weights,
and the format (protocol buffers) is a few lines. Weights are stored as they are shipped, in float16, and widened when
the file is loaded.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

OPSET, IR_VERSION = 20, 9
FLOAT, INT64, FLOAT16 = 1, 7, 10  # TensorProto.DataType
_TYPES = {"float32": FLOAT, "int64": INT64, "float16": FLOAT16}


class Graph:
    """Operations in order of execution. A value is the name of what an operation gives."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._constants: dict[str, bytes] = {}
        self._inputs: list[bytes] = []
        self._outputs: list[bytes] = []

    def input(self, name: str, shape: Sequence[int | str]) -> str:
        """A float32 tensor that is given; an axis may have a name instead of a length."""
        self._inputs.append(_value_info(name, shape))
        return name

    def output(self, name: str, value: str, shape: Sequence[int | str]) -> None:
        """A value that can be asked for by this name."""
        self._nodes.append(_node("Identity", [value], name, {}))
        self._outputs.append(_value_info(name, shape))

    def op(self, kind: str, *inputs: Any, **attributes: Any) -> str:
        """The value of one operation; an input that is a number, a list or an array is a constant."""
        name = f"v{len(self._nodes)}"
        values = [value if isinstance(value, str) else self.constant(value) for value in inputs]
        self._nodes.append(_node(kind, values, name, attributes))
        return name

    def constant(self, value: Any) -> str:
        """Whole numbers become int64, others float32; equal ones are stored once."""
        array = np.asarray(value)
        array = array.astype(np.int64 if array.dtype.kind in "iu" else np.float32)
        for name, stored in self._constants.items():
            if stored == _tensor(name, array):
                return name
        name = f"c{len(self._constants)}"
        self._constants[name] = _tensor(name, array)
        return name

    def weight(self, value: Any) -> str:
        """A weight of a network: float16 in the file, float32 in the computation."""
        array = np.asarray(value, dtype=np.float16)
        name = f"w{len(self._constants)}"
        self._constants[name] = _tensor(name, array)
        return self.op("Cast", name, to=FLOAT)

    def file(self) -> bytes:
        """The whole file."""
        graph = b"".join([
            *(_field(1, node) for node in self._nodes),
            _field(2, b"studio"),
            *(_field(5, constant) for constant in self._constants.values()),
            *(_field(11, info) for info in self._inputs),
            *(_field(12, info) for info in self._outputs),
        ])
        return _number(1, IR_VERSION) + _field(7, graph) + _field(8, _number(2, OPSET))


# --------------------------------------------------------------------------------------------------- the format


def _varint(number: int) -> bytes:
    number &= (1 << 64) - 1  # negative numbers are stored as their two's complement
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _field(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _tensor(name: str, array: np.ndarray) -> bytes:
    dims = b"".join(_number(1, length) for length in array.shape)
    data = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes()
    return dims + _number(2, _TYPES[array.dtype.name]) + _field(8, name.encode()) + _field(9, data)


def _value_info(name: str, shape: Sequence[int | str]) -> bytes:
    dims = [_field(2, length.encode()) if isinstance(length, str) else _number(1, length) for length in shape]
    tensor = _number(1, FLOAT) + _field(2, b"".join(_field(1, dim) for dim in dims))
    return _field(1, name.encode()) + _field(2, _field(1, tensor))


def _node(kind: str, inputs: Sequence[str], output: str, attributes: Mapping[str, Any]) -> bytes:
    content = [_field(1, name.encode()) for name in inputs]
    content += [_field(2, output.encode()), _field(3, output.encode()), _field(4, kind.encode())]
    return b"".join([*content, *(_field(5, _attribute(name, value)) for name, value in attributes.items())])


def _attribute(name: str, value: int | float | Sequence[int]) -> bytes:
    head = _field(1, name.encode())
    if isinstance(value, float):
        return head + _varint(2 << 3 | 5) + struct.pack("<f", value) + _number(20, 1)
    if isinstance(value, int):
        return head + _number(3, value) + _number(20, 2)
    return head + b"".join(_number(8, number) for number in value) + _number(20, 7)
