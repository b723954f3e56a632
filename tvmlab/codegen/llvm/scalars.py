"""Arithmetic, comparisons, negation: every `Binary`, `Compare`, `Not`, for any lane count.

float16 and bfloat16 are computed in float32 and rounded after each operation, which gives the
correctly rounded result of `+ - * /`.
"""

from __future__ import annotations

import math

from tvmlab.ir import Binary, Broadcast, Compare, Const, Expr, Not
from tvmlab.support import DType, UnsupportedOp

from .context import Context, emits
from .convert import narrow_float, widen_float
from .division import divide, divide_float
from .types import literal, llvm_type

_INT_OPS = {
    "add": "add", "sub": "sub", "mul": "mul",
    "bitand": "and", "bitor": "or", "bitxor": "xor",
}  # fmt: skip
_FLOAT_OPS = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_BOOL_OPS = {
    "add": "or", "mul": "and", "bitand": "and", "bitor": "or", "bitxor": "xor",
    "min": "and", "max": "or",
}  # fmt: skip
_SIGNED = {"eq": "eq", "ne": "ne", "lt": "slt", "le": "sle", "gt": "sgt", "ge": "sge"}
_UNSIGNED = {"eq": "eq", "ne": "ne", "lt": "ult", "le": "ule", "gt": "ugt", "ge": "uge"}
_ORDERED = {"eq": "oeq", "ne": "une", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge"}
_DIVISIONS = ("floordiv", "floormod", "truncdiv", "truncmod")


@emits(Binary)
def _binary(ctx: Context, expr: Binary) -> str:
    dtype = expr.dtype
    if dtype.is_bool:
        return _bool_binary(ctx, expr)
    if dtype.is_float:
        return _float_binary(ctx, expr)
    if expr.op in _DIVISIONS:
        return divide(ctx, expr)
    a, b, kind = ctx.expr(expr.a), ctx.expr(expr.b), llvm_type(dtype)
    if expr.op in ("shl", "shr"):
        return _shift(ctx, expr, a, b)
    if expr.op in ("min", "max"):
        signs = _SIGNED if dtype.kind == "int" else _UNSIGNED
        sign = signs["lt" if expr.op == "min" else "gt"]
        return _choose(ctx, f"icmp {sign} {kind} {a}, {b}", dtype, a, b)
    if expr.op not in _INT_OPS:
        raise UnsupportedOp(f"{expr.op} is not defined for {dtype}")
    flag = " nsw" if expr.op in ("add", "sub", "mul") and ctx.ranges.no_wrap(expr) else ""
    return ctx.fn.value(f"{_INT_OPS[expr.op]}{flag} {kind} {a}, {b}")


@emits(Compare)
def _compare(ctx: Context, expr: Compare) -> str:
    dtype = expr.a.dtype
    a, b = ctx.expr(expr.a), ctx.expr(expr.b)
    if dtype.is_float:
        wide = _computed_in(dtype)
        a, b = widen_float(ctx, a, dtype, wide), widen_float(ctx, b, dtype, wide)
        return ctx.fn.value(f"fcmp {_ORDERED[expr.op]} {llvm_type(wide)} {a}, {b}", "c")
    signs = _SIGNED if dtype.kind == "int" else _UNSIGNED
    return ctx.fn.value(f"icmp {signs[expr.op]} {llvm_type(dtype)} {a}, {b}", "c")


@emits(Not)
def _not(ctx: Context, expr: Not) -> str:
    value = ctx.expr(expr.a)
    return ctx.fn.value(f"xor {llvm_type(expr.dtype)} {value}, {literal(True, expr.dtype)}", "c")


def _bool_binary(ctx: Context, expr: Binary) -> str:
    if expr.op not in _BOOL_OPS:
        raise UnsupportedOp(f"{expr.op} is not defined for bool")
    a, b = ctx.expr(expr.a), ctx.expr(expr.b)
    return ctx.fn.value(f"{_BOOL_OPS[expr.op]} {llvm_type(expr.dtype)} {a}, {b}")


def _float_binary(ctx: Context, expr: Binary) -> str:
    dtype = expr.dtype
    wide = _computed_in(dtype)
    a = widen_float(ctx, ctx.expr(expr.a), dtype, wide)
    b = widen_float(ctx, ctx.expr(expr.b), dtype, wide)
    kind = llvm_type(wide)
    if expr.op in _FLOAT_OPS:
        flags = ctx.options.fast_math.flags if wide == dtype else ""
        result = ctx.fn.value(f"{_FLOAT_OPS[expr.op]} {flags}{kind} {a}, {b}")
    elif expr.op in ("min", "max"):
        result = _float_extreme(ctx, expr, a, b, wide)
    elif expr.op in _DIVISIONS:
        result = divide_float(ctx, expr.op, a, b, wide)
    else:
        raise UnsupportedOp(f"{expr.op} is not defined for {dtype}")
    return narrow_float(ctx, result, wide, dtype)


def _float_extreme(ctx: Context, expr: Binary, a: str, b: str, dtype: DType) -> str:
    """The smaller or larger value, NaN if either is NaN (as in NumPy).

    `x < y ? x : y`, which is one instruction on x86, yields y when either is NaN. So a literal
    goes first, and only with two unknown operands is a NaN in the other looked after: that is the
    second one, since in sums of many the first is what each term waits for. A NaN of its own keeps
    LLVM from joining the two choices, which would take the instruction apart.
    """
    sign = "olt" if expr.op == "min" else "ogt"
    kind = llvm_type(dtype)
    first, second = (a, b) if _is_literal(expr.a) else (b, a)
    chosen = _choose(ctx, f"fcmp {sign} {kind} {first}, {second}", dtype, first, second)
    if _is_literal(expr.a) or _is_literal(expr.b):
        return chosen
    return _choose(ctx, f"fcmp uno {kind} {b}, {b}", dtype, literal(math.nan, dtype), chosen)


def _is_literal(expr: Expr) -> bool:
    """Whether the expression is one literal that is not NaN."""
    if isinstance(expr, Broadcast):
        expr = expr.value
    return isinstance(expr, Const) and expr.value == expr.value


def _choose(ctx: Context, compare: str, dtype: DType, then: str, otherwise: str) -> str:
    cond = ctx.fn.value(compare, "c")
    mask, kind = f"<{dtype.lanes} x i1>" if dtype.lanes > 1 else "i1", llvm_type(dtype)
    return ctx.fn.value(f"select {mask} {cond}, {kind} {then}, {kind} {otherwise}")


def _shift(ctx: Context, expr: Binary, a: str, b: str) -> str:
    """A shift that gives 0 (or the sign) when it shifts by the width or more, as NumPy does."""
    dtype = expr.dtype
    kind, bits = llvm_type(dtype), dtype.bits
    name = "shl" if expr.op == "shl" else "ashr" if dtype.kind == "int" else "lshr"
    low, high = ctx.ranges.of(expr.b)
    if low >= 0 and high < bits:
        return ctx.fn.value(f"{name} {kind} {a}, {b}")
    last = literal(bits - 1, dtype)
    inside = f"icmp ule {kind} {b}, {last}"
    amount = _choose(ctx, inside, dtype, b, last)
    shifted = ctx.fn.value(f"{name} {kind} {a}, {amount}")
    if name == "ashr":
        return shifted
    return _choose(ctx, inside, dtype, shifted, literal(0, dtype))


def _computed_in(dtype: DType) -> DType:
    """The type in which arithmetic on a float type is done."""
    return dtype if dtype.bits > 16 else DType("float", 32, dtype.lanes)
