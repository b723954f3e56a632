"""Function calls on integers, and conversions that saturate."""

from __future__ import annotations

from tvmlab.ir import Call
from tvmlab.support import DType, UnsupportedOp

from .builder import HELPER
from .context import Context
from .convert import widen_float
from .types import literal, llvm_type, suffix

_SAME = ("floor", "ceil", "trunc", "round", "nearbyint")
_ALWAYS = {"isnan": False, "isinf": False, "isfinite": True}


def on_integers(ctx: Context, expr: Call, values: list[str], dtype: DType) -> str:
    """Emit a call whose arguments are integers."""
    op, kind, fn = expr.op, llvm_type(dtype), ctx.fn
    if op == "abs" and dtype.kind == "int":
        return ctx.intrinsic(f"abs.{suffix(dtype)}", kind, (kind, values[0]), ("i1", "false"))
    if op == "abs" or op in _SAME:
        return values[0]
    if op == "fma":
        return fn.value(
            f"add {kind} {fn.value(f'mul {kind} {values[0]}, {values[1]}')}, {values[2]}"
        )
    if op in _ALWAYS:
        return literal(_ALWAYS[op], expr.dtype)
    if dtype.is_int and op == "popcount":
        return ctx.intrinsic(f"ctpop.{suffix(dtype)}", kind, (kind, values[0]))
    if dtype.is_int and op == "clz":
        return ctx.intrinsic(f"ctlz.{suffix(dtype)}", kind, (kind, values[0]), ("i1", "false"))
    if dtype.is_int and op == "pow":
        return _power(ctx, values, dtype)
    if op == "fmod" and dtype.is_int:
        raise UnsupportedOp(f"fmod is not defined for {dtype}", hint="use te.truncmod")
    if op == "q_multiply_shift" and dtype.scalar == DType("int", 32):
        return _q_multiply_shift(ctx, values, dtype)
    raise UnsupportedOp(
        f"{op} is not defined for {dtype}", hint='convert first, for example x.astype("float32")'
    )


def saturate(ctx: Context, value: str, source: DType, dest: DType) -> str:
    """The nearest value of an integer type; 0 for NaN."""
    if source.is_float:
        wide = source if source.bits > 16 else DType("float", 32, source.lanes)
        value = widen_float(ctx, value, source, wide)
        sign = "s" if dest.kind == "int" else "u"
        name = f"fpto{sign}i.sat.{suffix(dest)}.{suffix(wide)}"
        return ctx.intrinsic(name, llvm_type(dest), (llvm_type(wide), value))
    if source.is_bool:
        return ctx.fn.value(f"zext {llvm_type(source)} {value} to {llvm_type(dest)}")
    return _saturate_integer(ctx, value, source, dest)


def _saturate_integer(ctx: Context, value: str, source: DType, dest: DType) -> str:
    kind, fn = llvm_type(source), ctx.fn
    sign = "s" if source.kind == "int" else "u"
    low = max(int(source.min_value), int(dest.min_value))
    high = min(int(source.max_value), int(dest.max_value))
    for name, limit, inside in (
        ("max", low, low == source.min_value),
        ("min", high, high == source.max_value),
    ):
        if not inside:
            operands = ((kind, value), (kind, literal(limit, source)))
            value = ctx.intrinsic(f"{sign}{name}.{suffix(source)}", kind, *operands)
    if source.bits == dest.bits:
        return value
    op = "trunc" if dest.bits < source.bits else "sext" if source.kind == "int" else "zext"
    return fn.value(f"{op} {kind} {value} to {llvm_type(dest)}")


def _power(ctx: Context, values: list[str], dtype: DType) -> str:
    """By squaring, bit by bit of the exponent; one loop for all lanes."""
    kind, mask = llvm_type(dtype), llvm_type(DType("bool", 1, dtype.lanes))
    name = f"tvmlab.pow.{'u' if dtype.kind == 'uint' else 's'}{suffix(dtype)}"
    if not ctx.module.has_helper(name):
        ctx.module.helper(name, _power_text(name, kind, mask, dtype))
    x, y = values
    return ctx.fn.value(f"call {kind} @{name}({kind} {x}, {kind} {y})", "pow")


def _power_text(name: str, kind: str, mask: str, dtype: DType) -> str:
    zero, one, minus = (literal(n, dtype) for n in (0, 1, -1 if dtype.kind == "int" else 0))
    below = "slt" if dtype.kind == "int" else "ult"
    lines = [
        f"define internal {kind} @{name}({kind} %x, {kind} %y){HELPER}",
        "entry:",
        # A negative exponent: the reciprocal cut off, which is the base itself for 1 and -1.
        f"  %negative = icmp {below} {kind} %y, {zero}",
        f"  %is_one = icmp eq {kind} %x, {one}",
        f"  %is_minus = icmp eq {kind} %x, {minus}",
        f"  %unit = or {mask} %is_one, %is_minus",
        f"  %small = select {mask} %unit, {kind} %x, {kind} {zero}",
        f"  %base0 = select {mask} %negative, {kind} %small, {kind} %x",
        "  br label %loop",
        "loop:",
        "  %round = phi i32 [ 0, %entry ], [ %next, %loop ]",
        f"  %left = phi {kind} [ %y, %entry ], [ %less, %loop ]",
        f"  %base = phi {kind} [ %base0, %entry ], [ %square, %loop ]",
        f"  %result = phi {kind} [ {one}, %entry ], [ %more, %loop ]",
        f"  %bit = and {kind} %left, {one}",
        f"  %taken = icmp ne {kind} %bit, {zero}",
        f"  %product = mul {kind} %result, %base",
        f"  %more = select {mask} %taken, {kind} %product, {kind} %result",
        f"  %square = mul {kind} %base, %base",
        f"  %less = lshr {kind} %left, {one}",
        "  %next = add i32 %round, 1",
        f"  %end = icmp eq i32 %next, {dtype.bits}",
        "  br i1 %end, label %done, label %loop",
        "done:",
        f"  ret {kind} %more",
        "}\n",
    ]
    return "\n".join(lines)


def _q_multiply_shift(ctx: Context, values: list[str], dtype: DType) -> str:
    """In 64 bits: `((x << left) * y + half) >> right`, with shifts of at most 63."""
    fn, wide = ctx.fn, DType("int", 64, dtype.lanes)
    kind, mask = llvm_type(wide), llvm_type(DType("bool", 1, dtype.lanes))
    zero, one, most = (literal(n, wide) for n in (0, 1, 63))

    def limited(value: str) -> str:
        low = ctx.intrinsic(f"smax.{suffix(wide)}", kind, (kind, value), (kind, zero))
        return ctx.intrinsic(f"smin.{suffix(wide)}", kind, (kind, low), (kind, most))

    x, y, q, shift = (fn.value(f"sext {llvm_type(dtype)} {v} to {kind}") for v in values)
    shifted = fn.value(f"shl {kind} {x}, {limited(shift)}")
    product = fn.value(f"mul {kind} {shifted}, {y}")
    down = ctx.intrinsic(f"smin.{suffix(wide)}", kind, (kind, shift), (kind, zero))
    right = limited(fn.value(f"sub {kind} {q}, {down}"))
    before = limited(fn.value(f"sub {kind} {right}, {one}"))
    rounds = fn.value(f"icmp sgt {kind} {right}, {zero}", "c")
    half = fn.value(f"shl {kind} {one}, {before}")
    half = fn.value(f"select {mask} {rounds}, {kind} {half}, {kind} {zero}")
    total = fn.value(f"ashr {kind} {fn.value(f'add {kind} {product}, {half}')}, {right}")
    return fn.value(f"trunc {kind} {total} to {llvm_type(dtype)}")
