"""The named places of a model where a representation can be read, in the order in which they are computed.

A tap is the output of a module under the module's own name (`blocks.3.norm1`, `layer2.0`), or one of a few
places that are no module's output and get a name of their own:

    embed                what the first transformer block reads: embedding and position
    blocks.3.attn_out    attention branch before the sum, LayerScale included (`mix_out` in an MLP-Mixer)
    blocks.3.after_attn  sum of the skip and the attention branch (`after_mix`)
    blocks.3.mlp_hidden  what the MLP's second layer reads, after the non-linearity
    blocks.3.mlp_out     MLP branch before the sum, LayerScale included

`name@1` is the second call of a module that runs several times in one pass.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import count
from typing import Any, Literal

import torch
from torch import Tensor, nn

from ..runtime.device import borrowed, device_of, dtype_of
from .anatomy import channels, fixed_size

Which = Literal["blocks", "all"]
Place = tuple[str, str, int]  # module path, "in" or "out", at which of its calls
Order = dict[Place, int]  # when each place was reached

_BLOCK = re.compile(r"Block|Bottleneck|PreActBasic|EncoderLayer|InvertedResidual")
_NO_OP = re.compile(r"Identity|Drop|Flatten|Pad")
_HEAD = re.compile(r"(head|fc|fc_norm|classifier|attn_pool|global_pool)(\.|$)")
_BEFORE_EMBED = re.compile(r"norm_pre$|(patch_embed|stem)\.(proj|norm)$")
_TRANSFORMER_PARTS = {"norm1", "attn", "mlp_tokens", "linear_tokens", "ls1", "drop_path1",
                      "norm2", "mlp", "mlp_channels", "ls2", "drop_path2", "drop_path"}


@dataclass(frozen=True)
class Tap:
    """A name and the place it stands for."""

    name: str
    path: str
    side: str
    call: int


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
    order = trace(model, images)
    parts = {path: block_taps(path, block, order) for path, block in outer_blocks(model, order)}
    places = {name: place for part in parts.values() for name, place in part.items()}
    transformers = [path for path in parts if is_transformer(model.get_submodule(path))]
    if transformers:
        places["embed"] = (transformers[0], "in", 0)
    wanted = _wanted(names, model, parts, places, order)
    if wrong := [type(name).__name__ for name in wanted if not isinstance(name, str)]:
        raise TypeError(f"layers are given by name, not as {wrong[0]}: say 'blocks', 'all', or names that taps(model) "
                        "lists, such as 'blocks.0'")
    found = [Tap(name, *_place(name, places, model, order)) for name in dict.fromkeys(wanted)]
    if not found:
        raise ValueError(f"no layers: none were named, or {type(model).__name__} has none that compute something")
    return sorted(found, key=lambda tap: order[tap.path, tap.side, tap.call])


def _wanted(names: Iterable[str] | None, model: nn.Module, blocks: Iterable[str], places: Iterable[str],
            order: Order) -> list[str]:
    """The names that are meant: of all blocks, of all taps, or those given; without blocks, all layers."""
    if names in (None, "blocks", "all"):
        if not blocks:
            return _layers_outside(model, blocks, order)
        return [*_layers_outside(model, blocks, order), *places] if names == "all" else list(blocks)
    one = isinstance(names, str) or not isinstance(names, Iterable)
    return [names] if one else list(names)  # type: ignore[list-item]


def trace(model: nn.Module, images: Tensor | None) -> Order:
    """Run the model once, where it is, on one image, and note when every module is entered and left."""
    device = device_of(model)
    order: Order = {}
    calls: Counter[str] = Counter()

    def enter(path: str) -> Callable[..., None]:
        def hook(*_: Any) -> None:
            order[path, "in", calls[path]] = len(order)

        return hook

    def leave(path: str) -> Callable[..., None]:
        def hook(*_: Any) -> None:
            order[path, "out", calls[path]] = len(order)
            calls[path] += 1

        return hook

    handles = []
    with borrowed(model, device), torch.no_grad():
        x = _blank(model) if images is None else images
        try:
            for path, module in model.named_modules():
                handles += [module.register_forward_pre_hook(enter(path)), module.register_forward_hook(leave(path))]
            model(x[:1].to(device, dtype_of(model) if x.is_floating_point() else None))
        except torch.OutOfMemoryError:
            raise
        except RuntimeError as error:
            raise ValueError(f"{type(model).__name__} cannot read images of shape {tuple(x.shape)} ({error}): pass "
                             "such as it wants, also to taps(model, images=x)") from error
        finally:
            for handle in handles:
                handle.remove()
    return order


def _blank(model: nn.Module) -> Tensor:
    """A black image [1, C, H, W] of the size the model declares (convolutions take any)."""
    wanted = channels(model) or next((m.in_channels for m in model.modules() if isinstance(m, nn.Conv2d)), None)
    if wanted is None:
        raise ValueError(f"{type(model).__name__} does not say what it reads: pass examples, taps(model, images=x)")
    declared = (getattr(model, "pretrained_cfg", None) or {}).get("input_size") or (3, 224, 224)
    return torch.zeros(1, wanted, *(fixed_size(model) or declared[1:]))


def outer_blocks(model: nn.Module, order: Order) -> list[tuple[str, nn.Module]]:
    """(path, block) of every residual block that runs, in execution order; blocks inside blocks are left out."""
    found = [(path, m) for path, m in model.named_modules() if path and _BLOCK.search(type(m).__name__)]
    found = [(path, m) for path, m in found if (path, "out", 0) in order]
    outer = [(path, m) for path, m in found if not any(path.startswith(other + ".") for other, _ in found)]
    return sorted(outer, key=lambda item: order[item[0], "out", 0])


def block_taps(path: str, block: nn.Module, order: Order) -> dict[str, Place]:
    """Name → place of every tap in one block, its output included."""
    children = [name for name, _ in block.named_children() if (f"{path}.{name}", "out", 0) in order]
    if is_transformer(block):
        local = _transformer_places(path, block, order)
    else:
        conv_like = [name for name in children if re.fullmatch(r"(conv|bn|norm|act)\d", name)]
        if conv_like and re.match("act", conv_like[-1]):
            conv_like.pop()  # the activation after the sum is the block's own output
        plain = [name for name in children if not _NO_OP.search(type(getattr(block, name)).__name__)]
        local = {name: (name, "out", 0) for name in _norm_with_act(conv_like or plain)}
    places = {f"{path}.{name}": (f"{path}.{child}", side, call) for name, (child, side, call) in local.items()}
    return {name: place for name, place in places.items() if place in order} | {path: (path, "out", 0)}


def is_transformer(block: nn.Module) -> bool:
    """Two residual branches, token mixing and MLP, and nothing else."""
    parts = {name for name, child in block.named_children() if any(True for _ in child.parameters())}
    return parts <= _TRANSFORMER_PARTS and {"norm1", "norm2"} <= parts


def _transformer_places(path: str, block: nn.Module, order: Order) -> dict[str, Place]:
    mix, mlp = ("attn" if hasattr(block, "attn") else "mix"), ("mlp" if hasattr(block, "mlp") else "mlp_channels")
    own_exits = hasattr(block, "drop_path1")  # otherwise both branches leave through one module, in turn
    mix_exit, mlp_exit = (("drop_path1", 0), ("drop_path2", 0)) if own_exits else (("drop_path", 0), ("drop_path", 1))
    pre_norm = order[f"{path}.norm2", "in", 0] < order[f"{path}.{mlp}", "in", 0]
    places = {
        "norm1": ("norm1", "out", 0),
        f"{mix}_out": (mix_exit[0], "out", mix_exit[1]),
        f"after_{mix}": ("norm2" if pre_norm else mlp, "in", 0),
        "norm2": ("norm2", "out", 0),
        "mlp_hidden": (f"{mlp}.fc2", "in", 0),
        "mlp_out": (mlp_exit[0], "out", mlp_exit[1]),
    }
    if not pre_norm:  # a norm that ends its branch is the branch output
        del places["norm1"], places["norm2"]
    return places


def _norm_with_act(names: list[str]) -> list[str]:
    """Drop a normalisation whose own activation follows: the pair is one tap."""
    return [name for name in names if re.sub(r"(bn|norm)(\d)$", r"act\2", name) not in set(names) - {name}]


def _layers_outside(model: nn.Module, blocks: Iterable[str], order: Order) -> list[str]:
    """Layers that compute something and belong to no block: the stem and the last norm (everything, without blocks)."""
    calls = Counter(path for path, side, _ in order if side == "out")
    covered = [*blocks]
    names: list[str] = []
    for path, module in model.named_modules():
        is_layer = "Norm" in type(module).__name__ or not any(True for _ in module.children())
        if path == "" or not is_layer or any(path.startswith(other + ".") for other in covered):
            continue
        covered.append(path)
        if not _NO_OP.search(type(module).__name__):
            names += [path] if calls[path] == 1 else [f"{path}@{k}" for k in range(calls[path])]
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
    path = next(p for p, m in model.named_modules() if m is modules[path])  # one name for a shared module
    calls = sum((path, "out", k) in order for k in range(len(order)))
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

    def listen(i: int, tap: Tap) -> Callable[..., None]:
        call = count()

        def hook(_: nn.Module, args: tuple, kwargs: dict, output: Any = None) -> None:
            if next(call) == tap.call:
                visit(i, _first_tensor((*args, *kwargs.values()) if tap.side == "in" else output, tap.name))

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


def _first_tensor(value: Any, name: str) -> Tensor:
    for item in value if isinstance(value, (tuple, list)) else (value,):
        if isinstance(item, Tensor):
            return item
    raise TypeError(f"layer {name!r} gives {type(value).__name__}, not a tensor")
