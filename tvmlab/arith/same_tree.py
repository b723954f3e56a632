"""Exact sameness of two expressions, node by node: has simplifying changed anything?"""

from __future__ import annotations

from typing import cast

from tvmlab.ir import (
    Binary,
    Broadcast,
    Call,
    Cast,
    Compare,
    Const,
    Expr,
    Load,
    Logic,
    Ramp,
    children,
)


def same_tree(a: Expr, b: Expr) -> bool:
    """Whether two expressions are the same node for node; variables and buffers by identity."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, Binary) and isinstance(b, Binary):
        return a.op == b.op and same_tree(a.a, b.a) and same_tree(a.b, b.b)
    if isinstance(a, Const) and isinstance(b, Const):
        return a.dtype == b.dtype and repr(a.value) == repr(b.value)
    if not _same_label(a, b):
        return False
    first, second = list(children(a)), list(children(b))
    return len(first) == len(second) and all(
        same_tree(cast(Expr, x), cast(Expr, y)) for x, y in zip(first, second, strict=True)
    )


def _same_label(a: Expr, b: Expr) -> bool:
    """Whether what a node holds besides its children is the same."""
    match a, b:
        case (Compare(), Compare()) | (Logic(), Logic()):
            return a.op == b.op
        case Cast(), Cast():
            return a.dtype == b.dtype
        case Load(), Load():
            return a.buffer is b.buffer
        case Call(), Call():
            return a.op == b.op and a.dtype == b.dtype
        case (Ramp(), Ramp()) | (Broadcast(), Broadcast()):
            return a.lanes == b.lanes
        case _:
            return bool(list(children(a)))
