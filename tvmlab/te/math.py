"""Functions of formulas: conditions, casts, mathematics, reductions over axes.

Names follow the classical `te` module, so `min`, `max`, `sum`, `abs`, `all`, `any`, `round` and
`pow` shadow Python's on purpose inside this file.
"""

from __future__ import annotations

from collections.abc import Sequence

from tvmlab.ir import (
    Call,
    Expr,
    ExprLike,
    Select,
    Var,
    as_expr,
    binary,
    conjunction,
    const,
    eq,
    logic,
    maximum,
    minimum,
    ne,
)
from tvmlab.ir import cast as cast_expr
from tvmlab.support import BOOL, FLOAT32, INDEX, DType, TypeMismatch

from .axis import Axis
from .reduction import ALL, ANY, MAX, MIN, PROD, SUM, reduce_with

Axes = Axis | Sequence[Axis]


def var(name: str = "n", dtype: DType | str = INDEX) -> Var:
    """A scalar known only when the kernel is called, such as a size."""
    return Var(name, DType.of(dtype))


def cast(value: ExprLike, dtype: DType | str) -> Expr:
    """The value converted to another element type."""
    return cast_expr(value, dtype)


def if_then_else(cond: Expr, then: ExprLike, otherwise: ExprLike) -> Expr:
    """`then` where `cond` holds, else `otherwise`; the other one is not evaluated.

    This is how a convolution reads padding: the read stands in a branch that is only taken when
    its index lies inside the tensor.
    """
    if isinstance(then, Expr):
        return Select(cond, then, as_expr(otherwise, then.dtype))
    if isinstance(otherwise, Expr):
        return Select(cond, as_expr(then, otherwise.dtype), otherwise)
    return Select(cond, as_expr(then), as_expr(otherwise))


def sum(value: ExprLike, axis: Axes, where: Expr | None = None) -> Expr:
    """Sum over reduction axes."""
    return reduce_with(SUM, value, axis, where)


def prod(value: ExprLike, axis: Axes, where: Expr | None = None) -> Expr:
    """Product over reduction axes."""
    return reduce_with(PROD, value, axis, where)


def min(value: ExprLike, axis: Axes, where: Expr | None = None) -> Expr:
    """Smallest value over reduction axes; for two values use `te.minimum`."""
    return reduce_with(MIN, value, axis, where)


def max(value: ExprLike, axis: Axes, where: Expr | None = None) -> Expr:
    """Largest value over reduction axes; for two values use `te.maximum`."""
    return reduce_with(MAX, value, axis, where)


def any(*conditions: Expr, axis: Axes | None = None) -> Expr:
    """Whether one of the conditions holds; with `axis`, whether one holds along the axes."""
    if axis is not None:
        return reduce_with(ANY, _only(conditions, "any"), axis)
    result: Expr = const(False)
    for condition in conditions:
        result = logic("or", result, condition)
    return result


def all(*conditions: Expr, axis: Axes | None = None) -> Expr:
    """Whether each of the conditions holds; with `axis`, whether all hold along the axes."""
    if axis is not None:
        return reduce_with(ALL, _only(conditions, "all"), axis)
    return conjunction(conditions)


def _only(conditions: Sequence[Expr], name: str) -> Expr:
    if len(conditions) != 1:
        raise TypeMismatch(f"te.{name} over an axis takes one condition, not {len(conditions)}")
    return conditions[0]


def _call(op: str, *args: ExprLike) -> Expr:
    exprs = [as_expr(a, FLOAT32 if not isinstance(a, Expr) else None) for a in args]
    dtype = next(
        (e.dtype for e, a in zip(exprs, args, strict=True) if isinstance(a, Expr)), FLOAT32
    )
    exprs = [as_expr(a, dtype) for a in args]
    if {e.dtype for e in exprs} != {dtype}:
        raise TypeMismatch(
            f"te.{op} needs arguments of one type, not {[str(e.dtype) for e in exprs]}"
        )
    return Call(op, tuple(exprs), dtype)


def _float_call(op: str, *args: ExprLike) -> Expr:
    for a in args:
        if isinstance(a, Expr) and not a.dtype.is_float:
            raise TypeMismatch(
                f"te.{op} is not defined for {a.dtype}", hint='cast first: x.astype("float32")'
            )
    return _call(op, *(float(a) if isinstance(a, (int, float)) else a for a in args))


def exp(x: ExprLike) -> Expr:
    """Natural exponential."""
    return _float_call("exp", x)


def exp2(x: ExprLike) -> Expr:
    """Two to the power of x."""
    return _float_call("exp2", x)


def log(x: ExprLike) -> Expr:
    """Natural logarithm."""
    return _float_call("log", x)


def log2(x: ExprLike) -> Expr:
    """Logarithm to base 2."""
    return _float_call("log2", x)


def log10(x: ExprLike) -> Expr:
    """Logarithm to base 10."""
    return _float_call("log10", x)


def sqrt(x: ExprLike) -> Expr:
    """Square root."""
    return _float_call("sqrt", x)


def rsqrt(x: ExprLike) -> Expr:
    """Reciprocal of the square root."""
    return _float_call("rsqrt", x)


def sin(x: ExprLike) -> Expr:
    """Sine of an angle in radians."""
    return _float_call("sin", x)


def cos(x: ExprLike) -> Expr:
    """Cosine of an angle in radians."""
    return _float_call("cos", x)


def tan(x: ExprLike) -> Expr:
    """Tangent of an angle in radians."""
    return _float_call("tan", x)


def tanh(x: ExprLike) -> Expr:
    """Hyperbolic tangent."""
    return _float_call("tanh", x)


def erf(x: ExprLike) -> Expr:
    """Gauss error function."""
    return _float_call("erf", x)


def sigmoid(x: Expr) -> Expr:
    """`1 / (1 + exp(-x))`."""
    return 1.0 / (1.0 + exp(-x))


def floor(x: ExprLike) -> Expr:
    """Largest whole number not above x, as a float."""
    return _float_call("floor", x)


def ceil(x: ExprLike) -> Expr:
    """Smallest whole number not below x, as a float."""
    return _float_call("ceil", x)


def trunc(x: ExprLike) -> Expr:
    """X without its fraction, as a float."""
    return _float_call("trunc", x)


def round(x: ExprLike) -> Expr:
    """Nearest whole number, a half away from zero, as a float (NumPy rounds a half to even)."""
    return _float_call("round", x)


def power(x: ExprLike, y: ExprLike) -> Expr:
    """X raised to the power y."""
    return _float_call("pow", x, y)


pow = power


def abs(x: Expr) -> Expr:
    """Absolute value of a float or signed integer."""
    return _call("abs", x)


def isnan(x: Expr) -> Expr:
    """Whether x is not a number."""
    return Call("isnan", (x,), BOOL)


def floordiv(a: ExprLike, b: ExprLike) -> Expr:
    """Integer division rounding to minus infinity, as Python's `//`."""
    return binary("floordiv", a, b)


def floormod(a: ExprLike, b: ExprLike) -> Expr:
    """Remainder with the divisor's sign, as Python's `%`."""
    return binary("floormod", a, b)


def truncdiv(a: ExprLike, b: ExprLike) -> Expr:
    """Integer division rounding to zero, as C's `/`."""
    return binary("truncdiv", a, b)


def truncmod(a: ExprLike, b: ExprLike) -> Expr:
    """Remainder with the dividend's sign, as C's `%`."""
    return binary("truncmod", a, b)


indexdiv = floordiv
indexmod = floormod


def min_value(dtype: DType | str) -> Expr:
    """The smallest finite value of a type."""
    return const(DType.of(dtype).min_value, dtype)


def max_value(dtype: DType | str) -> Expr:
    """The largest finite value of a type."""
    return const(DType.of(dtype).max_value, dtype)


__all__ = [
    "abs", "all", "any", "cast", "ceil", "const", "cos", "eq", "erf", "exp", "exp2",
    "floor", "floordiv", "floormod", "if_then_else", "indexdiv", "indexmod", "isnan", "log",
    "log2", "log10", "max", "max_value", "maximum", "min", "min_value", "minimum", "ne", "pow",
    "power", "prod", "round", "rsqrt", "sigmoid", "sin", "sqrt", "sum", "tan", "tanh",
    "trunc", "truncdiv", "truncmod", "var",
]  # fmt: skip
