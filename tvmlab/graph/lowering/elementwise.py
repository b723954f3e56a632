"""Formulas of functions of single elements, and of elements at the same place."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import tvmlab.te as te
import tvmlab.topi as topi
from tvmlab.graph.operators import Attrs
from tvmlab.ir import Expr, const
from tvmlab.support import FLOAT32, DType
from tvmlab.te import Tensor
from tvmlab.topi.elementwise import elementwise

from .registry import LOWERINGS, Site, lowering

Function = Callable[[Any, Attrs], Any]


def _number(value: float, like: Expr) -> Expr:
    return const(value, like.dtype)


def _is_narrow(dtype: DType) -> bool:
    return dtype.is_float and dtype.bits == 16


def _enter(name: str, function: Function, *, widen: bool = True) -> None:
    """A function of one element; narrow floats are computed in float32 and rounded once."""

    def rule(site: Site, a: Tensor) -> Tensor:
        narrow = widen and _is_narrow(a.dtype)

        def value(x: Expr) -> Any:
            if not narrow:
                return function(x, site.attrs)
            return te.cast(function(te.cast(x, FLOAT32), site.attrs), a.dtype)

        return elementwise(value, a, name)

    LOWERINGS[name] = rule


def _sign(x: Expr, _: Attrs) -> Any:
    zero, one = _number(0, x), _number(1, x)
    if x.dtype.kind == "uint":
        return te.if_then_else(te.ne(x, zero), one, zero)
    below = te.if_then_else(x < zero, _number(-1, x), _number(0, x))
    return te.if_then_else(x > zero, one, below)


def _abs(x: Expr, _: Attrs) -> Any:
    return x if x.dtype.kind == "uint" else te.abs(x)


def _softplus(x: Expr) -> Any:
    return te.maximum(x, _number(0, x)) + te.log1p(te.exp(-te.abs(x)))


def _elu(x: Expr, alpha: float) -> Any:
    below = (te.exp(te.minimum(x, _number(0, x))) - 1) * alpha
    return te.if_then_else(x > 0, x, below)


def _gelu(x: Expr, attrs: Attrs) -> Any:
    if attrs.text("approximate") == "tanh":
        inner = math.sqrt(2 / math.pi) * (x + x * x * x * 0.044715)
        return x * 0.5 * (te.tanh(inner) + 1)
    return x * 0.5 * (te.erf(x * math.sqrt(0.5)) + 1)


def _shrink(x: Expr, a: Attrs) -> Any:
    lambd, bias = a.float("lambd"), a.float("bias")
    if not x.dtype.is_float:
        wide = te.cast(x, FLOAT32)
        return te.cast(_shrink(wide, a), x.dtype)
    low, high = _number(-lambd, x), _number(lambd, x)
    above = te.if_then_else(x > high, x - bias, _number(0, x))
    return te.if_then_else(x < low, x + bias, above)


def _clip(x: Expr, a: Attrs) -> Any:
    low, high = a.float("low"), a.float("high")
    least, most = x.dtype.min_value, x.dtype.max_value
    if x.dtype.is_int:
        low = int(max(low, least)) if low > least else None
        high = int(min(high, most)) if high < most else None
    if low is not None and low != -math.inf:
        x = te.maximum(x, const(low, x.dtype))
    return x if high is None or high == math.inf else te.minimum(x, const(high, x.dtype))


def _bitwise_not(x: Expr, _: Attrs) -> Any:
    if x.dtype.kind == "uint":
        return te.bitwise_xor(x, const(x.dtype.max_value, x.dtype))
    return te.bitwise_not(x)


def _is_inf(x: Expr, a: Attrs) -> Any:
    found = te.isinf(x)
    if not a.flag("detect_negative"):
        found = te.all(found, x > 0)
    return found if a.flag("detect_positive") else te.all(found, x < 0)


def _round(x: Expr, _: Attrs) -> Any:
    return te.nearbyint(x)


def _hard_sigmoid(x: Expr, alpha: float, beta: float) -> Any:
    return te.maximum(te.minimum(x * alpha + beta, _number(1, x)), _number(0, x))


def _plain(function: Callable[[Any], Any]) -> Function:
    return lambda x, _: function(x)


for _name in (
    "exp", "log", "sqrt", "rsqrt", "floor", "ceil", "sin", "cos", "tan", "asin", "acos", "atan",
    "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "sigmoid",
):  # fmt: skip
    _enter(_name, _plain(getattr(te, _name)))

_enter("round", _round)
_enter("reciprocal", lambda x, _: 1.0 / x)
_enter("softplus", lambda x, _: _softplus(x))
_enter("softsign", lambda x, _: x / (te.abs(x) + 1))
_enter("silu", lambda x, _: x * te.sigmoid(x))
_enter("mish", lambda x, _: x * te.tanh(_softplus(x)))
_enter("hard_swish", lambda x, _: x * _hard_sigmoid(x, 1 / 6, 0.5))
_enter("leaky_relu", lambda x, a: te.if_then_else(x >= 0, x, x * a.float("alpha")))
_enter("thresholded_relu", lambda x, a: te.if_then_else(x > a.float("alpha"), x, _number(0, x)))
_enter("elu", lambda x, a: _elu(x, a.float("alpha")))
_enter("selu", lambda x, a: _elu(x, a.float("alpha")) * a.float("gamma"))
_enter(
    "celu",
    lambda x, a: te.if_then_else(
        x > 0, x, (te.exp(te.minimum(x, _number(0, x)) / a.float("alpha")) - 1) * a.float("alpha")
    ),
)
_enter("hard_sigmoid", lambda x, a: _hard_sigmoid(x, a.float("alpha"), a.float("beta")))
_enter("shrink", _shrink)
_enter("gelu", _gelu)
_enter("abs", _abs, widen=False)
_enter("negative", lambda x, _: -x, widen=False)
_enter("sign", _sign, widen=False)
_enter("relu", lambda x, _: te.maximum(x, _number(0, x)), widen=False)
_enter("identity", lambda x, _: x, widen=False)
_enter("logical_not", lambda x, _: te.logical_not(x), widen=False)
_enter("bitwise_not", _bitwise_not, widen=False)
_enter("clip", _clip, widen=False)
_enter("is_nan", lambda x, _: te.isnan(x), widen=False)
_enter("is_inf", _is_inf, widen=False)  # fmt: skip


@lowering("cast")
def _cast(site: Site, a: Tensor) -> Tensor:
    to = site.attrs.dtype("dtype")

    def value(x: Expr) -> Any:
        if to.is_bool and not x.dtype.is_bool:
            return te.ne(x, _number(0, x))
        if _is_narrow(x.dtype) and not to.is_float:
            return te.cast(te.cast(x, FLOAT32), to)
        return te.cast(x, to)

    return elementwise(value, a, "cast")


def _pair(name: str, function: Callable[[Any, Any, Attrs], Any], *, widen: bool = False) -> None:
    def rule(site: Site, a: Tensor, b: Tensor) -> Tensor:
        narrow = widen and _is_narrow(a.dtype)

        def value(x: Expr, y: Expr) -> Any:
            if not narrow:
                return function(x, y, site.attrs)
            return te.cast(function(te.cast(x, FLOAT32), te.cast(y, FLOAT32), site.attrs), a.dtype)

        return topi.broadcast.apply(value, a, b, name)

    LOWERINGS[name] = rule


def _power(x: Expr, y: Expr, _: Attrs) -> Any:
    if x.dtype.is_int:
        wide = te.power(te.cast(x, "float64"), te.cast(y, "float64"))
        return te.cast(te.nearbyint(wide) if y.dtype.is_int else wide, x.dtype)
    return te.power(x, te.cast(y, x.dtype) if y.dtype != x.dtype else y)


def _mod(x: Expr, y: Expr, attrs: Attrs) -> Any:
    if x.dtype.is_int:
        return te.truncmod(x, y) if attrs.flag("truncated") else x % y
    rest = te.fmod(x, y)
    if attrs.flag("truncated"):
        return rest
    zero = _number(0, x)
    wrong = te.all(te.ne(rest, zero), te.ne(rest < zero, y < zero))
    return te.if_then_else(wrong, rest + y, rest)


def _shift(x: Expr, y: Expr, attrs: Attrs) -> Any:
    return te.shift_left(x, y) if attrs.text("direction") == "left" else te.shift_right(x, y)


def _divide(x: Expr, y: Expr, _: Attrs) -> Any:
    return te.truncdiv(x, y) if x.dtype.is_int else x / y


_pair("add", lambda x, y, _: x + y)
_pair("subtract", lambda x, y, _: x - y)
_pair("multiply", lambda x, y, _: x * y)
_pair("divide", _divide)
_pair("maximum", lambda x, y, _: te.maximum(x, y))
_pair("minimum", lambda x, y, _: te.minimum(x, y))
_pair("power", _power, widen=True)
_pair("mod", _mod, widen=True)
_pair("prelu", lambda x, y, _: te.if_then_else(x < _number(0, x), x * y, x))
_pair("shift", _shift)
_pair("logical_and", lambda x, y, _: te.all(x, y))
_pair("logical_or", lambda x, y, _: te.any(x, y))
_pair("logical_xor", lambda x, y, _: te.ne(x, y))
_pair("bitwise_and", lambda x, y, _: te.bitwise_and(x, y))
_pair("bitwise_or", lambda x, y, _: te.bitwise_or(x, y))
_pair("bitwise_xor", lambda x, y, _: te.bitwise_xor(x, y))
_pair("equal", lambda x, y, _: te.eq(x, y))
_pair("not_equal", lambda x, y, _: te.ne(x, y))
_pair("less", lambda x, y, _: x < y)
_pair("less_equal", lambda x, y, _: x <= y)
_pair("greater", lambda x, y, _: x > y)
_pair("greater_equal", lambda x, y, _: x >= y)


@lowering("where")
def _where(site: Site, condition: Tensor, x: Tensor, y: Tensor) -> Tensor:
    element = topi.broadcast.element

    def value(*at: Any) -> Expr:
        return te.if_then_else(element(condition, at), element(x, at), element(y, at))

    return te.compute(site.output.sizes, value, name="where", tag="broadcast")


@lowering("full")
def _full(site: Site) -> Tensor:
    dtype = site.output.dtype
    number = site.attrs.float("value")
    value = const(int(number) if not dtype.is_float else number, dtype)

    def formula(*at: Any) -> Expr:
        del at
        return value

    return te.compute(site.output.sizes, formula, name="full", tag="elemwise")
