"""Elements chosen by data: indices, conditions, the place of the largest; and sums on the way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tvmlab.te as te
from tvmlab.ir import Expr, ExprLike, as_expr, const_int
from tvmlab.support import INDEX, DType, ShapeError
from tvmlab.te import Tensor, View

from .broadcast import broadcast_shape, element
from .reduction import normalized
from .tag import COMM_REDUCE_IDX, INJECTIVE


def _place(index: Expr, size: Expr) -> Expr:
    """An index that may count from the end."""
    wide = te.cast(index, INDEX)
    return te.if_then_else(wide < 0, wide + size, wide)


def take(a: Tensor, indices: Tensor, axis: int = 0) -> Tensor:
    """Slices of a tensor along a dimension, as a tensor of indices says.

    Negative indices count from the end. An index outside makes the call fail.
    """
    (at,) = normalized(axis, len(a.shape))
    rank = len(indices.shape)

    def value(*places: Any) -> Expr:
        chosen = _place(indices[places[at : at + rank]], a.shape[at])
        return a[(*places[:at], chosen, *places[at + rank :])]

    shape = (*a.shape[:at], *indices.shape, *a.shape[at + 1 :])
    return te.compute(shape, value, name="take", tag=INJECTIVE)


def gather(a: Tensor, indices: Tensor, axis: int = 0) -> Tensor:
    """For each element of `indices` the element of the same place, but for this dimension."""
    (at,) = normalized(axis, len(a.shape))

    def value(*places: Any) -> Expr:
        return a[(*places[:at], _place(indices[places], a.shape[at]), *places[at + 1 :])]

    return te.compute(indices.shape, value, name="gather", tag=INJECTIVE)


def gather_nd(a: Tensor, indices: Tensor) -> Tensor:
    """Slices at the places that the last dimension of `indices` spells out.

    Raises
    ------
    ShapeError
        If that dimension is unknown, or longer than the rank.
    """
    depth = const_int(indices.shape[-1])
    if depth is None or depth > len(a.shape):
        raise ShapeError(
            f"the last dimension of the indices must be known and at most {len(a.shape)}"
        )
    outer = len(indices.shape) - 1

    def value(*places: Any) -> Expr:
        chosen = [_place(indices[(*places[:outer], d)], a.shape[d]) for d in range(depth)]
        return a[(*chosen, *places[outer:])]

    shape = (*indices.shape[:-1], *a.shape[depth:])
    return te.compute(shape, value, name="gather_nd", tag=INJECTIVE)


def where(condition: Tensor, then: Tensor, otherwise: Tensor) -> Tensor:
    """Elements of one tensor where a condition holds (is not zero), else of the other."""
    shape = broadcast_shape(condition.shape, broadcast_shape(then.shape, otherwise.shape))

    def value(*places: Any) -> Expr:
        asked = element(condition, places)
        holds = asked if asked.dtype.is_bool else te.ne(asked, as_expr(0, asked.dtype))
        return te.if_then_else(holds, element(then, places), element(otherwise, places))

    return te.compute(shape, value, name="where", tag=INJECTIVE)


def one_hot(
    indices: Tensor,
    depth: int,
    on: ExprLike = 1.0,
    off: ExprLike = 0.0,
    axis: int = -1,
    dtype: DType | str = "float32",
) -> Tensor:
    """`on` where the new dimension's index is the element, `off` elsewhere."""
    at = axis + len(indices.shape) + 1 if axis < 0 else axis
    yes, no = te.cast(as_expr(on), dtype), te.cast(as_expr(off), dtype)

    def value(*places: Any) -> Expr:
        wanted = te.cast(indices[(*places[:at], *places[at + 1 :])], INDEX)
        return te.if_then_else(te.eq(places[at], wanted), yes, no)

    shape = (*indices.shape[:at], depth, *indices.shape[at:])
    return te.compute(shape, value, name="one_hot", tag=INJECTIVE)


def argmax(a: Tensor, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The index (int64) of the largest element; the first of equal ones."""
    return _extreme_place(a, axis, keepdims, te.argmax, "argmax")


def argmin(a: Tensor, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The index (int64) of the smallest element; the first of equal ones."""
    return _extreme_place(a, axis, keepdims, te.argmin, "argmin")


def _extreme_place(a: Tensor, axis: int | None, keepdims: bool, fold: Any, name: str) -> Tensor:
    if axis is None:
        from .shape import reshape

        whole: Any = 1
        for size in a.shape:
            whole = whole * size
        found = _extreme_place(reshape(a, (whole,)), 0, False, fold, name)
        return reshape(found, [1] * len(a.shape)) if keepdims else found
    (at,) = normalized(axis, len(a.shape))
    k = te.reduce_axis(a.shape[at], "k")

    def value(*places: Any) -> tuple[Expr, Expr]:
        after = places[at + 1 :] if keepdims else places[at:]
        return fold((te.cast(k, "int64"), a[(*places[:at], k, *after)]), axis=k)

    one = (1,) if keepdims else ()
    shape = (*a.shape[:at], *one, *a.shape[at + 1 :])
    index, _ = te.compute(shape, value, name=name, tag=COMM_REDUCE_IDX)
    return index


def cumsum(a: Tensor, axis: int = -1, exclusive: bool = False) -> Tensor:
    """Sums of all elements up to each one along a dimension; without it if `exclusive`."""
    (at,) = normalized(axis, len(a.shape))

    def code(ins: Sequence[View], outs: Sequence[View]) -> Any:
        ib = te.ir_builder.create()
        source, target = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        _over(ib, a, at, 0, (), source, target, exclusive)
        return ib.get()

    return te.extern(a.shape, [a], code, name="cumsum", dtype=a.dtype)


def _over(
    ib: Any, a: Tensor, at: int, d: int, places: tuple[Any, ...], source: Any, target: Any,
    exclusive: bool,
) -> None:  # fmt: skip
    """Loops over the dimensions, that of the sums being the innermost but one at most."""
    order = [n for n in range(len(a.shape)) if n != at]
    if d < len(order):
        kind = "parallel" if d == 0 and (const_int(a.shape[order[0]]) or 0) > 1 else "serial"
        with ib.for_range(0, a.shape[order[d]], f"i{d}", kind=kind) as i:
            _over(ib, a, at, d + 1, (*places, i), source, target, exclusive)
        return

    def put(n: Any) -> tuple[Any, ...]:
        return (*places[:at], n, *places[at:])

    zero = as_expr(0, a.dtype)
    target[put(as_expr(0))] = zero if exclusive else source[put(as_expr(0))]
    with ib.for_range(1, a.shape[at], "k") as k:
        new = source[put(k - 1 if exclusive else k)]
        target[put(k)] = target[put(k - 1)] + new
