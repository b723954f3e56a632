"""Integer division rounding down or to zero, exact for negative operands and free of traps.

A processor traps on division by zero and on the smallest integer divided by -1. Neither may take
the process down: as in NumPy, a zero divisor gives 0 and the other case wraps.
"""

from __future__ import annotations

from tvmlab.ir import Binary, Broadcast, Const, Expr
from tvmlab.support import DType

from .context import Context
from .types import literal, llvm_type, suffix


def divide(ctx: Context, expr: Binary) -> str:
    """Emit one of the four integer divisions in its cheapest correct form."""
    a, dtype = ctx.expr(expr.a), expr.dtype
    divisor = _literal_value(expr.b)
    non_negative = ctx.ranges.of(expr.a)[0] >= 0
    if divisor is not None and divisor > 0:
        floor = expr.op.startswith("floor")
        if divisor & (divisor - 1) == 0 and (floor or non_negative):
            return _power_of_two(ctx, expr, a, divisor)
        if non_negative or not floor:
            return _plain(ctx, expr.op, a, literal(divisor, dtype), dtype, unsigned=non_negative)
    b = ctx.expr(expr.b)
    low, _ = ctx.ranges.of(expr.b)
    if low > 0 and non_negative:
        return _plain(ctx, expr.op, a, b, dtype, unsigned=True)
    zero = None
    if not (low > 0 or (divisor is not None and divisor != 0)):
        b, zero = _without_zero(ctx, b, dtype)
    result = _signed(ctx, expr, a, b) if dtype.kind == "int" else _plain(
        ctx, expr.op, a, b, dtype, unsigned=True
    )  # fmt: skip
    return result if zero is None else _select(ctx, zero, literal(0, dtype), result, dtype)


def divide_float(ctx: Context, op: str, a: str, b: str, dtype: DType) -> str:
    """The same four on floats: the modulus is exact, the quotient a whole number (as in NumPy)."""
    kind, fn = llvm_type(dtype), ctx.fn
    mask, zero = _mask_type(dtype), literal(0.0, dtype)
    rest = fn.value(f"frem {kind} {a}, {b}")
    adjust = None
    if op.startswith("floor"):
        nonzero = fn.value(f"fcmp une {kind} {rest}, {zero}", "c")
        rest_sign = fn.value(f"fcmp olt {kind} {rest}, {zero}", "c")
        sign = fn.value(f"fcmp olt {kind} {b}, {zero}", "c")
        differ = fn.value(f"xor {mask} {rest_sign}, {sign}", "c")
        adjust = fn.value(f"and {mask} {nonzero}, {differ}", "c")
    if op.endswith("mod"):
        if adjust is None:
            return rest
        return _select(ctx, adjust, fn.value(f"fadd {kind} {rest}, {b}"), rest, dtype)
    exact = fn.value(f"fdiv {kind} {fn.value(f'fsub {kind} {a}, {rest}')}, {b}")
    if adjust is not None:
        less = fn.value(f"fsub {kind} {exact}, {literal(1.0, dtype)}")
        exact = _select(ctx, adjust, less, exact, dtype)
    whole = ctx.intrinsic(f"rint.{suffix(dtype)}", kind, (kind, exact))
    # Division by zero has a NaN modulus; its quotient is the infinity that plain division gives.
    is_zero = fn.value(f"fcmp oeq {kind} {b}, {zero}", "c")
    return _select(ctx, is_zero, fn.value(f"fdiv {kind} {a}, {b}"), whole, dtype)


def _power_of_two(ctx: Context, expr: Binary, a: str, divisor: int) -> str:
    kind, dtype = llvm_type(expr.dtype), expr.dtype
    if expr.op.endswith("mod"):
        return ctx.fn.value(f"and {kind} {a}, {literal(divisor - 1, dtype)}")
    op = "ashr" if dtype.kind == "int" else "lshr"
    return ctx.fn.value(f"{op} {kind} {a}, {literal(divisor.bit_length() - 1, dtype)}")


def _plain(ctx: Context, op: str, a: str, b: str, dtype: DType, *, unsigned: bool) -> str:
    """The processor's own division: right when signs do not matter or rounding is to zero."""
    name = f"{'u' if unsigned else 's'}{'div' if op.endswith('div') else 'rem'}"
    return ctx.fn.value(f"{name} {llvm_type(dtype)} {a}, {b}")


def _signed(ctx: Context, expr: Binary, a: str, b: str) -> str:
    """Division of signed numbers by a divisor known not to be zero."""
    dtype, fn = expr.dtype, ctx.fn
    kind, op, zero = llvm_type(dtype), expr.op, literal(0, dtype)
    low, high = ctx.ranges.of(expr.b)
    minus = None
    if low <= -1 <= high:
        minus = fn.value(f"icmp eq {kind} {b}, {literal(-1, dtype)}", "c")
        b = _select(ctx, minus, literal(1, dtype), b, dtype)
    rest = fn.value(f"srem {kind} {a}, {b}")
    quotient = fn.value(f"sdiv {kind} {a}, {b}") if op.endswith("div") else ""
    if op.startswith("floor"):
        inexact = fn.value(f"icmp ne {kind} {rest}, {zero}", "c")
        mixed = fn.value(f"xor {kind} {rest}, {b}")
        signs = fn.value(f"icmp slt {kind} {mixed}, {zero}", "c")
        adjust = fn.value(f"and {_mask_type(dtype)} {inexact}, {signs}", "c")
        if op == "floormod":
            rest = _select(ctx, adjust, fn.value(f"add {kind} {rest}, {b}"), rest, dtype)
        else:
            down = fn.value(f"sub {kind} {quotient}, {literal(1, dtype)}")
            quotient = _select(ctx, adjust, down, quotient, dtype)
    if op.endswith("mod"):
        return rest  # a divisor of -1 was replaced by 1: the rest is 0 for both
    if minus is None:
        return quotient
    return _select(ctx, minus, fn.value(f"sub {kind} {zero}, {quotient}"), quotient, dtype)


def _without_zero(ctx: Context, b: str, dtype: DType) -> tuple[str, str]:
    """The divisor with 1 in place of 0, and where that was done."""
    zero = ctx.fn.value(f"icmp eq {llvm_type(dtype)} {b}, {literal(0, dtype)}", "c")
    return _select(ctx, zero, literal(1, dtype), b, dtype), zero


def _select(ctx: Context, cond: str, then: str, otherwise: str, dtype: DType) -> str:
    kind = llvm_type(dtype)
    return ctx.fn.value(f"select {_mask_type(dtype)} {cond}, {kind} {then}, {kind} {otherwise}")


def _mask_type(dtype: DType) -> str:
    return "i1" if dtype.lanes == 1 else f"<{dtype.lanes} x i1>"


def _literal_value(expr: Expr) -> int | None:
    if isinstance(expr, Broadcast):
        expr = expr.value
    return int(expr.value) if isinstance(expr, Const) else None
