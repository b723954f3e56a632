"""Evaluating an expression at many points at once, as NumPy arrays: for searches, not for proofs.

Floats of every width are taken as 64-bit ones, so that what differs by more than rounding stands
out; integers have their own width and wrap.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tvmlab.ir import (
    Binary,
    Call,
    Cast,
    Compare,
    Const,
    Expr,
    Logic,
    Not,
    Select,
    Var,
    call_info,
)
from tvmlab.support import DType

Samples: TypeAlias = NDArray[Any]


def sample_type(dtype: DType) -> np.dtype[Any]:
    """The type in which values are sampled: 64-bit for floats, their own for others."""
    return np.dtype(np.float64) if dtype.is_float else dtype.numpy


def evaluate_at(e: Expr, points: Mapping[Var, Samples]) -> Samples:
    """The values of an expression over variables at given points.

    Raises
    ------
    KeyError
        If it reads memory, or uses a variable that is not given.
    """
    known: dict[int, Samples] = {}

    def visit(current: Expr) -> Samples:
        value = known.get(id(current))
        if value is None:
            value = known[id(current)] = _value(current, visit, points)
        return value

    with np.errstate(all="ignore"):
        return visit(e)


def _value(e: Expr, visit: Callable[[Expr], Samples], points: Mapping[Var, Samples]) -> Samples:
    kind = sample_type(e.dtype)
    match e:
        case Const():
            return np.asarray(e.value, kind)
        case Var():
            return points[e]
        case Binary():
            return np.asarray(_binary(e, visit(e.a), visit(e.b)), kind)
        case Compare():
            return np.asarray(_COMPARE[e.op](visit(e.a), visit(e.b)))
        case Logic():
            join = np.logical_and if e.op == "and" else np.logical_or
            return join(visit(e.a), visit(e.b))
        case Not():
            return np.logical_not(visit(e.a))
        case Select():
            return np.where(visit(e.cond), visit(e.then), visit(e.otherwise))
        case Cast():
            return visit(e.value).astype(kind)
        case Call():
            return np.asarray(call_info(e.op).meaning(*(visit(a) for a in e.args))).astype(kind)
        case _:
            raise KeyError(type(e).__name__)


def _binary(e: Binary, a: Samples, b: Samples) -> Any:
    if e.op == "truncdiv":
        return _truncated(a, b)
    if e.op == "truncmod":
        return a - _truncated(a, b) * b
    return _BINARY[e.op](a, b)


def _truncated(a: Samples, b: Samples) -> Any:
    quotient = np.floor_divide(a, b)
    inexact = (quotient * b != a) & (quotient < 0)
    return quotient + inexact.astype(quotient.dtype)


_BINARY: dict[str, Callable[..., Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide,
    "floordiv": np.floor_divide, "floormod": np.mod, "min": np.minimum, "max": np.maximum,
    "bitand": np.bitwise_and, "bitor": np.bitwise_or, "bitxor": np.bitwise_xor,
    "shl": np.left_shift, "shr": np.right_shift,
}  # fmt: skip
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt,
    "le": operator.le, "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip
