"""Operators by their old names, and arithmetic on whole tensors: `A + B`, `A * 2`."""

from __future__ import annotations

from typing import Any

from tvmlab import topi as _topi
from tvmlab.compat.tvm.missing import missing
from tvmlab.te import Tensor
from tvmlab.topi import *  # noqa: F403
from tvmlab.topi import add, divide, multiply, subtract, tag

from . import generic, nn, testing, util, utils, x86

__all__ = ["generic", "nn", "tag", "testing", "util", "utils", "x86"]

broadcast_add = add

_missing = missing("tvm.topi")


def __getattr__(name: str) -> Any:
    found = getattr(_topi, name, None)
    return _missing(name) if found is None else found


# Old programs write arithmetic on tensors; the language itself knows only elements.
for _name, _operator in {
    "add": add, "sub": subtract, "mul": multiply, "truediv": divide, "div": divide,
}.items():  # fmt: skip
    setattr(Tensor, f"__{_name}__", lambda a, b, _op=_operator: _op(a, b))
    setattr(Tensor, f"__r{_name}__", lambda a, b, _op=_operator: _op(b, a))
setattr(Tensor, "__neg__", lambda a: _topi.negative(a))  # noqa: B010
