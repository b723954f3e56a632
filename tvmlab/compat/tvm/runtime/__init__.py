"""What running programs needs: arrays, modules, conversion of Python values."""

from __future__ import annotations

from typing import Any

from tvmlab.compat.tvm.device import Device, device
from tvmlab.compat.tvm.missing import missing
from tvmlab.compat.tvm.nd import NDArray
from tvmlab.compat.tvm.registry import PackedFunc
from tvmlab.ir import Expr, const

from .module import Module, load_module

__all__ = [
    "Device", "Module", "NDArray", "Object", "PackedFunc", "const", "convert", "device",
    "enabled", "load_module",
]  # fmt: skip

Object = object

__getattr__ = missing("tvm.runtime")


def convert(value: Any, span: Any = None) -> Any:
    """A Python value as programs take it: numbers become literals, lists and dicts their items."""
    del span
    if isinstance(value, bool | int | float) and not isinstance(value, Expr):
        return const(value)
    if isinstance(value, list | tuple):
        return [convert(item) for item in value]  # pyright: ignore
    return value


def enabled(target: str) -> bool:
    """Whether code for a target runs on this machine."""
    from tvmlab.compat.tvm.target import Target

    return Target(target).is_cpu
