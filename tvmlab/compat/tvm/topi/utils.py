"""Shapes as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tvmlab.compat.tvm.missing import missing
from tvmlab.ir import Expr, as_expr, const_int
from tvmlab.support import ShapeError

__getattr__ = missing("tvm.topi.utils")


def get_const_int(expr: Any) -> int:
    """The value of a whole number that is known."""
    found = const_int(expr) if isinstance(expr, Expr) else int(expr)
    if found is None:
        raise ShapeError("the number is known only at run time")
    return found


def get_const_tuple(in_tuple: Sequence[Any]) -> tuple[Any, ...]:
    """A shape with numbers where they are known."""
    found = [const_int(as_expr(e)) for e in in_tuple]
    return tuple(e if n is None else n for n, e in zip(found, in_tuple, strict=True))


def equal_const_int(expr: Any, value: int) -> bool:
    """Whether a size is known and equal to a number."""
    return const_int(as_expr(expr)) == value


def prod(shape: Sequence[Any]) -> Any:
    """The product of sizes."""
    total: Any = 1
    for size in shape:
        total = size * total
    return total
