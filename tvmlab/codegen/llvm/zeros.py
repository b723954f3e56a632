"""Loops that only clear memory: one call, which the machine does in vectors."""

from __future__ import annotations

import math

from tvmlab.ir import Binary, Const, Expr, For, Store, Var, const, uses_var

from .context import Context
from .memory import element_pointer, flat_index


def clears(stmt: For) -> Expr | None:
    """The index of the first element, if a loop does nothing but store zeros next to each other."""
    store = stmt.body
    if stmt.kind != "serial" or not isinstance(store, Store) or store.mask is not None:
        return None
    value = store.value
    if store.buffer.scope == "register" or not isinstance(value, Const) or value.dtype.lanes != 1:
        return None
    if value.value != 0 or math.copysign(1.0, value.value) < 0:
        return None
    return _without(flat_index(store.buffer, store.indices), stmt.var)


def emit_clear(ctx: Context, stmt: For, first: Expr) -> None:
    """Clear what a loop clears, whose extent is not below zero."""
    store = stmt.body
    assert isinstance(store, Store)
    size = store.buffer.dtype.itemsize
    pointer = element_pointer(ctx, store.buffer, first)
    ctx.fn.stores.add((ctx.address(store.buffer), pointer))
    bytes_ = ctx.fn.value(f"mul nuw nsw i64 {ctx.expr(stmt.extent)}, {size}", "bytes")
    name = "llvm.memset.p0.i64"
    ctx.module.declare(name, "void", "ptr, i8, i64, i1")
    ctx.fn.effect(f"call void @{name}(ptr align {size} {pointer}, i8 0, i64 {bytes_}, i1 false)")


def _without(index: Expr, var: Var) -> Expr | None:
    """An index minus a variable that it is the sum of and something else."""
    if index is var:
        return const(0, var.dtype)
    if not isinstance(index, Binary) or index.op != "add":
        return None
    for part, other in ((index.a, index.b), (index.b, index.a)):
        if not uses_var(other, {var}):
            rest = _without(part, var)
            return None if rest is None else _sum(rest, other)
    return None


def _sum(a: Expr, b: Expr) -> Expr:
    return b if isinstance(a, Const) and a.value == 0 else a + b
