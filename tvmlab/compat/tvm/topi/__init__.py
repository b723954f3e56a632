"""Operators by their old names."""

from __future__ import annotations

from typing import Any

from tvmlab import topi as _topi
from tvmlab.compat.tvm.missing import missing
from tvmlab.topi import *  # noqa: F403
from tvmlab.topi import add, tag

from . import generic, nn, testing, util, utils, x86

__all__ = ["generic", "nn", "tag", "testing", "util", "utils", "x86"]

broadcast_add = add

_missing = missing("tvm.topi")


def __getattr__(name: str) -> Any:
    found = getattr(_topi, name, None)
    return _missing(name) if found is None else found
