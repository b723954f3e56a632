"""Mathematical functions of formulas.

Names follow the classical `te` module, so `abs`, `round` and `pow` shadow Python's on purpose
inside this file. A Python number takes the type of the other argument, or float32.
"""

from __future__ import annotations

from tvmlab.ir import Call, Expr, ExprLike, as_expr
from tvmlab.ir.op_table import CALLS
from tvmlab.support import FLOAT32, INT32, DType, TypeMismatch


def _exprs(op: str, args: tuple[ExprLike, ...]) -> tuple[Expr, ...]:
    """Arguments of one type: that of the first expression among them."""
    typed = [a for a in args if isinstance(a, Expr)]
    dtype = typed[0].dtype if typed else FLOAT32
    made = tuple(as_expr(_fitting(a, dtype), dtype) for a in args)
    if any(e.dtype != dtype for e in made):
        types = ", ".join(str(e.dtype) for e in made)
        raise TypeMismatch(
            f"te.{op} needs arguments of one type, not {types}",
            hint=f'convert one: x.astype("{dtype}")',
        )
    return made


def _fitting(value: ExprLike, dtype: DType) -> ExprLike:
    """A Python integer as a float where a float is wanted."""
    return float(value) if isinstance(value, int) and dtype.is_float else value


def _call(op: str, *args: ExprLike) -> Expr:
    exprs = _exprs(op, args)
    return Call(op, exprs, CALLS[op].result_type(exprs[0].dtype))


def _float_call(op: str, *args: ExprLike) -> Expr:
    _need_floats(op, args)
    return _call(op, *args)


def _need_floats(op: str, args: tuple[ExprLike, ...]) -> None:
    for a in args:
        if isinstance(a, Expr) and not a.dtype.is_float:
            raise TypeMismatch(
                f"te.{op} is not defined for {a.dtype}", hint='cast first: x.astype("float32")'
            )


def _need_integers(op: str, args: tuple[ExprLike, ...]) -> None:
    for a in args:
        if not isinstance(a, Expr) or not a.dtype.is_int:
            what = a.dtype if isinstance(a, Expr) else type(a).__name__
            raise TypeMismatch(f"te.{op} works on integers, not on {what}")


def exp(x: ExprLike) -> Expr:
    """Natural exponential."""
    return _float_call("exp", x)


def exp2(x: ExprLike) -> Expr:
    """Two to the power of x."""
    return _float_call("exp2", x)


def exp10(x: ExprLike) -> Expr:
    """Ten to the power of x."""
    return _float_call("exp10", x)


def expm1(x: ExprLike) -> Expr:
    """`exp(x) - 1`, accurate for small x."""
    return _float_call("expm1", x)


def log(x: ExprLike) -> Expr:
    """Natural logarithm."""
    return _float_call("log", x)


def log2(x: ExprLike) -> Expr:
    """Logarithm to base 2."""
    return _float_call("log2", x)


def log10(x: ExprLike) -> Expr:
    """Logarithm to base 10."""
    return _float_call("log10", x)


def log1p(x: ExprLike) -> Expr:
    """`log(1 + x)`, accurate for small x."""
    return _float_call("log1p", x)


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


def asin(x: ExprLike) -> Expr:
    """Angle whose sine is x."""
    return _float_call("asin", x)


def acos(x: ExprLike) -> Expr:
    """Angle whose cosine is x."""
    return _float_call("acos", x)


def atan(x: ExprLike) -> Expr:
    """Angle between -pi/2 and pi/2 whose tangent is x."""
    return _float_call("atan", x)


def sinh(x: ExprLike) -> Expr:
    """Hyperbolic sine."""
    return _float_call("sinh", x)


def cosh(x: ExprLike) -> Expr:
    """Hyperbolic cosine."""
    return _float_call("cosh", x)


def tanh(x: ExprLike) -> Expr:
    """Hyperbolic tangent."""
    return _float_call("tanh", x)


def asinh(x: ExprLike) -> Expr:
    """Inverse of the hyperbolic sine."""
    return _float_call("asinh", x)


def acosh(x: ExprLike) -> Expr:
    """Inverse of the hyperbolic cosine."""
    return _float_call("acosh", x)


def atanh(x: ExprLike) -> Expr:
    """Inverse of the hyperbolic tangent."""
    return _float_call("atanh", x)


def erf(x: ExprLike) -> Expr:
    """Gauss error function."""
    return _float_call("erf", x)


def sigmoid(x: ExprLike) -> Expr:
    """`1 / (1 + exp(-x))`."""
    return 1.0 / (1.0 + exp(-_float_value("sigmoid", x)))


def _float_value(op: str, x: ExprLike) -> Expr:
    _need_floats(op, (x,))
    return _exprs(op, (x,))[0]


def _rounded(op: str, x: ExprLike) -> Expr:
    return x if isinstance(x, Expr) and x.dtype.is_int else _float_call(op, x)


def floor(x: ExprLike) -> Expr:
    """Largest whole number not above x, as a float; an integer stays itself."""
    return _rounded("floor", x)


def ceil(x: ExprLike) -> Expr:
    """Smallest whole number not below x, as a float; an integer stays itself."""
    return _rounded("ceil", x)


def trunc(x: ExprLike) -> Expr:
    """X without its fraction, as a float; an integer stays itself."""
    return _rounded("trunc", x)


def round(x: ExprLike) -> Expr:
    """Nearest whole number, a half away from zero, as a float; an integer stays itself.

    NumPy rounds a half to even, as `nearbyint` does.
    """
    return _rounded("round", x)


def nearbyint(x: ExprLike) -> Expr:
    """Nearest whole number, a half to even as NumPy does, as a float; an integer stays itself."""
    return _rounded("nearbyint", x)


def atan2(y: ExprLike, x: ExprLike) -> Expr:
    """Angle of the point (x, y) from the positive x axis; y comes first."""
    return _float_call("atan2", y, x)


def hypot(x: ExprLike, y: ExprLike) -> Expr:
    """Length of the vector (x, y), without overflow on the way."""
    return _float_call("hypot", x, y)


def copysign(x: ExprLike, y: ExprLike) -> Expr:
    """X with the sign of y."""
    return _float_call("copysign", x, y)


def nextafter(x: ExprLike, y: ExprLike) -> Expr:
    """The float next to x in the direction of y."""
    return _float_call("nextafter", x, y)


def fmod(x: ExprLike, y: ExprLike) -> Expr:
    """Remainder of x / y with the sign of x, as C's `fmod`."""
    return _float_call("fmod", x, y)


def ldexp(x: ExprLike, exponent: ExprLike) -> Expr:
    """`x * 2**exponent`, for an integer exponent."""
    value, power_of_two = _float_value("ldexp", x), as_expr(exponent, INT32)
    _need_integers("ldexp", (power_of_two,))
    return Call("ldexp", (value, power_of_two.astype(INT32)), value.dtype)


def power(x: ExprLike, y: ExprLike) -> Expr:
    """X raised to the power y; integers wrap around, and give 0, 1 or -1 for a negative y."""
    return _call("pow", x, y)


pow = power


def abs(x: ExprLike) -> Expr:
    """Absolute value. That of the smallest signed integer does not fit and stays negative."""
    return _call("abs", x)


fabs = abs


def isnan(x: ExprLike) -> Expr:
    """Whether x is not a number."""
    return _float_call("isnan", x)


def isinf(x: ExprLike) -> Expr:
    """Whether x is infinite, of either sign."""
    return _float_call("isinf", x)


def isfinite(x: ExprLike) -> Expr:
    """Whether x is neither infinite nor not-a-number."""
    return _float_call("isfinite", x)


def popcount(x: Expr) -> Expr:
    """How many bits of an integer are one, as a value of its type."""
    _need_integers("popcount", (x,))
    return _call("popcount", x)


def clz(x: Expr) -> Expr:
    """How many leading bits of an integer are zero (all for 0), as int32."""
    _need_integers("clz", (x,))
    return _call("clz", x).astype(INT32)


def q_multiply_shift(x: ExprLike, y: ExprLike, q: ExprLike, s: ExprLike) -> Expr:
    """Fixed-point product of int32: `x * y * 2**(s - q)`, rounded, a half upwards.

    `y` is a number with `q` bits of fraction, and `s` shifts the result: left if positive.
    """
    args = tuple(as_expr(a, INT32) for a in (x, y, q, s))
    if any(a.dtype != INT32 for a in args):
        raise TypeMismatch("te.q_multiply_shift works on int32", hint='cast: x.astype("int32")')
    return Call("q_multiply_shift", args, INT32)
