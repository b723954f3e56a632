"""Calls of code from outside the program: C functions, Python functions, prefetches.

A C function gets a pointer to the first element of each part and scalars by value. A Python
function is called through `tvmlab_call_packed`, which the runtime provides: it gets a text that
describes the arguments and an array of 8-byte slots, for each part its address, sizes and strides,
for each scalar its value.
"""

from __future__ import annotations

from tvmlab.ir import Const, Expr, Invoke, Let, Operand, const_int
from tvmlab.support import InternalError, UnsupportedOp

from .builder import FunctionText
from .context import Context, runs
from .memory import element_pointer
from .streaming import fence_at_leave
from .types import c_parameter, llvm_type

PACKED_ENTRY = "tvmlab_call_packed"


@runs(Let)
def _let(ctx: Context, stmt: Let) -> None:
    while True:
        if stmt.value.dtype.is_int and stmt.value.dtype.lanes == 1:
            ctx.ranges.bind(stmt.var, *ctx.ranges.of(stmt.value))
        ctx.vars[stmt.var] = ctx.expr(stmt.value)
        # Copies of a body bind the same variable to other values.
        ctx.fn.nodes.clear()
        if not isinstance(stmt.body, Let):
            ctx.stmt(stmt.body)
            return
        stmt = stmt.body


@runs(Invoke)
def _invoke(ctx: Context, stmt: Invoke) -> None:
    kind, _, name = stmt.callee.partition(":")
    if kind == "prefetch" and not name:
        _prefetch(ctx, stmt)
    elif kind == "symbol" and name:
        _call_symbol(ctx, stmt, name)
    elif kind == "packed" and name:
        _call_packed(ctx, stmt, name)
    else:
        raise UnsupportedOp(
            f"{stmt.callee} is called, which this machine does not have",
            hint='call a C function as "symbol:NAME" or a Python function as "packed:NAME"',
        )


def _first_element(ctx: Context, operand: Operand) -> str:
    region = operand.region
    if len(region.mins) > 1:
        raise InternalError(f"a part of {region.buffer.name} is not flat")
    return (
        element_pointer(ctx, region.buffer, region.mins[0])
        if region.mins
        else ctx.address(region.buffer)
    )


def _prefetch(ctx: Context, stmt: Invoke) -> None:
    """Fetch the line of each part's first element; numbers after the parts: write, locality."""
    numbers = [const_int(a) for a in stmt.args if isinstance(a, Expr)]
    write, locality = (*numbers, *(0, 3)[len(numbers) :])
    if len(numbers) > 2 or write not in (0, 1) or locality not in (0, 1, 2, 3):
        raise UnsupportedOp(
            "a prefetch is followed by at most two literal numbers: 1 if it is to write, "
            "and the locality from 0 (used once) to 3 (used often)"
        )
    function = ctx.module.declare("llvm.prefetch.p0", "void", "ptr, i32, i32, i32")
    for arg in stmt.args:
        if isinstance(arg, Operand):
            pointer = _first_element(ctx, arg)
            ctx.fn.effect(
                f"call void {function}(ptr {pointer}, i32 {write}, i32 {locality}, i32 1)"
            )


def _call_symbol(ctx: Context, stmt: Invoke, name: str) -> None:
    operands: list[str] = []
    types: list[str] = []
    for arg in stmt.args:
        if isinstance(arg, Operand):
            types.append("ptr")
            operands.append(f"ptr {_first_element(ctx, arg)}")
        else:
            kind = c_parameter(name, arg.dtype)
            types.append(kind)
            operands.append(f"{kind} {ctx.expr(arg)}")
    shown = f'"{name}"'
    ctx.module.declare_text(name, f"declare void @{shown}({', '.join(types)})")
    ctx.fn.effect(f"call void @{shown}({', '.join(operands)})")
    if ctx.module.past_caches:
        fence_at_leave(ctx)


def _call_packed(ctx: Context, stmt: Invoke, name: str) -> None:
    fn = ctx.fn
    described: list[str] = [name]
    slots: list[tuple[str, str]] = []
    for arg in stmt.args:
        if isinstance(arg, Operand):
            dtype = arg.region.buffer.dtype
            access = "r" if arg.access == "read" else "w"
            described.append(f"{access}{len(arg.sizes)}:{dtype}")
            slots.append(("ptr", _first_element(ctx, arg)))
            strides = arg.strides or (Const(1, arg.sizes[0].dtype),) if arg.sizes else ()
            slots += [("i64", _as_i64(ctx, e)) for e in (*arg.sizes, *strides)]
        else:
            described.append(f"s:{arg.dtype}")
            slots.append(_scalar_slot(ctx, arg))
    space = _space(fn, len(slots))
    for number, (kind, value) in enumerate(slots):
        place = fn.value(f"getelementptr inbounds i64, ptr {space}, i64 {number}", "p")
        fn.effect(f"store {kind} {value}, ptr {place}, align 8")
    text = ctx.module.text_constant("\n".join(described))
    ctx.module.declare(PACKED_ENTRY, "i32", "ptr, ptr")
    code = fn.value(f"call i32 @{PACKED_ENTRY}(ptr {text}, ptr {space})", "code")
    failed, go_on = fn.label("raised"), fn.label("returned")
    fn.branch(fn.value(f"icmp ne i32 {code}, 0", "c"), failed, go_on)
    fn.start(failed)
    ctx.leave(code)
    fn.start(go_on)


def _space(fn: FunctionText, count: int) -> str:
    return fn.slot(f"[{max(count, 1)} x i64]", 8, 8 * count, "arguments")


def _as_i64(ctx: Context, e: Expr) -> str:
    value = ctx.expr(e)
    if e.dtype.bits == 64:
        return value
    extend = "sext" if e.dtype.kind == "int" else "zext"
    return ctx.fn.value(f"{extend} {llvm_type(e.dtype)} {value} to i64")


def _scalar_slot(ctx: Context, e: Expr) -> tuple[str, str]:
    """A scalar as it lies at the start of its slot (little-endian)."""
    value = ctx.expr(e)
    if e.dtype.is_bool:
        return "i8", ctx.fn.value(f"zext i1 {value} to i8")
    return llvm_type(e.dtype), value
