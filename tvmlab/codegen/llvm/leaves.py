"""Literals, variables, ramps, broadcasts, and what is lazy: Select and Logic."""

from __future__ import annotations

from tvmlab.ir import (
    Broadcast,
    Call,
    Const,
    Expr,
    Load,
    Logic,
    Node,
    Ramp,
    Select,
    Var,
    is_const,
    walk,
)
from tvmlab.support import BOOL, InternalError

from .context import Context, emits
from .types import literal, llvm_type, vector_literal


@emits(Const)
def _const(ctx: Context, expr: Const) -> str:
    del ctx
    return literal(expr.value, expr.dtype)


@emits(Var)
def _var(ctx: Context, expr: Var) -> str:
    value = ctx.vars.get(expr)
    if value is None:
        raise InternalError(f"variable {expr.name} is used outside its loop")
    return value


@emits(Broadcast)
def _broadcast(ctx: Context, expr: Broadcast) -> str:
    return ctx.splat(ctx.expr(expr.value), expr.value, expr.lanes)


@emits(Ramp)
def _ramp(ctx: Context, expr: Ramp) -> str:
    kind, lane = llvm_type(expr.dtype), llvm_type(expr.base.dtype)
    if isinstance(expr.stride, Const):
        step = int(expr.stride.value)
        steps = vector_literal([n * step for n in range(expr.lanes)], lane)
    else:
        counts = vector_literal(list(range(expr.lanes)), lane)
        stride = ctx.splat(ctx.expr(expr.stride), expr.stride, expr.lanes)
        steps = ctx.fn.value(f"mul {kind} {stride}, {counts}")
    if is_const(expr.base, 0):
        return steps
    base = ctx.splat(ctx.expr(expr.base), expr.base, expr.lanes)
    return ctx.fn.value(f"add {kind} {base}, {steps}")


@emits(Select)
def _select(ctx: Context, expr: Select) -> str:
    cond = ctx.expr(expr.cond)
    if expr.cond.dtype.lanes > 1:
        return _select_lanes(ctx, expr, cond)
    if any(_must_be_lazy(branch) for branch in (expr.then, expr.otherwise)):
        return _select_branches(ctx, expr, cond)
    kind = llvm_type(expr.dtype)
    then, otherwise = ctx.expr(expr.then), ctx.expr(expr.otherwise)
    return ctx.fn.value(f"select i1 {cond}, {kind} {then}, {kind} {otherwise}")


def _select_branches(ctx: Context, expr: Select, cond: str) -> str:
    fn = ctx.fn
    yes, no, done = fn.label("then"), fn.label("else"), fn.label("done")
    fn.branch(cond, yes, no)
    arms: list[str] = []
    for label, branch in ((yes, expr.then), (no, expr.otherwise)):
        fn.start(label)
        value = ctx.expr(branch)
        arms.append(f"[ {value}, %{fn.block} ]")
        fn.jump(done)
    fn.start(done)
    return fn.value(f"phi {llvm_type(expr.dtype)} {', '.join(arms)}")


def _select_lanes(ctx: Context, expr: Select, cond: str) -> str:
    """Both branches are computed, but in each only its own lanes touch memory."""
    fn, lanes, kind = ctx.fn, expr.dtype.lanes, llvm_type(expr.dtype)
    mask_type = f"<{lanes} x i1>"
    values: list[str] = []
    for branch, taken in ((expr.then, True), (expr.otherwise, False)):
        if not any(_needs_lanes(node) for node in walk(branch)):
            values.append(ctx.expr(branch))
            continue
        on = cond if taken else fn.value(f"xor {mask_type} {cond}, splat (i1 true)", "mask")
        with ctx.masked(on, lanes):
            values.append(ctx.expr(branch))
    return fn.value(f"select {mask_type} {cond}, {kind} {values[0]}, {kind} {values[1]}")


@emits(Logic)
def _logic(ctx: Context, expr: Logic) -> str:
    if _must_be_lazy(expr.b):
        answer: Expr = Const(expr.op == "or", BOOL)
        if expr.dtype.lanes > 1:
            answer = Broadcast(answer, expr.dtype.lanes)
        sides = (expr.b, answer) if expr.op == "and" else (answer, expr.b)
        return ctx.expr(Select(expr.a, *sides))
    a, b = ctx.expr(expr.a), ctx.expr(expr.b)
    return ctx.fn.value(f"{expr.op} {llvm_type(expr.dtype)} {a}, {b}", "c")


def _must_be_lazy(expr: Expr) -> bool:
    """Whether evaluating an expression in vain could fault: division is emitted free of traps."""
    return any(
        node.buffer.scope != "register" if isinstance(node, Load) else _fails(node)
        for node in walk(expr)
    )


def _needs_lanes(node: Node) -> bool:
    """Whether a node must know which lanes count."""
    return isinstance(node, Load) or _fails(node)


def _fails(node: Node) -> bool:
    return isinstance(node, Call) and node.op == "outside"
