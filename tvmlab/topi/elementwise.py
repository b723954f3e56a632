"""Functions of each element of a tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tvmlab.te as te
from tvmlab.ir import Expr, ExprLike, as_expr, const
from tvmlab.support import DType
from tvmlab.te import Axis, Tensor

from .tag import ELEMWISE


def elementwise(function: Callable[[Any], ExprLike], a: Tensor, name: str) -> Tensor:
    """`function` of each element."""

    def formula(*indices: Axis) -> ExprLike:
        return function(a[indices])

    return te.compute(a.shape, formula, name=name, tag=ELEMWISE)


def _named(name: str) -> Callable[[Tensor], Tensor]:
    """The function of te of a name, on each element."""

    def operator(a: Tensor) -> Tensor:
        return elementwise(getattr(te, name), a, name)

    operator.__name__ = name
    operator.__doc__ = f"te.{name} of each element."
    return operator


exp, log, sqrt, rsqrt = _named("exp"), _named("log"), _named("sqrt"), _named("rsqrt")
sin, cos, tan, tanh = _named("sin"), _named("cos"), _named("tan"), _named("tanh")
floor, ceil, trunc, round = _named("floor"), _named("ceil"), _named("trunc"), _named("round")
abs, erf, sigmoid = _named("abs"), _named("erf"), _named("sigmoid")


def relu(a: Tensor) -> Tensor:
    """The element where it is positive, else zero."""
    return elementwise(lambda x: te.maximum(x, const(0, a.dtype)), a, "relu")


def leaky_relu(a: Tensor, alpha: float = 0.01) -> Tensor:
    """The element where it is positive, else `alpha` times it."""
    return elementwise(lambda x: te.if_then_else(x > 0, x, x * alpha), a, "leaky_relu")


def negative(a: Tensor) -> Tensor:
    """Minus each element."""
    return elementwise(lambda x: -x, a, "negative")


def identity(a: Tensor) -> Tensor:
    """A copy."""
    return elementwise(lambda x: x, a, "identity")


def clip(a: Tensor, low: float, high: float) -> Tensor:
    """Each element, brought between two limits."""
    least, most = const(low, a.dtype), const(high, a.dtype)
    return elementwise(lambda x: te.maximum(te.minimum(x, most), least), a, "clip")


def cast(a: Tensor | Expr, dtype: DType | str) -> Any:
    """Each element converted to another type."""
    if not isinstance(a, Tensor):
        return te.cast(a, dtype)
    return elementwise(lambda x: te.cast(x, dtype), a, "cast")


def widened(a: Tensor) -> Tensor:
    """In float32, if it is of a shorter float: sums of many need more digits than their terms."""
    return cast(a, "float32") if a.dtype.is_float and a.dtype.bits < 32 else a


def narrowed(a: Tensor, dtype: DType) -> Tensor:
    """Back in the type that it was widened from."""
    return a if a.dtype == dtype else cast(a, dtype)


def full(shape: Any, dtype: DType | str, value: ExprLike) -> Tensor:
    """A tensor of one value."""
    filling = te.cast(as_expr(value), dtype)

    def formula(*indices: Axis) -> Expr:
        del indices
        return filling

    return te.compute(shape, formula, name="full", tag=ELEMWISE)


def full_like(a: Tensor, value: ExprLike) -> Tensor:
    """A tensor of one value, of another's shape and type."""
    return full(a.shape, a.dtype, value)
