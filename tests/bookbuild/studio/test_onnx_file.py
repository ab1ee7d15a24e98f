"""The written bytes, read back by the rules of protocol buffers."""

from __future__ import annotations

import numpy as np
import pytest

from bookbuild.studio.onnx_file import FLOAT, FLOAT16, INT64, OPSET, Graph
from onnx_reader import read


@pytest.fixture
def graph() -> Graph:
    """x ↦ softmax(2 x) with a shape that is not used."""
    graph = Graph()
    x = graph.input("x", ["n", 3])
    doubled = graph.op("Mul", x, 2.0)
    graph.output("y", graph.op("Softmax", doubled, axis=-1), ["n", 3])
    return graph


def test_the_file_says_its_version_and_its_tensors(graph):
    model = read(graph.file())
    assert read(model[8][0])[2] == [OPSET]
    written = read(model[7][0])
    assert [read(node)[4][0] for node in written[1]] == [b"Mul", b"Softmax", b"Identity"]
    assert read(written[11][0])[1] == [b"x"] and read(written[12][0])[1] == [b"y"]
    x, doubled = (read(node) for node in written[1][:2])
    assert x[1][0] == b"x" and doubled[1] == x[2]  # one operation's value is the next one's input


def test_negative_and_fractional_attributes(graph):
    graph.op("LayerNormalization", "x", epsilon=1e-5)
    nodes = [read(node) for node in read(read(graph.file())[7][0])[1]]
    axis, epsilon = read(nodes[1][5][0]), read(nodes[3][5][0])
    assert axis[3] == [2**64 - 1] and axis[20] == [2]  # −1 in two's complement, a whole number
    assert np.frombuffer(epsilon[2][0], "<f4")[0] == np.float32(1e-5) and epsilon[20] == [1]


def test_constants_keep_their_kind_and_are_stored_once():
    graph = Graph()
    assert graph.constant([1, 2]) == graph.constant([1, 2]) != graph.constant([1.0, 2.0])
    tensors = [read(tensor) for tensor in read(read(graph.file())[7][0])[5]]
    assert [tensor[2][0] for tensor in tensors] == [INT64, FLOAT]
    assert np.frombuffer(tensors[0][9][0], "<i8").tolist() == [1, 2]


def test_weights_take_two_bytes_each():
    graph = Graph()
    graph.weight(np.arange(6.0).reshape(2, 3))
    (tensor,) = (read(tensor) for tensor in read(read(graph.file())[7][0])[5])
    assert tensor[2] == [FLOAT16] and tensor[1] == [2, 3] and len(tensor[9][0]) == 12
