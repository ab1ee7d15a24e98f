"""The named places of a model where a representation can be read, in the order in which they are computed.

A tap is the output of a module under the module's own name (`blocks.3.norm1`, `layer2.0`), or one of a few
places that are no module's output and get a name of their own:

    embed                what the first transformer block reads: embedding and position
    blocks.3.attn_out    attention branch before the sum, LayerScale included (`mix_out` in an MLP-Mixer)
    blocks.3.after_attn  sum of the skip and the attention branch (`after_mix`)
    blocks.3.mlp_hidden  what the MLP's second layer reads, after the non-linearity
    blocks.3.mlp_out     MLP branch before the sum, LayerScale included

`name@1` is the second call of a module that runs several times in one pass, and what that call holds inside: a block
that stands at four places is listed as `blocks.0@0` … `blocks.0@3`, with `blocks.0.norm1@0` and so on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import count
from typing import Any, Literal

from torch import Tensor, nn

from ..runtime.advice import warn
from .blocks import BlockCall, outer_blocks
from .trace import Order, Place, tensors, trace, uncompiled

Which = Literal["blocks", "all"]

_NO_OP = re.compile(r"Identity|Drop|Flatten|Pad")
_HEAD = re.compile(r"(module\.)?(head|fc|fc_norm|classifier|attn_pool|global_pool)(\.|$)")
_BEFORE_EMBED = re.compile(r"(module\.)?(norm_pre$|(patch_embed|stem)\.(proj|norm)$)")
_TRANSFORMER_PARTS = {"norm1", "attn", "mlp_tokens", "linear_tokens", "ls1", "drop_path1",
                      "norm2", "mlp", "mlp_channels", "ls2", "drop_path2", "drop_path"}


@dataclass(frozen=True)
class Tap:
    """A name and the place it stands for."""

    name: str
    path: str
    side: str
    call: int
    item: int = 0  # which of several tensors


def taps(model: nn.Module, which: Which = "blocks", images: Tensor | None = None) -> list[str]:
    """Names of the places of a model that can be read, in the order in which they are computed.

    "blocks" gives one per block, "all" about seven per block. The model runs once, on the first of `images` [n, ...]
    or on a blank image of the size it declares; a module that is never called is not listed.

    >>> taps(vit)[:2], taps(vit, "all")[:3]
    (['blocks.0', 'blocks.1'], ['embed', 'blocks.0.norm1', 'blocks.0.attn_out'])
    """
    if which not in ("blocks", "all"):
        raise ValueError(f"which must be 'blocks' or 'all', not {which!r}")
    return [tap.name for tap in find(model, which, images)]


def find(model: nn.Module, names: Iterable[str] | None, images: Tensor | None) -> list[Tap]:
    """The taps called `names` ("blocks", the default, or "all", or a list) in execution order, checked by running."""
    order, model = trace(model, images), uncompiled(model)
    blocks = outer_blocks(model, order)
    places = {name: place for one in blocks for name, place in block_taps(one, order).items()}
    transformers = [one for one in blocks if is_transformer(one.block)]
    if transformers:
        places["embed"] = (transformers[0].path, "in", transformers[0].call)
    wanted = _wanted(names, model, blocks, places, order)
    if wrong := [type(name).__name__ for name in wanted if not isinstance(name, str)]:
        raise TypeError(f"layers are given by name, not as {wrong[0]}: say 'blocks', 'all', or names that taps(model) "
                        "lists, such as 'blocks.0'")
    found = [Tap(name, *(place := _place(name, places, model, order)), order.items.get(place, 0))
             for name in dict.fromkeys(wanted)]
    if not found:
        raise ValueError(f"no layers: none were named, or {type(model).__name__} has none that compute something")
    found = _one_row_each(found, order, chosen=names not in (None, "blocks", "all"))
    return sorted(found, key=lambda tap: order[tap.path, tap.side, tap.call])


def _one_row_each(found: list[Tap], order: Order, chosen: bool) -> list[Tap]:
    """The taps that give one row for one image. Windows or tokens in the rows could be taken for images.

    Others are refused if they were `chosen` by name or if there are no more; of many, they are left out.
    """
    rows = {tap.name: order.rows.get((tap.path, tap.side, tap.call), 1) for tap in found}
    others = [name for name, n in rows.items() if n != 1]
    if others and (chosen or len(others) == len(found)):
        raise ValueError(f"layer {others[0]!r} gives {rows[others[0]]} rows for one image: its rows are not images, "
                         "perhaps windows or tokens; read a layer whose first axis is the images")
    if others:
        warn(f"left out, since they do not give one row for one image: {', '.join(others)}")
    return [tap for tap in found if rows[tap.name] == 1]


def _wanted(names: Iterable[str] | None, model: nn.Module, blocks: list[BlockCall], places: Iterable[str],
            order: Order) -> list[str]:
    """The names that are meant: of all blocks, of all taps, or those given; without blocks, all layers."""
    if names in (None, "blocks", "all"):
        outside = _layers_outside(model, {one.path for one in blocks}, order)
        if not blocks:
            return outside
        return [*outside, *places] if names == "all" else [one.name for one in blocks]
    one = isinstance(names, str) or not isinstance(names, Iterable)
    return [names] if one else list(names)  # type: ignore[list-item]


def children_called(one: BlockCall, order: Order) -> list[str]:
    """Names of the block's parts that run in this call of it."""
    return [name for name, _ in one.block.named_children() if order.inside(one.path, one.call, f"{one.path}.{name}")]


def block_taps(one: BlockCall, order: Order) -> dict[str, Place]:
    """Name → place of every tap in one call of a block, its output included."""
    if is_transformer(one.block):
        local = _transformer_places(one, order)
    else:
        children = children_called(one, order)
        conv_like = [name for name in children if re.fullmatch(r"(conv|bn|norm|act)\d", name)]
        if conv_like and re.match("act", conv_like[-1]):
            conv_like.pop()  # the activation after the sum is the block's own output
        plain = [name for name in children if not _NO_OP.search(type(getattr(one.block, name)).__name__)]
        local = {name: (name, "out", 0) for name in _norm_with_act(conv_like or plain)}
    parts = {name for name, _ in one.block.named_children()}  # of a part with two names, the first
    places = {f"{one.path}.{name}{one.mark}": order.inside(one.path, one.call, f"{one.path}.{child}", side, nth)
              for name, (child, side, nth) in local.items() if child.partition(".")[0] in parts}
    return {name: place for name, place in places.items() if place} | {one.name: (one.path, "out", one.call)}


def is_transformer(block: nn.Module) -> bool:
    """Two residual branches, token mixing and MLP, and nothing else."""
    parts = {name for name, child in block.named_children() if any(True for _ in child.parameters())}
    return parts <= _TRANSFORMER_PARTS and {"norm1", "norm2"} <= parts


def _transformer_places(one: BlockCall, order: Order) -> dict[str, Place]:
    """Name → part of the block, side, and which of the part's calls within the block's own."""
    block = one.block
    mix, mlp = ("attn" if hasattr(block, "attn") else "mix"), ("mlp" if hasattr(block, "mlp") else "mlp_channels")
    # each branch leaves through a module of its own, or both through one, in turn
    exits = next((name for name in ("drop_path", "stochastic_depth") if hasattr(block, name)), None)
    mix_exit, mlp_exit = (("drop_path1", 0), ("drop_path2", 0)) if exits is None else ((exits, 0), (exits, 1))
    entered = [order.inside(one.path, one.call, f"{one.path}.{name}", "in") for name in ("norm2", mlp)]
    pre_norm = None not in entered and order[entered[0]] < order[entered[1]]  # type: ignore[index]
    places = {
        "norm1": ("norm1", "out", 0),
        f"{mix}_out": (mix_exit[0], "out", mix_exit[1]),
        f"after_{mix}": ("norm2" if pre_norm else mlp, "in", 0),
        "norm2": ("norm2", "out", 0),
        "mlp_hidden": (f"{mlp}.{_last_linear(getattr(block, mlp))}", "in", 0),
        "mlp_out": (mlp_exit[0], "out", mlp_exit[1]),
    }
    if not pre_norm:  # a norm that ends its branch is the branch output
        del places["norm1"], places["norm2"]
    return places


def _last_linear(mlp: nn.Module) -> str:
    """The MLP's second layer, by name: timm's `fc2`, else the last that multiplies."""
    linear = [name for name, m in mlp.named_modules() if isinstance(m, nn.Linear) and name]
    return "fc2" if hasattr(mlp, "fc2") or not linear else linear[-1]


def _norm_with_act(names: list[str]) -> list[str]:
    """Drop a normalisation whose own activation follows: the pair is one tap."""
    return [name for name in names if re.sub(r"(bn|norm)(\d)$", r"act\2", name) not in set(names) - {name}]


def _layers_outside(model: nn.Module, blocks: Iterable[str], order: Order) -> list[str]:
    """Layers that compute something and belong to no block: the stem and the last norm (everything, without blocks)."""
    covered = [*blocks]
    names: list[str] = []
    for path, module in model.named_modules():
        is_layer = "Norm" in type(module).__name__ or not any(True for _ in module.children())
        if path == "" or not is_layer or any(path.startswith(other + ".") for other in covered):
            continue
        covered.append(path)
        if not _NO_OP.search(type(module).__name__):
            calls = order.calls(path)
            names += [path] if calls == 1 else [f"{path}@{k}" for k in range(calls)]
    if blocks:
        names = [name for name in names if not (_HEAD.match(name) or _BEFORE_EMBED.match(name))]
    return _norm_with_act(names)


def _place(name: str, places: dict[str, Place], model: nn.Module, order: Order) -> Place:
    """Where a name is computed; errors say what is wrong with it and what would be right."""
    if name in places:
        return places[name]
    path, _, call = name.partition("@")
    modules = dict(model.named_modules(remove_duplicate=False))
    if path not in modules or path == "":
        near = get_close_matches(name, {**places, **modules}, n=3, cutoff=0.3)
        raise ValueError(f"{type(model).__name__} has no layer {name!r}; nearest names: {', '.join(near) or 'none'}")
    path = order.names[path]  # one name for a shared module
    calls = order.calls(path)
    if calls == 0:
        raise ValueError(f"layer {name!r} is never called when {type(model).__name__} runs: it has no representation")
    if (not call and calls > 1) or (call and not (call.isdigit() and int(call) < calls)):
        raise ValueError(f"layer {path!r} is called {calls} times in one pass: say {path}@0 … {path}@{calls - 1}")
    return path, "out", int(call or 0)


@contextmanager
def tapped(
    model: nn.Module, wanted: list[Tap], visit: Callable[[int, Tensor], None], first: int = 0
) -> Iterator[None]:
    """For one forward pass: `visit(i, tensor)` as soon as tap i (counted from `first`) is computed; nothing is kept."""
    handles = []
    model, missed = uncompiled(model), {i: tap.name for i, tap in enumerate(wanted, first)}

    def listen(i: int, tap: Tap) -> Callable[..., None]:
        call = count()

        def hook(_: nn.Module, args: tuple, kwargs: dict, output: Any = None) -> None:
            if next(call) == tap.call:
                missed.pop(i)
                visit(i, _readable((*args, *kwargs.values()) if tap.side == "in" else output, tap))

        return hook

    try:
        for i, tap in enumerate(wanted, first):
            module = model.get_submodule(tap.path)
            register: Any = module.register_forward_pre_hook if tap.side == "in" else module.register_forward_hook
            handles.append(register(listen(i, tap), with_kwargs=True))
        yield
    finally:
        for handle in handles:
            handle.remove()
    if missed:
        name, others = next(iter(missed.values())), len(missed) - 1
        raise ValueError(f"layer {name!r} (and {others} more) was never reached, though it was with one image: the "
                         "model takes another way now, or runs compiled code that passes its layers by; leave such "
                         "layers out")


def _readable(value: Any, tap: Tap) -> Tensor:
    """The tensor that a tap holds, if a measurement can read it."""
    name, found = tap.name, tensors(value)
    if len(found) <= tap.item:
        raise TypeError(f"layer {name!r} gives {type(value).__name__}, not a tensor")
    tensor = found[tap.item]
    if tensor.is_quantized:
        raise ValueError(f"layer {name!r} gives quantised numbers (int8): measure the network before it was quantised, "
                         "or read a layer after it gives floats again")
    if tensor.is_complex():
        raise ValueError(f"layer {name!r} gives complex numbers, and a measurement would lose their imaginary part: "
                         "read a layer with real numbers, say one that applies torch.view_as_real")
    return tensor
