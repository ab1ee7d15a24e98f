"""Damaged chapters and weights: whatever is wrong, the answer is one clear error that names the file."""

from __future__ import annotations

import pickle
import struct
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from source import Source, SourceError, read_source

from helpers import lab, load_model
from sample_book import CHAPTER

MANY = settings(max_examples=300, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
LINES = [
    "+++", '+++ {"lang": "en"}', '+++ {"lang": "ko"}', '+++ {"lang": ["en"]}', "+++ {", "+++ 7", "---", "```", "$$",
    "```{code-cell}", "```{code-cell} ipython3", ":tags: [exercise]", ":tags: {", "alt: {en: 1}", "description: [",
    "# Title", "", "\t", "<details>", "![](x.png)", "{ref}`x`", "[^1]", "\ufeff", "\x00", "\u2028", "가",
]  # fmt: skip


@st.composite
def damaged(draw) -> str:
    """A chapter with lines lost, doubled, moved, cut or put in between."""
    lines = CHAPTER.splitlines()
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(lines)))
        act = draw(st.sampled_from(["lose", "double", "move", "cut", "insert", "write"]))
        if act == "insert":
            lines.insert(at, draw(st.sampled_from(LINES)))
        elif act == "write":
            lines.insert(at, draw(st.text(max_size=20)))
        elif at < len(lines):
            line = lines.pop(at)
            if act == "double":
                lines[at:at] = [line, line]
            elif act == "move":
                lines.insert(draw(st.integers(0, len(lines))), line)
            elif act == "cut":
                lines.insert(at, line[: draw(st.integers(0, len(line)))])
    return "\n".join(lines)


def check_chapter(path: Path, content: bytes) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    try:
        assert isinstance(read_source(path), Source)
    except SourceError as error:
        assert str(error).startswith(str(path))


@MANY
@given(text=damaged())
def test_a_damaged_chapter_is_read_or_refused_with_its_name(tmp_path_factory, text):
    check_chapter(tmp_path_factory.getbasetemp() / "chapters" / "01_damaged.md", text.encode("utf-8", "surrogatepass"))


@MANY
@given(content=st.binary(max_size=200))
def test_bytes_that_are_no_chapter_are_refused_with_their_name(tmp_path_factory, content):
    check_chapter(tmp_path_factory.getbasetemp() / "chapters" / "02_bytes.md", content)


# --- weights ----------------------------------------------------------------------------------------------------------

WHOLE = (lab.WEIGHTS / "vit_gap_fast.safetensors").read_bytes()
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


@settings(MANY, max_examples=60)
@given(length=st.one_of(st.integers(0, HEADER + 64), st.integers(0, len(WHOLE) - 1)))
def test_a_truncated_file_is_refused(tmp_path_factory, length):
    refused(tmp_path_factory.getbasetemp() / "truncated.safetensors", WHOLE[:length])


@settings(MANY, max_examples=60)
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
    other = (lab.WEIGHTS / "resnet.safetensors").read_bytes()
    assert "does not fit" in refused(tmp_path / "vit_gap_fast.safetensors", other)


def test_files_that_are_not_files_are_refused(tmp_path):
    for path in (tmp_path, tmp_path / "missing.safetensors"):
        with pytest.raises(FileNotFoundError, match=path.name):
            load_model("vit_gap_fast", weights=path)
