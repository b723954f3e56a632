"""Conversions between element types."""

from __future__ import annotations

from tvmlab.ir import Cast
from tvmlab.support import DType

from .context import Context, emits
from .types import literal, llvm_type, suffix


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
    if source.kind == "bfloat":
        # A bfloat16 is the upper half of a float32.
        narrow, wide = DType("uint", 16, source.lanes), DType("uint", 32, source.lanes)
        upper = _convert(ctx, "zext", value, narrow, wide)
        shifted = ctx.fn.value(f"shl {llvm_type(wide)} {upper}, {literal(16, wide)}")
        single = DType("float", 32, source.lanes)
        value = ctx.fn.value(f"bitcast {llvm_type(wide)} {shifted} to {llvm_type(single)}")
        return widen_float(ctx, value, single, dest)
    return _convert(ctx, "fpext", value, source, dest)


def narrow_float(ctx: Context, value: str, source: DType, dest: DType) -> str:
    """A float value rounded (to nearest, ties to even) to a type with fewer digits."""
    if source == dest:
        return value
    if source.bits == 64 and dest.bits == 16:
        single = DType("float", 32, dest.lanes)
        return narrow_float(ctx, _round_to_odd(ctx, value, source, single), single, dest)
    if dest.kind == "bfloat":
        return _to_bfloat(ctx, value, dest)
    return _convert(ctx, "fptrunc", value, source, dest)


def _between_floats(ctx: Context, value: str, source: DType, dest: DType) -> str:
    if source.bits == dest.bits == 16:
        single = DType("float", 32, source.lanes)
        return narrow_float(ctx, widen_float(ctx, value, source, single), single, dest)
    step = widen_float if dest.bits > source.bits else narrow_float
    return step(ctx, value, source, dest)


def _to_bfloat(ctx: Context, value: str, dest: DType) -> str:
    """Round a float32 in integer arithmetic: exact for subnormals, which vcvtneps2bf16 is not."""
    single, word = DType("float", 32, dest.lanes), DType("uint", 32, dest.lanes)
    half = DType("uint", 16, dest.lanes)
    fn, kind = ctx.fn, llvm_type(word)
    bits = fn.value(f"bitcast {llvm_type(single)} {value} to {kind}")
    upper = fn.value(f"lshr {kind} {bits}, {literal(16, word)}")
    odd = fn.value(f"and {kind} {upper}, {literal(1, word)}")
    bias = fn.value(f"add {kind} {odd}, {literal(0x7FFF, word)}")
    sum_ = fn.value(f"add {kind} {bits}, {bias}")
    rounded = fn.value(f"lshr {kind} {sum_}, {literal(16, word)}")
    quiet = fn.value(f"or {kind} {upper}, {literal(0x40, word)}")
    is_nan = fn.value(f"fcmp uno {llvm_type(single)} {value}, {value}", "c")
    mask = "i1" if dest.lanes == 1 else f"<{dest.lanes} x i1>"
    chosen = fn.value(f"select {mask} {is_nan}, {kind} {quiet}, {kind} {rounded}")
    return _convert(ctx, "trunc", chosen, word, half)


def _round_to_odd(ctx: Context, value: str, source: DType, dest: DType) -> str:
    """Round toward zero and set the last bit if inexact, so that rounding once more is harmless."""
    word = DType("uint", 32, dest.lanes)
    fn, kind, wide = ctx.fn, llvm_type(word), llvm_type(source)
    mask = "i1" if dest.lanes == 1 else f"<{dest.lanes} x i1>"
    near = _convert(ctx, "fptrunc", value, source, dest)
    back = _convert(ctx, "fpext", near, dest, source)
    bits = fn.value(f"bitcast {llvm_type(dest)} {near} to {kind}")
    size = ctx.intrinsic(f"fabs.{suffix(source)}", wide, (wide, value))
    back_size = ctx.intrinsic(f"fabs.{suffix(source)}", wide, (wide, back))
    over = fn.value(f"fcmp ogt {wide} {back_size}, {size}", "c")
    less = fn.value(f"sub {kind} {bits}, {literal(1, word)}")
    down = fn.value(f"select {mask} {over}, {kind} {less}, {kind} {bits}")
    inexact = fn.value(f"fcmp one {wide} {value}, {back}", "c")
    sticky = fn.value(f"or {kind} {down}, {literal(1, word)}")
    result = fn.value(f"select {mask} {inexact}, {kind} {sticky}, {kind} {bits}")
    return fn.value(f"bitcast {kind} {result} to {llvm_type(dest)}")


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
    # A value that does not fit is some integer, not undefined behaviour.
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
