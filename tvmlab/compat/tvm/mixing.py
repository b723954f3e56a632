"""How old programs mix types: integers become floats, narrow numbers wide, indices 32-bit."""

from __future__ import annotations

from typing import Any

from tvmlab.ir import Cast, Const, Expr, Load, Select, Stride, Var, cast, children, const
from tvmlab.support import INDEX, INT32, DType, TypeMismatch, user_span
from tvmlab.te import Reduce


def converted(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """Two operands of different types, converted as C and the old `te` do."""
    if a.dtype.lanes != b.dtype.lanes:
        return a, b
    if a.dtype == INDEX and is_index(a) and b.dtype == INT32:
        return (a, const(b.value, INDEX)) if isinstance(b, Const) else (_int32(a), b)
    if b.dtype == INDEX and is_index(b) and a.dtype == INT32:
        return (const(a.value, INDEX), b) if isinstance(a, Const) else (a, _int32(b))
    a, b = old_index(a), old_index(b)
    common = _common(a.dtype, b.dtype)
    return _cast(a, common), _cast(b, common)


def _common(a: DType, b: DType) -> DType:
    if a.is_float != b.is_float:
        return a if a.is_float else b
    if a.is_bool or b.is_bool:
        return b if a.is_bool else a
    if a.bits == b.bits:
        return a if a.kind == "uint" else b
    return a if a.bits > b.bits else b


def _cast(value: Expr, dtype: DType) -> Expr:
    """A conversion, at once where a literal keeps its value."""
    if not isinstance(value, Const) or value.dtype.is_float or not dtype.is_int:
        return cast(value, dtype)
    fits = dtype.min_value <= value.value <= dtype.max_value
    return const(value.value, dtype) if fits else cast(value, dtype)


def _int32(value: Expr) -> Expr:
    if isinstance(value, Const) and not INT32.min_value <= value.value <= INT32.max_value:
        raise TypeMismatch(
            f"{value.value} does not fit in int32, the type of whole numbers in old programs",
            hint='say its type: tvm.tir.const(value, "int64"), and cast what it meets to int64',
            span=user_span(),
        )
    return _cast(value, INT32)


def is_index(value: Expr) -> bool:
    """Whether a value is computed from axes, sizes and whole numbers alone.

    What chooses between two such values may be anything.
    """
    todo: list[Any] = [value]
    seen: set[int] = set()
    while todo:
        e = todo.pop()
        if isinstance(e, Load | Cast | Stride):
            return False
        if isinstance(e, Const | Var) and not (e.dtype == INDEX or e.dtype.is_bool):
            return False
        if id(e) in seen:
            continue
        seen.add(id(e))
        if isinstance(e, Select):
            todo += (e.then, e.otherwise)
        else:
            todo += e.source if isinstance(e, Reduce) else children(e)
    return True


def old_index(value: Any) -> Any:
    """A value as a tensor's element: an index becomes the 32-bit integer that it is in old `te`."""
    if isinstance(value, int) and not isinstance(value, bool):
        return _int32(const(value))
    if isinstance(value, Expr) and value.dtype == INDEX and is_index(value):
        return _int32(value)
    return value
