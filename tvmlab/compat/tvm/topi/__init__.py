"""Operators by their old names."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import tvmlab.topi as _topi
from tvmlab.compat.tvm.missing import missing
from tvmlab.compat.tvm.te.tensors import returns_old
from tvmlab.topi import tag

from . import adapted, generic, nn, testing, util, utils, x86

__all__ = ["broadcast_add", "generic", "nn", "tag", "testing", "util", "utils", "x86"]

broadcast_add = returns_old(_topi.add)

_missing = missing("tvm.topi")
_operators = {
    name: returns_old(found)
    for name in _topi.__all__
    if isinstance(found := getattr(_topi, name), FunctionType)
} | {name: getattr(adapted, name) for name in adapted.__all__}


def __getattr__(name: str) -> Any:
    return _operators[name] if name in _operators else _missing(name)
