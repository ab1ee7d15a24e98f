"""Which modules of a network are its blocks: repeated siblings round residual sums, whatever their classes are called.

A residual sum adds two tensors of one shape while a module runs. The block is the nearest module round it that stands
in a list (`blocks.3`, else `layer3`) and holds more than one layer. Its neighbours in such lists are blocks as well,
the stages round them are not. A network without such sums, say an Inception, has the repeated parts of its lists.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from torch import nn

from .trace import Order, uncompiled

_IN_LIST = re.compile(r"\d+")
_BETWEEN = re.compile(r"(^|\.)(stem|downsample)\.")  # what leads from the image, or from one stage, to the next
_NUMBERED = re.compile(r"(.*?)[-_]?\d+[a-z]?")


@dataclass(frozen=True)
class BlockCall:
    """One call of a block; a block that several places share (tied weights) has several."""

    path: str
    block: nn.Module
    call: int
    mark: str  # what its names end with: "@1" at the second call, nothing when there is only one

    @property
    def name(self) -> str:
        """Of the block's output, a tap."""
        return self.path + self.mark


def outer_blocks(model: nn.Module, order: Order) -> list[BlockCall]:
    """Every block that runs, call by call in execution order; blocks inside blocks are left out."""
    model = uncompiled(model)
    calls = [BlockCall(path, model.get_submodule(path), k, f"@{k}" if order.calls(path) > 1 else "")
             for path in _Candidates(model, order).blocks() for k in range(order.calls(path))]
    return sorted(calls, key=lambda one: order[one.path, "out", one.call])


def covered_share(model: nn.Module, blocks: Iterable[BlockCall]) -> float:
    """Share of a network's parameters that lie in its blocks."""
    inside = {id(p): p.numel() for one in blocks for p in one.block.parameters()}
    return sum(inside.values()) / max(1, sum(p.numel() for p in model.parameters()))


def _pattern(path: str) -> str:
    """The path with its numbers left open: blocks of one kind share it, in whichever stage they are."""
    return re.sub(r"\d+", "#", path)


class _Candidates:
    """The modules of a network that could be blocks, and how they lie in each other."""

    def __init__(self, model: nn.Module, order: Order) -> None:
        self.order = order
        self.modules = {path: m for path, m in model.named_modules() if path and (path, "out", 0) in order}
        holds = {m: any(True for _ in m.parameters(recurse=False)) for m in model.modules()}
        self.layers = {path: sum(holds[part] for part in m.modules()) for path, m in self.modules.items()}
        self.lists: dict[tuple[str, str], list[str]] = {}  # (parent, name without its number) → the members that run
        for path in self.modules:
            if (place := self._list_of(path)) is not None:
                self.lists.setdefault(place, []).append(path)

    def blocks(self) -> list[str]:
        """Paths of the blocks: round residual sums in lists, in numbered parts, or alone; else repeated parts."""
        sums = [path for path in self.order.sums if path in self.modules and not _BETWEEN.search(path)]
        for in_list in (self._in_container, self._is_numbered):
            homes = {home for home in (self._home(path, in_list) for path in sums) if home is not None}
            if homes:
                return self._with_neighbours(_innermost(homes))
        repeated = list(self._repeated())
        alone = [path for path in sums if self.layers[path] > 1 and not _inside(repeated, path)]
        return _innermost(repeated) if repeated and not alone else _outermost(alone)

    def _list_of(self, path: str) -> tuple[str, str] | None:
        """Which list a module is in: what it lies in and what its name is without the number."""
        parent, _, name = path.rpartition(".")
        match = _NUMBERED.fullmatch(name)
        return None if match is None else (parent, match[1])

    def _in_container(self, path: str) -> bool:
        return _IN_LIST.fullmatch(path.rpartition(".")[2]) is not None

    def _is_numbered(self, path: str) -> bool:
        return self._list_of(path) is not None

    def _is_block_like(self, path: str) -> bool:
        """Several layers together, one row for one image, in a list of its like rather than of single layers."""
        if self.layers[path] < 2 or self.order.rows.get((path, "out", 0)) != 1:
            return False
        members = self.lists[self._list_of(path)]  # type: ignore[index]
        alike = [m for m in members if type(self.modules[m]) is type(self.modules[path]) and self.layers[m] > 1]
        return len(alike) > 1 or not self._has_single_layers(members)

    def _has_single_layers(self, members: Iterable[str]) -> bool:
        """Whether a convolution, say, stands in the list by itself."""
        return any(p.dim() > 1 for m in members if not self._children(m) for p in self.modules[m].parameters())

    def _home(self, path: str, in_list: Callable[[str], bool]) -> str | None:
        """The nearest block-like module round `path`, itself included."""
        return next((p for p in _upwards(path) if in_list(p) and p in self.modules and self._is_block_like(p)), None)

    def _with_neighbours(self, homes: list[str]) -> list[str]:
        """With the members of the same lists, and of lists at the same level, that happen to have no skip."""
        found, levels = set(homes), {_pattern(home) for home in homes}
        kinds = tuple({type(self.modules[home]) for home in homes})
        for members in self.lists.values():
            sure = [i for i, path in enumerate(members) if path in found]
            between = range(sure[0], sure[-1]) if sure else range(len(members))
            mixed = self._has_single_layers(members)
            for i, path in enumerate(members):
                fits = isinstance(self.modules[path], kinds) or (i in between and not mixed)
                if fits and _pattern(path) in levels and self._children(path) and not _inside(homes, path):
                    found.add(path)
        return _outermost(path for path in self.modules if path in found and self.layers[path])

    def _repeated(self) -> Iterator[str]:
        """Members of a list that are of one class and follow on each other; branches side by side are none."""
        for members in self.lists.values():
            able = [m for m in members if self._is_block_like(m) and (m in self.order.inputs or self._in_container(m))
                    and sum(p.dim() > 1 for p in self.modules[m].parameters()) > 1]
            sources = [self.order.inputs.get(m, m) for m in able]
            if len(able) > 1 and len(set(sources)) == len(sources):
                yield from able

    def _children(self, path: str) -> bool:
        return any(True for _ in self.modules[path].children())


def _upwards(path: str) -> Iterator[str]:
    """A path and those of the modules it lies in, from the inside out."""
    while path:
        yield path
        path = path.rpartition(".")[0]


def _inside(paths: Iterable[str], outer: str) -> bool:
    return any(path.startswith(outer + ".") for path in paths)


def _innermost(paths: Iterable[str]) -> list[str]:
    paths = list(paths)
    return [path for path in paths if not _inside(paths, path)]


def _outermost(paths: Iterable[str]) -> list[str]:
    paths = list(paths)
    return [path for path in paths if not any(path.startswith(other + ".") for other in paths)]
