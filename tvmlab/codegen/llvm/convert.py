"""Conversions between element types."""

from __future__ import annotations

from tvmlab.ir import Cast
from tvmlab.support import DType

from .context import Context, emits
from .small_floats import narrow_small, round_to_odd, widen_small
from .types import literal, llvm_type


@emits(Cast)
def _cast(ctx: Context, expr: Cast) -> str:
    return convert(ctx, ctx.expr(expr.value), expr.value.dtype, expr.dtype)


def convert(ctx: Context, value: str, source: DType, dest: DType) -> str:
    """A value of one type as another: truncating to integers, wrapping to narrower integers."""
    if source == dest:
        return value
    if dest.is_bool:
        return _to_bool(ctx, value, source)
    if source.is_bool:
        return _from_bool(ctx, value, source, dest)
    if source.is_float and dest.is_float:
        return _between_floats(ctx, value, source, dest)
    if source.is_float:
        return _float_to_int(ctx, value, source, dest)
    if dest.is_float:
        return _int_to_float(ctx, value, source, dest)
    if dest.bits == source.bits:
        return value
    op = "trunc" if dest.bits < source.bits else "sext" if source.kind == "int" else "zext"
    return _convert(ctx, op, value, source, dest)


def widen_float(ctx: Context, value: str, source: DType, dest: DType) -> str:
    """A float value in a type that can hold it exactly."""
    if source == dest:
        return value
    if source.bits == 16:
        single = DType("float", 32, source.lanes)
        return widen_float(ctx, widen_small(ctx, value, source), single, dest)
    return _convert(ctx, "fpext", value, source, dest)


def narrow_float(ctx: Context, value: str, source: DType, dest: DType) -> str:
    """A float value rounded (to nearest, ties to even) to a type with fewer digits."""
    if source == dest:
        return value
    if dest.bits == 16:
        if source.bits == 64:
            value = round_to_odd(ctx, value, source.lanes)
        return narrow_small(ctx, value, dest)
    return _convert(ctx, "fptrunc", value, source, dest)


def _between_floats(ctx: Context, value: str, source: DType, dest: DType) -> str:
    if source.bits == dest.bits == 16:
        single = DType("float", 32, source.lanes)
        return narrow_float(ctx, widen_float(ctx, value, source, single), single, dest)
    step = widen_float if dest.bits > source.bits else narrow_float
    return step(ctx, value, source, dest)


def _to_bool(ctx: Context, value: str, source: DType) -> str:
    if source.is_float:
        wide = source if source.bits > 16 else DType("float", 32, source.lanes)
        value = widen_float(ctx, value, source, wide)
        return ctx.fn.value(f"fcmp une {llvm_type(wide)} {value}, {literal(0.0, wide)}", "c")
    return ctx.fn.value(f"icmp ne {llvm_type(source)} {value}, {literal(0, source)}", "c")


def _from_bool(ctx: Context, value: str, source: DType, dest: DType) -> str:
    mask, kind = llvm_type(source), llvm_type(dest)
    one, zero = literal(1, dest), literal(0, dest)
    return ctx.fn.value(f"select {mask} {value}, {kind} {one}, {kind} {zero}")


def _float_to_int(ctx: Context, value: str, source: DType, dest: DType) -> str:
    if source.bits == 16:
        single = DType("float", 32, source.lanes)
        value, source = widen_float(ctx, value, source, single), single
    # Narrow types go through a wider signed one and wrap, so that -1.0 becomes 255 in uint8.
    bits = 32 if dest.bits < 32 else 64 if dest == DType("uint", 32, dest.lanes) else dest.bits
    kind = "uint" if dest.kind == "uint" and dest.bits == 64 else "int"
    through = DType(kind, bits, dest.lanes)
    op = "fptosi" if kind == "int" else "fptoui"
    whole = _convert(ctx, op, value, source, through)
    # A value that does not fit is some integer, not undefined behavior.
    whole = ctx.fn.value(f"freeze {llvm_type(through)} {whole}")
    return convert(ctx, whole, through, dest)


def _int_to_float(ctx: Context, value: str, source: DType, dest: DType) -> str:
    op = "sitofp" if source.kind == "int" else "uitofp"
    if dest.bits == 16:
        single = DType("float", 32, dest.lanes)
        return narrow_float(ctx, _convert(ctx, op, value, source, single), single, dest)
    return _convert(ctx, op, value, source, dest)


def _convert(ctx: Context, op: str, value: str, source: DType, dest: DType) -> str:
    return ctx.fn.value(f"{op} {llvm_type(source)} {value} to {llvm_type(dest)}")
