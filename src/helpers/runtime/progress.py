"""Progress bars: for long work only, unless one is asked for."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from torch import Tensor
from tqdm.auto import tqdm

from .distributed import current

PATIENCE = 5.0  # seconds of work before a bar appears that nobody asked for


def progress_bar(total: int | None, show: bool | None, unit: str = "images") -> tqdm:
    """A bar in images per second: None shows it once the work has lasted some seconds, True after one, False never.

    Process 0 shows it. A page of the built book (BOOK_STATIC=1) shows none: it would keep the widget of a finished bar.
    """
    hidden = show is False or os.environ.get("BOOK_STATIC") == "1" or current().rank > 0
    # tqdm would turn a rate below one into seconds per image; n may be a fraction, when part of a batch is done
    layout = ("{l_bar}{bar}| {n:.0f}/{total_fmt} [{elapsed}<{remaining}, {rate_noinv_fmt}]" if total
              else "{n:.0f}{unit} [{elapsed}, {rate_noinv_fmt}]")
    return tqdm(total=total, unit=f" {unit}", disable=hidden, delay=1 if show else PATIENCE, leave=False,
                bar_format=layout)


def with_progress(stream: Iterable[Tensor], total: int | None, show: bool | None,
                  unit: str = "images") -> Iterator[Tensor]:
    """The same batches, with a bar that moves on after each."""
    with progress_bar(total, show, unit) as bar:
        for batch in stream:
            yield batch
            bar.update(len(batch))
