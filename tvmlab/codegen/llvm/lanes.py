"""All lanes of a vector joined to one value: halves upon halves, in as many steps as a tree has."""

from __future__ import annotations

import math

from tvmlab.ir import JOIN_LANES, Call
from tvmlab.support import DType, UnsupportedOp

from .context import Context
from .convert import narrow_float, widen_float
from .types import literal, llvm_type

_FLOAT = {"add": "fadd", "mul": "fmul"}
_INT = {"add": "add", "mul": "mul"}
_LESS = {"min": "lt", "max": "gt"}


def join_lanes(ctx: Context, expr: Call) -> str:
    """The value of `lanes_add(vector)` and its like."""
    given, op = expr.args[0].dtype, expr.op.removeprefix(JOIN_LANES)
    dtype = given if given.bits > 16 or given.is_int else DType("float", 32, given.lanes)
    value = ctx.expr(expr.args[0])
    if given.is_float:
        value = widen_float(ctx, value, given, dtype)
    lanes = dtype.lanes
    while lanes > 1:
        # An odd lane joins the lower half at the end.
        half = lanes // 2
        low = _part(ctx, value, dtype.with_lanes(lanes), 0, half)
        high = _part(ctx, value, dtype.with_lanes(lanes), half, half)
        joined = _join(ctx, op, low, high, dtype.with_lanes(half))
        if lanes % 2:
            last = _part(ctx, value, dtype.with_lanes(lanes), lanes - 1, 1)
            first = _part(ctx, joined, dtype.with_lanes(half), 0, 1)
            both = _join(ctx, op, first, last, dtype.scalar)
            joined = both if half == 1 else _put_first(ctx, joined, both, dtype.with_lanes(half))
        value, lanes = joined, half
    return narrow_float(ctx, value, dtype.scalar, given.scalar) if given.is_float else value


def _part(ctx: Context, value: str, dtype: DType, start: int, count: int) -> str:
    """So many lanes from one on; a single one as a scalar."""
    kind = llvm_type(dtype)
    if dtype.lanes == 1:
        return value
    if count == 1:
        return ctx.fn.value(f"extractelement {kind} {value}, i64 {start}")
    mask = ", ".join(f"i32 {lane}" for lane in range(start, start + count))
    return ctx.fn.value(f"shufflevector {kind} {value}, {kind} poison, <{count} x i32> <{mask}>")


def _put_first(ctx: Context, value: str, first: str, dtype: DType) -> str:
    kind = f"{llvm_type(dtype)} {value}, {llvm_type(dtype.scalar)} {first}"
    return ctx.fn.value(f"insertelement {kind}, i64 0")


def _join(ctx: Context, op: str, a: str, b: str, dtype: DType) -> str:
    kind = llvm_type(dtype)
    if op in _LESS:
        return _extreme(ctx, op, a, b, dtype)
    names = _FLOAT if dtype.is_float else _INT
    if op not in names:
        raise UnsupportedOp(f"lanes cannot be joined by {op}")
    return ctx.fn.value(f"{names[op]} {kind} {a}, {b}")


def _extreme(ctx: Context, op: str, a: str, b: str, dtype: DType) -> str:
    """The smaller or larger, lane by lane; NaN if either is, as for two scalars."""
    kind = llvm_type(dtype)
    mask = f"<{dtype.lanes} x i1>" if dtype.lanes > 1 else "i1"
    sign = "o" if dtype.is_float else "s" if dtype.kind == "int" else "u"
    compare = "fcmp" if dtype.is_float else "icmp"
    cond = ctx.fn.value(f"{compare} {sign}{_LESS[op]} {kind} {a}, {b}", "c")
    chosen = ctx.fn.value(f"select {mask} {cond}, {kind} {a}, {kind} {b}")
    if not dtype.is_float:
        return chosen
    nan = ctx.fn.value(f"fcmp uno {kind} {a}, {a}", "c")
    # A literal keeps LLVM from joining the two choices.
    return ctx.fn.value(f"select {mask} {nan}, {kind} {literal(math.nan, dtype)}, {kind} {chosen}")
