"""What a model does with one image: which modules are called, in which order, how many rows each gives, and which add
something to what went past them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import count
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils.weak import WeakIdKeyDictionary

from ..runtime.borrow import borrowed, held
from ..runtime.device import device_of, dtype_of
from .anatomy import channels, fixed_size, require_network

Place = tuple[str, str, int]  # module path, "in" or "out", at which of its calls
_ADDITIONS = {"add", "add_", "__add__", "__iadd__", "__radd__"}


class Order(dict[Place, int]):
    """When each place was reached, and how many rows the tensor there had for one image.

    A module with several names (shared weights) stands under the first; `names` knows the others.
    """

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        first = {id(m): path for path, m in model.named_modules()}
        self.names = {path: first[id(m)] for path, m in model.named_modules(remove_duplicate=False)}
        self.rows: dict[Place, int] = {}
        self.chosen: dict[Place, int] = {}  # which of several tensors is meant, where it is not the first
        self.inputs: dict[str, int] = {}  # number of the first tensor that a module reads
        self.sums: set[str] = set()  # modules that add two tensors of one shape

    def calls(self, path: str) -> int:
        """How often a module is called in one pass."""
        return next(k for k in range(len(self) + 1) if (self.names.get(path, path), "out", k) not in self)

    def inside(self, block: str, call: int, path: str, side: str = "out", nth: int = 0) -> Place | None:
        """Where module `path` is called for the nth time while `block` runs for the given time; None when it is not."""
        start, end = self[block, "in", call], self[block, "out", call]
        path = self.names.get(path, path)
        during = [k for k in range(self.calls(path)) if start < self[path, "out", k] < end]
        return (path, side, during[nth]) if nth < len(during) else None


def uncompiled(model: nn.Module) -> nn.Module:
    """The model that torch.compile wraps, so that its layers keep their names; any other model itself."""
    inner = model._modules.get("_orig_mod")
    return model if inner is None else inner


def trace(model: nn.Module, images: Tensor | None) -> Order:
    """Run the model once, where it is, on one image, and note when every module is entered and left."""
    require_network(model)
    with held(model), borrowed(model, device_of(model)), torch.no_grad():  # held first: another thread may move it
        x = _blank(model) if images is None else images
        dtype = dtype_of(model) if x.is_floating_point() else None
        return _run(uncompiled(model), x[:1].to(device_of(model), dtype, copy=True), tuple(x.shape))


class _Sums(TorchFunctionMode):
    """Notes which module is adding two tensors of one shape, neither of them a parameter: a residual sum."""

    def __init__(self, order: Order) -> None:
        super().__init__()
        self.order = order
        self.running: list[str] = []  # modules inside each other

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "__name__", "") in _ADDITIONS and self.running:
            terms = [a for a in (*args, *(kwargs or {}).values()) if isinstance(a, Tensor)]
            same = len(terms) == 2 and terms[0].shape == terms[1].shape
            if same and not any(isinstance(term, nn.Parameter) for term in terms):
                self.order.sums.add(self.running[-1])
        return func(*args, **(kwargs or {}))


def _run(model: nn.Module, x: Tensor, shape: tuple[int, ...]) -> Order:
    """One pass of x [1, ...], the first of images of `shape`."""
    order = Order(model)
    calls: Counter[str] = Counter()
    sums, numbers, number = _Sums(order), WeakIdKeyDictionary(), count()

    def note(path: str, side: str, value: Any) -> None:
        place = path, side, calls[path]
        order[place] = len(order)
        order.chosen[place], tensor = _meant(value)
        if tensor is not None:
            order.rows[place] = len(tensor) if tensor.dim() else 0

    def enter(path: str) -> Callable[..., None]:
        def hook(_: nn.Module, args: Any, kwargs: Any) -> None:
            values = (*args, *kwargs.values())
            if (tensor := first_tensor(values)) is not None:
                order.inputs[path] = numbers.setdefault(tensor, next(number))
            note(path, "in", values)
            sums.running.append(path)

        return hook

    def leave(path: str) -> Callable[..., None]:
        def hook(_: nn.Module, __: Any, output: Any) -> None:
            sums.running.pop()
            note(path, "out", output)
            calls[path] += 1

        return hook

    handles: list[Any] = []
    try:
        for path, module in model.named_modules():
            handles.append(module.register_forward_pre_hook(enter(path), with_kwargs=True))
            handles.append(module.register_forward_hook(leave(path)))
        with sums:
            model(x)
    except torch.OutOfMemoryError:
        raise
    except (RuntimeError, AssertionError, IndexError) as error:
        raise ValueError(f"{type(model).__name__} cannot read images of shape {shape} ({error}): pass "
                         "such as it wants, also to taps(model, images=x)") from error
    finally:
        for handle in handles:
            handle.remove()
    return order


def tensors(value: Any) -> list[Tensor]:
    """The tensors among what a module gives or reads."""
    return [item for item in (value if isinstance(value, (tuple, list)) else (value,)) if isinstance(item, Tensor)]


def first_tensor(value: Any) -> Tensor | None:
    """The first of them; None when there is none."""
    return next(iter(tensors(value)), None)


def _meant(value: Any) -> tuple[int, Tensor | None]:
    """Of several tensors for one image, which is the first with one row (else the first of all), and that tensor."""
    found = tensors(value)
    which = next((i for i, t in enumerate(found) if t.dim() and len(t) == 1), 0)
    return which, (found[which] if found else None)


def _blank(model: nn.Module) -> Tensor:
    """A black image [1, C, H, W] of the size the model declares (convolutions take any)."""
    model = getattr(model, "module", model)  # of DataParallel
    wanted = channels(model) or next((m.in_channels for m in model.modules() if isinstance(m, nn.Conv2d)), None)
    if wanted is None:
        raise ValueError(f"{type(model).__name__} does not say what it reads: pass examples, taps(model, images=x)")
    declared = (getattr(model, "pretrained_cfg", None) or {}).get("input_size") or (3, 224, 224)
    return torch.zeros(1, wanted, *(fixed_size(model) or declared[1:]))
