"""The builder of statements."""

from __future__ import annotations

from typing import Any

import tvmlab.te as _te
from tvmlab.compat.tvm.missing import missing, refused

__getattr__ = missing("tvm.tir.ir_builder")


def create() -> Any:
    """A builder that collects statements."""
    builder = getattr(_te, "ir_builder", None)
    if builder is None:
        raise refused("tvm.tir.ir_builder", "return the call itself, without a builder")
    return builder.create()
