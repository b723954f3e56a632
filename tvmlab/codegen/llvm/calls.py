"""Function calls: intrinsics, polynomials, and the C library lane by lane for the rest."""

from __future__ import annotations

from tvmlab.ir import Call
from tvmlab.support import DType, UnsupportedOp

from .context import Context, emits
from .convert import narrow_float, widen_float
from .math_functions import has_polynomial, write_function
from .types import literal, llvm_type, suffix

# Functions that every target has as an instruction or a cheap sequence.
_INTRINSICS = {
    "abs": "fabs", "sqrt": "sqrt", "floor": "floor", "ceil": "ceil", "trunc": "trunc",
    "round": "rint", "fma": "fma",
}  # fmt: skip
LIBRARY = ("sin", "cos", "tan", "erf", "pow")


@emits(Call)
def _call(ctx: Context, expr: Call) -> str:
    dtype = expr.args[0].dtype
    values = [ctx.expr(argument) for argument in expr.args]
    if not dtype.is_float:
        return _on_integers(ctx, expr.op, values, dtype)
    wide = dtype if dtype.bits > 16 else DType("float", 32, dtype.lanes)
    values = [widen_float(ctx, value, dtype, wide) for value in values]
    if expr.op == "isnan":
        return ctx.fn.value(f"fcmp uno {llvm_type(wide)} {values[0]}, {values[0]}", "c")
    return narrow_float(ctx, _on_floats(ctx, expr.op, values, wide), wide, dtype)


def _on_floats(ctx: Context, op: str, values: list[str], dtype: DType) -> str:
    kind = llvm_type(dtype)
    if op in _INTRINSICS:
        operands = [(kind, value) for value in values]
        return ctx.intrinsic(f"{_INTRINSICS[op]}.{suffix(dtype)}", kind, *operands)
    if op == "rsqrt":
        root = ctx.intrinsic(f"sqrt.{suffix(dtype)}", kind, (kind, values[0]))
        return ctx.fn.value(f"fdiv {kind} {literal(1.0, dtype)}, {root}")
    if has_polynomial(op, dtype):
        return _polynomial(ctx, op, values[0], dtype)
    if op in LIBRARY:
        return _by_lane(ctx, op, values, dtype)
    raise UnsupportedOp(f"the LLVM code generator does not know the function {op}")


def _polynomial(ctx: Context, op: str, value: str, dtype: DType) -> str:
    kind = llvm_type(dtype)
    name = f"tvmlab.{op}.{suffix(dtype)}"
    if not ctx.module.has_helper(name):
        text, intrinsics = write_function(op, name, dtype)
        ctx.module.helper(name, text)
        for intrinsic, declaration in intrinsics.items():
            ctx.module.declare_text(intrinsic, declaration)
    return ctx.fn.value(f"call {kind} @{name}({kind} {value})", op)


def _by_lane(ctx: Context, op: str, values: list[str], dtype: DType) -> str:
    """Call the C library once per lane."""
    lane, kind = llvm_type(dtype.scalar), llvm_type(dtype)
    name = op if dtype.bits == 64 else f"{op}f"
    function = ctx.module.declare(name, lane, ", ".join([lane] * len(values)), "nounwind")
    if dtype.lanes == 1:
        return ctx.fn.value(f"call {lane} {function}({', '.join(f'{lane} {v}' for v in values)})")
    result = "poison"
    for number in range(dtype.lanes):
        picked = [ctx.fn.value(f"extractelement {kind} {value}, i64 {number}") for value in values]
        one = ctx.fn.value(f"call {lane} {function}({', '.join(f'{lane} {v}' for v in picked)})")
        result = ctx.fn.value(f"insertelement {kind} {result}, {lane} {one}, i64 {number}")
    return result


def _on_integers(ctx: Context, op: str, values: list[str], dtype: DType) -> str:
    kind = llvm_type(dtype)
    if op == "abs" and dtype.kind == "int":
        return ctx.intrinsic(f"abs.{suffix(dtype)}", kind, (kind, values[0]), ("i1", "false"))
    if op in ("abs", "floor", "ceil", "trunc", "round"):
        return values[0]
    if op == "fma":
        product = ctx.fn.value(f"mul {kind} {values[0]}, {values[1]}")
        return ctx.fn.value(f"add {kind} {product}, {values[2]}")
    if op == "isnan":
        return literal(False, DType("bool", 1, dtype.lanes))
    raise UnsupportedOp(
        f"{op} is not defined for {dtype}", hint='convert first, for example x.astype("float32")'
    )
