"""An accelerator of its own on the CPU: tensors hold real values, and an operation that mixes devices raises.

It stands in for CUDA in the tests: code that forgets a `.to(device)` fails here as it would on a GPU.
Needs torch's Python backend for PrivateUse1 (torch >= 2.10, experimental).
"""

from __future__ import annotations

import torch
import torch.utils.backend_registration as registration
from torch.utils._pytree import tree_leaves, tree_map

registration._setup_privateuseone_for_python_backend(rename="simulated")
DEVICE = torch.device("simulated", 0)
MAY_MIX = {"aten::copy_", "aten::_to_copy", "aten::index", "aten::index_put_", "aten::_index_put_impl_"}


class OnDevice(torch.Tensor):
    """A tensor that says it lives on the simulated device and keeps its values in `.raw` on the CPU."""

    raw: torch.Tensor

    @staticmethod
    def __new__(cls, raw, requires_grad=False):
        wrapper = torch.Tensor._make_wrapper_subclass(
            cls, raw.size(), strides=raw.stride(), storage_offset=raw.storage_offset(), dtype=raw.dtype, device=DEVICE,
            requires_grad=requires_grad,
        )
        wrapper.raw = raw
        return wrapper

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return _run(func, args, kwargs or {})

    def __repr__(self):
        return f"OnDevice({self.raw})"


def _run(func, args, kwargs):
    tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
    there = [t for t in tensors if isinstance(t, OnDevice)]
    here = [t for t in tensors if not isinstance(t, OnDevice) and t.dim() > 0]  # scalars may mix, as on CUDA
    name = func._schema.name
    if there and here and name not in MAY_MIX:
        raise RuntimeError(f"Expected all tensors to be on the same device, but {func} got {DEVICE} and cpu")
    lands_there = bool(there)
    if kwargs.get("device") is not None:
        lands_there = torch.device(kwargs["device"]).type == DEVICE.type
        kwargs = {**kwargs, "device": "cpu"} if lands_there else kwargs
    out = func(*tree_map(_raw, args), **tree_map(_raw, kwargs))
    if there and name.endswith("_") and not name.endswith("__"):
        return args[0]  # in place
    return tree_map(lambda o: OnDevice(o) if lands_there and isinstance(o, torch.Tensor) else o, out)


def _raw(value):
    return value.raw if isinstance(value, OnDevice) else value


_library = torch.library.Library("_", "IMPL")  # must outlive the module, or the fallback goes with it
_library.fallback(lambda func, *args, **kwargs: _run(func, args, kwargs), "PrivateUse1")
