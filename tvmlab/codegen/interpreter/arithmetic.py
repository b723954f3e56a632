"""What each operation does to values, by element type.

A scalar integer is a Python int kept in the range of its type, a bool is a bool, a scalar float is
the NumPy scalar of its type, so that every operation rounds as its type does. A vector is a NumPy
array. `min` and `max` of floats give NaN if either side is NaN, as NumPy's do. What has no defined
result (division by zero, a shift by the width or more, a float that no integer holds) is a `Fault`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from tvmlab.ir import CALLS, BinaryOp, CompareOp, wrap_int
from tvmlab.support import DType

from .failure import Fault

Function1: TypeAlias = Callable[[Any], Any]
Function2: TypeAlias = Callable[[Any, Any], Any]

COMPARE: dict[CompareOp, Function2] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt,
    "le": operator.le, "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip

_BITS: dict[BinaryOp, Function2] = {
    "bitand": lambda a, b: a & b,
    "bitor": lambda a, b: a | b,
    "bitxor": lambda a, b: a ^ b,
}
_WRAPPED: dict[BinaryOp, Function2] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
}
_EXACT: dict[BinaryOp, Function2] = {
    "min": min, "max": max, **_BITS,
}  # fmt: skip
_VECTOR: dict[BinaryOp, Function2] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.true_divide,
    "floordiv": np.floor_divide, "floormod": np.mod, "min": np.minimum, "max": np.maximum,
    "bitand": np.bitwise_and, "bitor": np.bitwise_or, "bitxor": np.bitwise_xor,
}  # fmt: skip


class ActiveLanes:
    """Which lanes of the vectors at hand count; None for all. A vector Select narrows it."""

    __slots__ = ("mask",)

    def __init__(self) -> None:
        self.mask: Any = None

    def of(self, vector: Any) -> Any:
        """The lanes of a vector that count."""
        return vector if self.mask is None else vector[self.mask]


def scalar_binary(op: BinaryOp, dtype: DType) -> Function2:
    """An operation on two scalars of one type."""
    if dtype.is_float:
        return _FLOAT[op]
    if op in _EXACT:
        return _EXACT[op]
    if op in _WRAPPED:
        return _wrapping(_WRAPPED[op], dtype)
    return _shift(op, dtype) if op in ("shl", "shr") else _division(op, dtype)


def vector_binary(op: BinaryOp, dtype: DType, active: ActiveLanes) -> Function2:
    """An operation on two vectors of one type, lane by lane."""
    if op not in _VECTOR or (dtype.is_float and op.startswith("trunc")):
        return _lane_by_lane(scalar_binary(op, dtype.scalar), dtype, active)
    function = _VECTOR[op]
    if dtype.is_float or op not in ("floordiv", "floormod"):
        return function

    def divide(a: Any, b: Any) -> Any:
        if not active.of(b).all():
            raise _no_division(op)
        return function(a, b)

    return divide


def _wrapping(function: Function2, dtype: DType) -> Function2:
    low, high = dtype.min_value, dtype.max_value

    def run(a: int, b: int) -> int:
        result = function(a, b)
        return result if low <= result <= high else wrap_int(result, dtype)

    return run


def _division(op: BinaryOp, dtype: DType) -> Function2:
    truncates, remainder = op.startswith("trunc"), op.endswith("mod")
    high = dtype.max_value

    def run(a: int, b: int) -> int:
        if b == 0:
            raise _no_division(op)
        quotient = a // b
        if truncates and quotient < 0 and quotient * b != a:
            quotient += 1
        result = a - quotient * b if remainder else quotient
        return result if result <= high else wrap_int(result, dtype)

    return run


def _no_division(op: str) -> Fault:
    sign = {"floordiv": "//", "floormod": "%"}.get(op, op)
    return Fault("division-by-zero", f"`{sign}` by zero")


def _shift(op: BinaryOp, dtype: DType) -> Function2:
    def run(a: int, b: int) -> int:
        if not 0 <= b < dtype.bits:
            raise Fault("bad-shift", f"a {dtype} is shifted by {b}, not by 0 to {dtype.bits - 1}")
        return wrap_int(a << b, dtype) if op == "shl" else a >> b

    return run


def _lane_by_lane(function: Function2, dtype: DType, active: ActiveLanes) -> Function2:
    kind = dtype.numpy.type

    def run(a: Any, b: Any) -> Any:
        result = np.zeros(dtype.lanes, dtype.numpy)
        for lane in range(dtype.lanes):
            if active.mask is None or active.mask[lane]:
                x, y = (a[lane], b[lane]) if dtype.is_float else (int(a[lane]), int(b[lane]))
                result[lane] = kind(function(x, y))
        return result

    return run


def _float_min(a: Any, b: Any) -> Any:
    return a if a <= b or a != a else b


def _float_max(a: Any, b: Any) -> Any:
    return a if a >= b or a != a else b


_FLOAT: dict[BinaryOp, Function2] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": lambda a, b: a / b,
    "floordiv": np.floor_divide, "floormod": np.mod,
    "truncdiv": lambda a, b: np.trunc(a / b), "truncmod": np.fmod,
    "min": _float_min, "max": _float_max,
}  # fmt: skip


def scalar_cast(source: DType, to: DType) -> Function1:
    """The conversion of a scalar from one type to another."""
    if to.is_bool:
        return lambda x: bool(x != 0)
    if to.is_float:
        kind, wide = to.numpy.type, source.numpy.type
        if source.is_float:
            return kind
        # Straight from the integer type, so that a big integer is rounded once.
        return lambda x: wide(x).astype(kind)
    if source.is_float:
        return lambda x: _float_to_int(x, to)
    return lambda x: wrap_int(int(x), to)


def vector_cast(source: DType, to: DType, active: ActiveLanes) -> Function1:
    """The conversion of a vector, lane by lane."""
    if not (source.is_float and to.is_int):
        return lambda x: x.astype(to.numpy)

    def convert(x: Any) -> Any:
        for lane in active.of(x):
            _float_to_int(lane, to)
        return x.astype(to.numpy)

    return convert


def _float_to_int(x: Any, to: DType) -> int:
    value = float(x)
    if value - value == 0 and to.min_value <= int(value) <= to.max_value:
        return int(value)
    raise Fault("bad-cast", f"the value {value!r} is converted to {to}, which cannot hold it")


def scalar_call(op: str, dtype: DType) -> Callable[..., Any]:
    """A function of the op table on scalars, with its result in the given type."""
    meaning = _meaning(op)
    if op == "outside":
        return _outside
    kind = dtype.numpy.type
    if dtype.is_bool:
        return lambda *args: bool(meaning(*args))
    if CALLS[op].by_width:
        return lambda *args: wrap_int(int(meaning(*(kind(a) for a in args))), dtype)
    if dtype.is_int:
        return lambda *args: wrap_int(int(meaning(*args)), dtype)
    return lambda *args: kind(meaning(*args))


def vector_call(op: str, dtype: DType) -> Callable[..., Any]:
    """A function of the op table on vectors."""
    if op == "outside":
        return _outside
    meaning = _meaning(op)
    return lambda *args: np.asarray(meaning(*args)).astype(dtype.numpy)


def _outside(index: Any, limit: Any, number: Any) -> Any:
    del number
    raise Fault("out-of-bounds", f"the index {index} is outside a dimension of size {limit}")


def _meaning(op: str) -> Callable[..., Any]:
    return _fused if op == "fma" else CALLS[op].meaning


def _fused(a: Any, b: Any, c: Any) -> Any:
    """`a * b + c` in a type that holds the product exactly, so that it is rounded only at the end.

    For float64 that is the machine's long double, the widest there is.
    """
    wide = np.longdouble if np.asarray(a).dtype == np.float64 else np.float64
    return np.asarray(a, wide) * np.asarray(b, wide) + np.asarray(c, wide)
