"""Which conditions may be asked elsewhere, and which still hold later."""

from __future__ import annotations

from tvmlab.ir import Binary, Expr, Load, conjunction, conjuncts, const_int, loads_of, walk

_DIVISIONS = ("floordiv", "floormod", "truncdiv", "truncmod")


def is_pure(cond: Expr) -> bool:
    """Whether an expression may be evaluated anywhere: no loads, no division by what may be 0."""
    return not any(isinstance(n, Load) or may_divide_by_zero(n) for n in walk(cond))


def may_divide_by_zero(node: object) -> bool:
    """Whether a node divides integers by anything but a literal other than 0."""
    if not isinstance(node, Binary) or node.op not in _DIVISIONS or node.dtype.is_float:
        return False
    return not const_int(node.b)


def lasting(cond: Expr) -> Expr:
    """The part of a condition that still holds after something has been stored."""
    return conjunction([part for part in conjuncts(cond) if not loads_of(part)])
