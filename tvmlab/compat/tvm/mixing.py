"""How old programs mix types: integers become floats, narrow numbers wide, indices 32-bit."""

from __future__ import annotations

from typing import Any

from tvmlab.ir import Cast, Const, Expr, Load, Stride, Var, cast, const, walk
from tvmlab.support import INDEX, INT32, DType
from tvmlab.te import Reduce


def converted(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """Two operands of different types, converted as C and the old `te` do."""
    if a.dtype.lanes != b.dtype.lanes:
        return a, b
    if a.dtype == INDEX and is_index(a) and b.dtype == INT32:
        return (a, const(b.value, INDEX)) if isinstance(b, Const) else (cast(a, INT32), b)
    if b.dtype == INDEX and is_index(b) and a.dtype == INT32:
        return (const(a.value, INDEX), b) if isinstance(a, Const) else (a, cast(b, INT32))
    common = _common(a.dtype, b.dtype)
    return cast(a, common), cast(b, common)


def _common(a: DType, b: DType) -> DType:
    if a.is_float != b.is_float:
        return a if a.is_float else b
    if a.is_bool or b.is_bool:
        return b if a.is_bool else a
    return a if a.bits >= b.bits else b


def is_index(value: Expr) -> bool:
    """Whether a value is computed from axes, sizes and whole numbers alone."""
    if isinstance(value, Reduce):
        return all(is_index(e) for e in value.source)
    return not any(isinstance(e, Load | Cast | Stride) for e in walk(value)) and all(
        e.dtype == INDEX or e.dtype.is_bool for e in walk(value) if isinstance(e, Const | Var)
    )


def old_index(value: Any) -> Any:
    """A value as a tensor's element: an index becomes the 32-bit integer that it is in old `te`."""
    if isinstance(value, Expr) and value.dtype == INDEX and is_index(value):
        return cast(value, INT32)
    return value
