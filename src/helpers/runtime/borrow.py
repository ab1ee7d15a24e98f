"""A model is borrowed for a measurement and given back exactly as it was, also when several threads want it.

Inside, stand-ins take the place of its tensors: parameters, buffers, and those that it keeps as plain attributes (an
LSTM's list of weights, a cached bias). Afterwards every module has its own attributes again.
"""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn

from .device import Shared

_OF_EVERY_MODULE = frozenset(vars(nn.Module()))  # torch's own attributes, hooks among them: not what a model remembers
_turn = threading.Condition()  # guards the next line
_holders: dict[int, tuple[object, int]] = {}  # id of a module that is in use → thread, and how often it asked


@contextmanager
def held(*models: nn.Module) -> Iterator[None]:
    """Inside, no other thread measures these models or one that has a module in common with them: it waits.

    Two models are asked for in one call: threads that took one after the other could wait for each other forever.
    """
    modules = {id(m): m for model in models for m in model.modules()}
    me: object = threading.current_thread()
    with _turn:
        _turn.wait_for(lambda: all(_holders.get(i, (me, 0))[0] is me for i in modules))
        for i in modules:
            _holders[i] = (me, _holders.get(i, (me, 0))[1] + 1)
    try:
        yield
    finally:
        with _turn:
            for i in modules:
                depth = _holders[i][1] - 1
                if depth:
                    _holders[i] = (me, depth)
                else:
                    del _holders[i]
            _turn.notify_all()


@contextmanager
def borrowed(model: nn.Module, device: torch.device) -> Iterator[nn.Module]:
    """The model in eval mode on `device`, uncompiled, without gradients of its own; given back exactly as it was.

    The model's own parameters are set aside and stand-ins take their place, so nothing that happens inside
    (an exception, Ctrl-C, a backward pass) can move them, change `requires_grad` or touch `.grad`.
    """
    if any(isinstance(m, torch.jit.ScriptModule) for m in model.modules()):
        raise TypeError(f"{type(model).__name__} is compiled by TorchScript, which lets nobody read its layers: pass "
                        "the model that was traced or scripted")
    with held(model), _eager():
        modules = list(model.modules())
        tensors = [(own, dict(own)) for m in modules for own in (m._parameters, m._buffers)]
        attributes = [(vars(m), dict(vars(m))) for m in modules]
        remembered = _Containers()
        stand_in = _stand_ins(device)
        try:
            for m in modules:
                # not m.eval(): a train() of the model's own may do more, say merge weights
                vars(m)["training"] = False
                for own in (m._parameters, m._buffers):
                    own.update({name: stand_in(tensor) for name, tensor in own.items()})
                for name in vars(m).keys() - _OF_EVERY_MODULE:
                    vars(m)[name] = remembered.replaced(vars(m)[name], stand_in, is_cache="cache" in name)
            yield model
        finally:
            remembered.restore()
            for now, before in [*tensors, *attributes]:
                _restore_dict(now, before)


def _stand_ins(device: torch.device) -> Callable[[Any], Any]:
    """tensor → the same values on the device, without a graph; tied weights stay tied. Anything else stays itself."""
    made: dict[int, tuple[Tensor, Tensor]] = {}  # with the tensor itself: an id is its own only as long as it lives
    inference = torch.is_inference_mode_enabled()

    def stand_in(value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        if id(value) not in made:
            there = value.detach().to(device)
            # a tensor made in inference mode takes no part in a backward pass; its clone does
            there = there.clone() if there.is_inference() and not inference else there
            is_parameter = isinstance(value, nn.Parameter)
            made[id(value)] = value, nn.Parameter(there, requires_grad=False) if is_parameter else there
        return made[id(value)][1]

    return stand_in


class _Containers:
    """Lists and dictionaries that modules hold, with what was in them; they stay the objects that others may know."""

    def __init__(self) -> None:
        self.before: dict[int, tuple[Any, Any]] = {}

    def replaced(self, value: Any, stand_in: Callable[[Any], Any], is_cache: bool = False) -> Any:
        """The value with stand-ins for all tensors in it; a container's are exchanged in place."""
        if type(value) is tuple:
            items = tuple(self.replaced(item, stand_in) for item in value)
            return value if all(new is old for new, old in zip(items, value, strict=True)) else items
        if type(value) not in (list, dict, OrderedDict, defaultdict):
            return stand_in(value)
        if id(value) in self.before:
            return value
        self.before[id(value)] = value, value.copy()
        if is_cache and isinstance(value, dict) and all(isinstance(item, Tensor) for item in value.values()):
            value.clear()  # computed from weights that may have changed since; the model fills it again
        for key, item in list(value.items() if isinstance(value, dict) else enumerate(value)):
            new = self.replaced(item, stand_in)
            if new is not item:
                value[key] = new
        return value

    def restore(self) -> None:
        """Give every container its items back; one that was not changed, say a configuration, is not written to."""
        for value, before in self.before.values():
            if isinstance(value, dict):
                _restore_dict(value, before)
            elif len(value) != len(before) or any(now is not old for now, old in zip(value, before, strict=True)):
                value[:] = before


def _restore_dict(now: dict[Any, Any], before: dict[Any, Any]) -> None:
    """The entries of before, in their order; without a moment in which an entry that was there all the time is not."""
    for key in now.keys() - before.keys():
        del now[key]
    for key, value in before.items():
        if now.get(key, now) is not value:
            now[key] = value
    if list(now) != list(before):
        for key, value in before.items():
            del now[key]
            now[key] = value


def _eager() -> AbstractContextManager[None]:
    """Inside, compiled models run as they are written: compiled code passes hooks by."""
    return _uncompiled() if "torch._dynamo" in sys.modules else nullcontext()  # without it nothing has been compiled


_uncompiled = Shared(lambda: torch.compiler.set_stance("force_eager"))
