"""Damaged weights: whatever is wrong, the answer is one clear error that names the file."""

from __future__ import annotations

import pickle
import struct
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers import load_model
from helpers.lab.runs import WEIGHTS

MANY = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
WHOLE = (WEIGHTS / "vit_gap_fast.safetensors").read_bytes()
HEADER = 8 + struct.unpack("<Q", WHOLE[:8])[0]


class _Trap:
    """Unpickling it would leave a trace."""

    def __init__(self, path: Path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def refused(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    with pytest.raises(ValueError, match=path.name) as caught:
        load_model("vit_gap_fast", weights=path)
    return str(caught.value)


@MANY
@given(length=st.one_of(st.integers(0, HEADER + 64), st.integers(0, len(WHOLE) - 1)))
def test_a_truncated_file_is_refused(tmp_path_factory, length):
    refused(tmp_path_factory.getbasetemp() / "truncated.safetensors", WHOLE[:length])


@MANY
@given(place=st.integers(0, HEADER - 1), byte=st.integers(0, 255))
def test_a_changed_header_gives_an_error_or_the_same_shapes(tmp_path_factory, place, byte):
    path = tmp_path_factory.getbasetemp() / "header.safetensors"
    path.write_bytes(WHOLE[:place] + bytes([byte]) + WHOLE[place + 1 :])
    try:
        assert isinstance(load_model("vit_gap_fast", weights=path), torch.nn.Module)
    except ValueError as error:
        assert path.name in str(error)


@pytest.mark.parametrize("size", [2**63, 2**40, 2**32, len(WHOLE)])
def test_a_header_that_claims_to_be_huge_is_refused(tmp_path, size):
    refused(tmp_path / "huge.safetensors", struct.pack("<Q", size) + WHOLE[8:])


def test_pickles_under_any_name_are_refused_and_never_run(tmp_path):
    trace = tmp_path / "trace"
    refused(tmp_path / "pickle.safetensors", pickle.dumps(_Trap(trace)))
    torch.save({"weights": _Trap(trace)}, tmp_path / "zip.pt")
    refused(tmp_path / "zip.safetensors", (tmp_path / "zip.pt").read_bytes())
    for name in ("pickle.pt", "weights.bin", "weights.pkl"):
        refused(tmp_path / name, pickle.dumps(_Trap(trace)))
    assert not trace.exists()


def test_a_renamed_file_of_another_model_is_refused(tmp_path):
    other = (WEIGHTS / "resnet.safetensors").read_bytes()
    assert "does not fit" in refused(tmp_path / "vit_gap_fast.safetensors", other)


def test_files_that_are_not_files_are_refused(tmp_path):
    for path in (tmp_path, tmp_path / "missing.safetensors"):
        with pytest.raises(FileNotFoundError, match=path.name):
            load_model("vit_gap_fast", weights=path)
