"""Arithmetic on literals: what an operation on two Python numbers of a type gives."""

from __future__ import annotations

from typing import Literal, TypeAlias, Union

from tvmlab.support import DType

BinaryOp = Literal[
    "add", "sub", "mul", "div", "floordiv", "floormod", "truncdiv", "truncmod",
    "min", "max", "bitand", "bitor", "bitxor", "shl", "shr",
]  # fmt: skip
CompareOp = Literal["eq", "ne", "lt", "le", "gt", "ge"]
Scalar: TypeAlias = Union[int, float, bool]


_WIDEST_SHIFT = 128


def fold_int(op: BinaryOp, x: int, y: int) -> int | None:
    """An integer operation before wrapping to a type; None where it is undefined."""
    if op in ("floordiv", "floormod", "truncdiv", "truncmod"):
        return _divide(op, x, y)
    if op in ("shl", "shr"):
        y = min(y, _WIDEST_SHIFT)  # all bits are gone long before
        return None if y < 0 else (x << y if op == "shl" else x >> y)
    table = {
        "add": x + y, "sub": x - y, "mul": x * y, "min": min(x, y), "max": max(x, y),
        "bitand": x & y, "bitor": x | y, "bitxor": x ^ y,
    }  # fmt: skip
    return table.get(op)


def fold_compare(op: CompareOp, x: Scalar, y: Scalar) -> bool:
    """A comparison of two literals."""
    return {
        "eq": x == y, "ne": x != y, "lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y,
    }[op]  # fmt: skip


def wrap_int(value: int, dtype: DType) -> int:
    """Reduce an integer to the range of a type, as two's complement does."""
    value &= (1 << dtype.bits) - 1
    if dtype.kind == "int" and value >> (dtype.bits - 1):
        value -= 1 << dtype.bits
    return value


def _divide(op: BinaryOp, x: int, y: int) -> int | None:
    if y == 0:
        return None
    quotient = x // y
    if op.startswith("trunc") and quotient < 0 and quotient * y != x:
        quotient += 1
    return quotient if op.endswith("div") else x - quotient * y
