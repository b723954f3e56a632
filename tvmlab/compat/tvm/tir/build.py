"""Functions that make expressions, with the arguments and conversions of old programs."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import tvmlab.ir as ir
import tvmlab.te as _te
from tvmlab.compat.tvm.ir.rules import by_rule
from tvmlab.compat.tvm.missing import refused
from tvmlab.compat.tvm.mixing import converted
from tvmlab.ir import Buffer, Expr, as_expr
from tvmlab.ir.mixed import mixing
from tvmlab.support import DType, items_of

from .nodes import make_select


def _mixed(name: str) -> Callable[..., Any]:
    """A function of te under old conversions."""

    def call(*args: Any, span: Any = None, **named: Any) -> Any:
        del span
        function = getattr(_te, name, None)
        if function is None:
            raise refused(f"tvm.tir.{name}", "write it with the functions of tvmlab.te")
        with mixing(converted):
            return function(*args, **named)

    call.__name__ = name
    call.__doc__ = getattr(getattr(_te, name, None), "__doc__", None)
    return call


exp, exp2, exp10 = _mixed("exp"), _mixed("exp2"), _mixed("exp10")
log, log2, log10, log1p = _mixed("log"), _mixed("log2"), _mixed("log10"), _mixed("log1p")
sqrt, rsqrt, erf, sigmoid = _mixed("sqrt"), _mixed("rsqrt"), _mixed("erf"), _mixed("sigmoid")
sin, cos, tan = _mixed("sin"), _mixed("cos"), _mixed("tan")
asin, acos, atan, atan2 = _mixed("asin"), _mixed("acos"), _mixed("atan"), _mixed("atan2")
sinh, cosh, tanh = _mixed("sinh"), _mixed("cosh"), _mixed("tanh")
asinh, acosh, atanh = _mixed("asinh"), _mixed("acosh"), _mixed("atanh")
floor, ceil, trunc = _mixed("floor"), _mixed("ceil"), _mixed("trunc")
round, nearbyint = _mixed("round"), _mixed("nearbyint")
abs = _mixed("abs")
isnan, isinf, isfinite = _mixed("isnan"), _mixed("isinf"), _mixed("isfinite")
popcount, clz, hypot, copysign = (
    _mixed("popcount"),
    _mixed("clz"),
    _mixed("hypot"),
    _mixed("copysign"),
)
nextafter, ldexp, fmod = _mixed("nextafter"), _mixed("ldexp"), _mixed("fmod")
q_multiply_shift = _mixed("q_multiply_shift")
power = pow = _mixed("power")
floordiv, floormod = _mixed("floordiv"), _mixed("floormod")
truncdiv, truncmod = _mixed("truncdiv"), _mixed("truncmod")
indexdiv, indexmod = _mixed("indexdiv"), _mixed("indexmod")
min_value, max_value = _mixed("min_value"), _mixed("max_value")


def div(a: Any, b: Any, span: Any = None) -> Expr:
    """Division: of integers rounding to zero."""
    del span
    x, y = as_expr(a), as_expr(b)
    whole = x.dtype.is_int and y.dtype.is_int
    with mixing(converted):
        return _te.truncdiv(a, b) if whole else a / b


def ceildiv(a: Any, b: Any, span: Any = None) -> Expr:
    """Integer division rounding up."""
    del span
    return -((-as_expr(a)) // b)


def multiply(a: Any, b: Any, span: Any = None) -> Expr:
    """The product."""
    del span
    with mixing(converted):
        return as_expr(a) * b


def subtract(a: Any, b: Any, span: Any = None) -> Expr:
    """The difference."""
    del span
    with mixing(converted):
        return as_expr(a) - b


def const(value: Any, dtype: Any = None, span: Any = None) -> Expr:
    """A literal; without a type, an int is 32-bit and a float has 32 bits."""
    del span
    if dtype is None:
        dtype = (
            "bool" if isinstance(value, bool) else "int32" if isinstance(value, int) else "float32"
        )
    return ir.const(value, dtype)


def all(*args: Any, axis: Any = None, span: Any = None) -> Expr:
    """Whether all conditions hold."""
    del span
    return _te.all(*(_condition(a) for a in args), axis=axis)


def any(*args: Any, axis: Any = None, span: Any = None) -> Expr:
    """Whether one of the conditions holds."""
    del span
    return _te.any(*(_condition(a) for a in args), axis=axis)


def if_then_else(cond: Any, t: Any, f: Any, span: Any = None) -> Expr:
    """One of two values; the other is not evaluated."""
    return make_select(cond, t, f, span)


def likely(cond: Any, span: Any = None) -> Expr:
    """The condition itself."""
    del span
    return _condition(cond)


def reinterpret(dtype: Any, value: Any, span: Any = None) -> Expr:
    """Refused: the bits of a number are not read as another type."""
    del dtype, value, span
    raise refused("tvm.tir.reinterpret", "view the array with another type in NumPy")


def ret(value: Any) -> Expr:
    """Refused: kernels return nothing."""
    del value
    raise refused("tvm.tir.ret", "store the value in an output")


def decl_buffer(
    shape: Any,
    dtype: Any = None,
    name: str = "buffer",
    data: Any = None,
    strides: Any = None,
    elem_offset: Any = None,
    scope: str = "",
    data_alignment: int = -1,
    offset_factor: int = 0,
    **options: Any,
) -> Any:
    """A buffer to describe an argument of an intrinsic or of outside code."""
    del data, data_alignment, options
    declare = getattr(_te, "decl_buffer", None)
    several: Any = items_of(shape)
    sizes = tuple(as_expr(s) for s in ([shape] if several is None else several))
    if declare is None:
        return Buffer(name, sizes, DType.of(dtype or "float32"), scope or "global")
    return declare(
        sizes,
        dtype or "float32",
        name=name,
        strides=strides,
        elem_offset=elem_offset,
        scope=scope or "global",
        offset_factor=offset_factor,
    )


IN_FORMULA: ContextVar[bool] = ContextVar("inside the formula of a compute", default=False)


def call_extern(dtype: Any, func_name: str, *args: Any, span: Any = None) -> Any:
    """A C function, called for its effect; in the formula of a compute, for its value."""
    del span
    if IN_FORMULA.get():
        return call_pure_extern(dtype, func_name, *args)
    return _call("call_extern", func_name, dtype, args)


def call_packed(*args: Any, span: Any = None) -> Any:
    """A call of a registered Python function, inside an intrinsic or an extern operation."""
    del span
    return _call("call_packed", args[0], "int32", args[1:])


def call_pure_extern(dtype: Any, func_name: str, *args: Any, span: Any = None) -> Expr:
    """A C function of numbers as a formula; tvmlab computes those of C's mathematics itself."""
    del span
    plain = func_name.removeprefix("__")
    known = _C_NAMES.get(plain) or _C_NAMES.get(plain.removesuffix("f"))
    if known is None:
        return _te.call_pure_extern(str(dtype), func_name, *args)
    return ir.cast(_mixed(known)(*args), dtype)


def call_intrin(dtype: Any, func_name: str, *args: Any, span: Any = None) -> Any:
    """A function by its intrinsic's name, such as "tir.exp"."""
    del span
    name = str(func_name).removeprefix("tir.")
    if name in _C_NAMES.values():
        return ir.cast(_mixed(name)(*args), dtype)
    made = by_rule(dtype, str(func_name), args)
    if made is not None:
        return made
    raise refused(
        f"the intrinsic {func_name}",
        "use a function of tvmlab.te, or say what it is with tvm.ir.register_intrin_lowering",
    )


def call_llvm_pure_intrin(dtype: Any, name: str, *args: Any, span: Any = None) -> Any:
    """Refused: intrinsics of LLVM are declared with te.decl_tensor_intrin."""
    del dtype, args, span
    raise refused(f"the LLVM intrinsic {name}", "declare it with te.decl_tensor_intrin")


_C_NAMES = {
    "exp": "exp", "exp2": "exp2", "log": "log", "log2": "log2", "log10": "log10", "sqrt": "sqrt",
    "rsqrt": "rsqrt", "sin": "sin", "cos": "cos", "tan": "tan", "tanh": "tanh", "fabs": "abs",
    "abs": "abs", "pow": "power", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "erf": "erf",
    "round": "round", "sinh": "sinh", "cosh": "cosh", "asin": "asin", "acos": "acos",
    "atan": "atan", "log1p": "log1p", "sigmoid": "sigmoid",
}  # fmt: skip


def _call(kind: str, name: str, dtype: Any, args: Any) -> Any:
    make = getattr(_te, kind, None)
    if make is None:
        raise refused(f"tvm.tir.{kind}", "use te.extern with a registered function")
    return make(dtype, name, *args) if kind == "call_extern" else make(name, *args)


def _condition(value: Any) -> Expr:
    expr = as_expr(value)
    return expr if expr.dtype.is_bool else ir.ne(expr, 0)
