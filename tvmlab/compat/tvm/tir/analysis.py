"""Questions about programs."""

from __future__ import annotations

from typing import Any

from tvmlab.compat.tvm.missing import missing
from tvmlab.ir import structural_equal

__getattr__ = missing("tvm.tir.analysis")


def expr_deep_equal(lhs: Any, rhs: Any) -> bool:
    """Whether two expressions are the same over the same variables."""
    return bool(structural_equal(lhs, rhs))
