"""Function calls: intrinsics, functions computed here, and the C library for the rest."""

from __future__ import annotations

from tvmlab.ir import JOIN_LANES, SYMBOL, Broadcast, Call, Const, Expr
from tvmlab.support import DType, UnsupportedOp

from .context import Context, emits
from .convert import narrow_float, widen_float
from .faults import emit_outside
from .integer_calls import on_integers, saturate
from .lanes import join_lanes
from .math_functions import has_polynomial, write_function
from .types import c_parameter, c_result, literal, llvm_type, suffix

# Functions that every target has as an instruction or a cheap sequence.
_INTRINSICS = {
    "abs": "fabs", "sqrt": "sqrt", "floor": "floor", "ceil": "ceil", "trunc": "trunc",
    "round": "round", "nearbyint": "rint", "fma": "fma", "copysign": "copysign",
}  # fmt: skip
_TESTS = {"isnan": "uno", "isinf": "oeq", "isfinite": "one"}
LIBRARY = ("sin", "cos", "tan", "fmod", "fma", "round")


@emits(Call)
def _call(ctx: Context, expr: Call) -> str:
    if expr.op == "outside":
        return emit_outside(ctx, expr)
    if expr.op.startswith(SYMBOL):
        return _symbol(ctx, expr)
    if expr.op.startswith(JOIN_LANES):
        return join_lanes(ctx, expr)
    dtype = expr.args[0].dtype
    values = [ctx.expr(argument) for argument in expr.args]
    if expr.op.startswith("saturate_"):
        return saturate(ctx, values[0], dtype, expr.dtype)
    if not dtype.is_float:
        return on_integers(ctx, expr, values, dtype)
    if expr.op == "nextafter":
        return _nextafter(ctx, values, dtype)
    wide = _computed_in(dtype)
    if expr.op == "ldexp":
        values = [widen_float(ctx, values[0], dtype, wide), _exponent_bits(ctx, values[1], wide)]
    else:
        values = [widen_float(ctx, value, dtype, wide) for value in values]
    if expr.op in _TESTS:
        return _test(ctx, expr.op, values[0], wide)
    if expr.op == "pow" and (result := _small_power(ctx, values[0], expr.args[1], wide)):
        return narrow_float(ctx, result, wide, dtype)
    return narrow_float(ctx, _on_floats(ctx, expr.op, values, wide), wide, dtype)


def _symbol(ctx: Context, expr: Call) -> str:
    """A C function; of vectors, one lane after the other."""
    name, one = expr.op.removeprefix(SYMBOL), expr.dtype.scalar
    kinds = [c_parameter(name, a.dtype.scalar) for a in expr.args]
    gives = llvm_type(one)
    ctx.module.declare_text(name, f'declare {c_result(name, one)} @"{name}"({", ".join(kinds)})')
    values = [ctx.expr(a) for a in expr.args]
    if expr.dtype.lanes == 1:
        return _call_symbol(ctx, name, gives, kinds, values)
    result = "poison"
    for lane in range(expr.dtype.lanes):
        parts = [
            ctx.fn.value(f"extractelement {llvm_type(a.dtype)} {value}, i64 {lane}")
            for a, value in zip(expr.args, values, strict=True)
        ]
        value = _call_symbol(ctx, name, gives, kinds, parts)
        result = ctx.fn.value(
            f"insertelement {llvm_type(expr.dtype)} {result}, {gives} {value}, i64 {lane}"
        )
    return result


def _call_symbol(ctx: Context, name: str, gives: str, kinds: list[str], values: list[str]) -> str:
    operands = ", ".join(f"{k} {v}" for k, v in zip(kinds, values, strict=True))
    return ctx.fn.value(f'call {gives} @"{name}"({operands})', "called")


def _computed_in(dtype: DType) -> DType:
    return dtype if dtype.bits > 16 else DType("float", 32, dtype.lanes)


def _on_floats(ctx: Context, op: str, values: list[str], dtype: DType) -> str:
    kind = llvm_type(dtype)
    if op in _INTRINSICS:
        operands = [(kind, value) for value in values]
        return ctx.intrinsic(f"{_INTRINSICS[op]}.{suffix(dtype)}", kind, *operands)
    if op == "rsqrt":
        root = ctx.intrinsic(f"sqrt.{suffix(dtype)}", kind, (kind, values[0]))
        return ctx.fn.value(f"fdiv {kind} {literal(1.0, dtype)}, {root}")
    if op == "fmod":
        return ctx.fn.value(f"frem {kind} {values[0]}, {values[1]}")
    if has_polynomial(op):
        return _computed(ctx, op, values, dtype)
    raise UnsupportedOp(f"{op} is not defined for {dtype}")


def _computed(ctx: Context, op: str, values: list[str], dtype: DType) -> str:
    kind = llvm_type(dtype)
    name = f"tvmlab.{op}.{suffix(dtype)}"
    if not ctx.module.has_helper(name):
        wide = ctx.target.has("avx512f")
        fused = wide or ctx.target.has("fma") or ctx.target.triple.startswith("aarch64")
        text, declared = write_function(op, name, dtype, len(values), scaling=wide, fused=fused)
        ctx.module.helper(name, text)
        for other, declaration in declared.items():
            ctx.module.declare_text(other, declaration)
    arguments = ", ".join(f"{kind} {value}" for value in values)
    return ctx.fn.value(f"call {kind} @{name}({arguments})", op)


def _test(ctx: Context, op: str, value: str, dtype: DType) -> str:
    kind = llvm_type(dtype)
    if op == "isnan":
        return ctx.fn.value(f"fcmp uno {kind} {value}, {value}", "c")
    size = ctx.intrinsic(f"fabs.{suffix(dtype)}", kind, (kind, value))
    return ctx.fn.value(f"fcmp {_TESTS[op]} {kind} {size}, {literal(float('inf'), dtype)}", "c")


def _small_power(ctx: Context, value: str, exponent: Expr, dtype: DType) -> str | None:
    """A power with an exponent from -1 to 4 known here, by multiplication."""
    node = exponent.value if isinstance(exponent, Broadcast) else exponent
    if not isinstance(node, Const) or node.value not in (-1, 0, 1, 2, 3, 4):
        return None
    kind, number = llvm_type(dtype), int(node.value)
    if number < 1:
        one = literal(1.0, dtype)
        return one if number == 0 else ctx.fn.value(f"fdiv {kind} {one}, {value}")
    if number == 1:
        return value
    square = ctx.fn.value(f"fmul {kind} {value}, {value}")
    if number == 2:
        return square
    return ctx.fn.value(f"fmul {kind} {square}, {value if number == 3 else square}")


def _exponent_bits(ctx: Context, value: str, dtype: DType) -> str:
    """An int32 exponent as the bits of a float: functions computed here take floats only."""
    given = llvm_type(DType("int", 32, dtype.lanes))
    whole = llvm_type(DType("int", dtype.bits, dtype.lanes))
    if dtype.bits > 32:
        value = ctx.fn.value(f"sext {given} {value} to {whole}")
    return ctx.fn.value(f"bitcast {whole} {value} to {llvm_type(dtype)}")


def _nextafter(ctx: Context, values: list[str], dtype: DType) -> str:
    """The neighbor of x towards y: one more or less in x's bits, seen as an integer."""
    fn, wide = ctx.fn, _computed_in(dtype)
    kind, whole = llvm_type(wide), llvm_type(DType("int", dtype.bits, dtype.lanes))
    mask = llvm_type(DType("bool", 1, dtype.lanes))
    ints = DType("int", dtype.bits, dtype.lanes)
    x, y = (widen_float(ctx, value, dtype, wide) for value in values)
    xb, yb = (
        value if dtype.bits == 16 else fn.value(f"bitcast {llvm_type(dtype)} {value} to {whole}")
        for value in values
    )
    below = fn.value(f"fcmp olt {kind} {x}, {y}", "c")
    negative = fn.value(f"icmp slt {whole} {xb}, {literal(0, ints)}", "c")
    # Bits grow with the magnitude: up for a positive number, down for a negative one.
    grows = fn.value(f"xor {mask} {below}, {negative}", "c")
    step = fn.value(
        f"select {mask} {grows}, {whole} {literal(1, ints)}, {whole} {literal(-1, ints)}"
    )
    result = fn.value(f"add {whole} {xb}, {step}")
    sign = fn.value(f"and {whole} {yb}, {literal(-(1 << (dtype.bits - 1)), ints)}")
    tiny = fn.value(f"or {whole} {sign}, {literal(1, ints)}")
    zero = fn.value(f"fcmp oeq {kind} {x}, {literal(0.0, wide)}", "c")
    result = fn.value(f"select {mask} {zero}, {whole} {tiny}, {whole} {result}")
    same = fn.value(f"fcmp oeq {kind} {x}, {y}", "c")
    result = fn.value(f"select {mask} {same}, {whole} {yb}, {whole} {result}")
    broken_y = fn.value(f"fcmp uno {kind} {y}, {y}", "c")
    result = fn.value(f"select {mask} {broken_y}, {whole} {yb}, {whole} {result}")
    broken_x = fn.value(f"fcmp uno {kind} {x}, {x}", "c")
    result = fn.value(f"select {mask} {broken_x}, {whole} {xb}, {whole} {result}")
    if dtype.bits == 16:
        return result
    return fn.value(f"bitcast {whole} {result} to {llvm_type(dtype)}")
