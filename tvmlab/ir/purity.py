"""What may be evaluated anywhere, and what only where the program evaluates it."""

from __future__ import annotations

from .expr import Binary, Expr, Load, const_int
from .traverse import walk

_DIVISIONS = ("floordiv", "floormod", "truncdiv", "truncmod")


def is_pure(cond: Expr) -> bool:
    """Whether an expression may be evaluated anywhere: no loads, no division by what may be 0."""
    return not any(isinstance(n, Load) or may_divide_by_zero(n) for n in walk(cond))


def may_divide_by_zero(node: object) -> bool:
    """Whether a node divides integers by anything but a literal other than 0."""
    if not isinstance(node, Binary) or node.op not in _DIVISIONS or node.dtype.is_float:
        return False
    return not const_int(node.b)
