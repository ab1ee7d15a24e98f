"""Damaged chapters: whatever is wrong, the answer is one clear error that names the file."""

from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bookbuild.source import Source, SourceError, read_source
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
