"""Elements chosen by data: indices, conditions, the place of the largest; and sums on the way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tvmlab.te as te
from tvmlab.ir import Expr, ExprLike, as_expr, const_int
from tvmlab.support import INDEX, DType, ShapeError
from tvmlab.te import Tensor, View

from .broadcast import broadcast_shape, element
from .elementwise import elementwise
from .reduction import normalized
from .shape import reshape
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


def gather_nd(a: Tensor, indices: Tensor, batch_dims: int = 0) -> Tensor:
    """Slices at the places that the last dimension of `indices` spells out.

    Parameters
    ----------
    batch_dims
        So many first dimensions are those of both tensors, and not spelled out.

    Raises
    ------
    ShapeError
        If that dimension is unknown, or longer than the rank.
    """
    depth = const_int(indices.shape[-1])
    most = len(a.shape) - batch_dims
    if depth is None or depth > most:
        raise ShapeError(f"the last dimension of the indices must be known and at most {most}")
    outer = len(indices.shape) - 1

    def value(*places: Any) -> Expr:
        chosen = [
            _place(indices[(*places[:outer], d)], a.shape[batch_dims + d]) for d in range(depth)
        ]
        return a[(*places[:batch_dims], *chosen, *places[outer:])]

    shape = (*indices.shape[:-1], *a.shape[batch_dims + depth :])
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


def argmax(
    a: Tensor, axis: int | None = None, keepdims: bool = False, last: bool = False
) -> Tensor:
    """The index (int64) of the largest element; of equal ones the first, or the last."""
    return _extreme_place(a, axis, keepdims, last, te.argmax, "argmax")


def argmin(
    a: Tensor, axis: int | None = None, keepdims: bool = False, last: bool = False
) -> Tensor:
    """The index (int64) of the smallest element; of equal ones the first, or the last."""
    return _extreme_place(a, axis, keepdims, last, te.argmin, "argmin")


def _extreme_place(
    a: Tensor, axis: int | None, keepdims: bool, last: bool, fold: Any, name: str
) -> Tensor:
    if axis is None:
        whole: Any = 1
        for size in a.shape:
            whole = whole * size
        found = _extreme_place(reshape(a, (whole,)), 0, False, last, fold, name)
        return reshape(found, [1] * len(a.shape)) if keepdims else found
    (at,) = normalized(axis, len(a.shape))
    end = te.cast(a.shape[at], "int64") - 1
    k = te.reduce_axis(a.shape[at], "k")

    def value(*places: Any) -> tuple[Expr, Expr]:
        after = places[at + 1 :] if keepdims else places[at:]
        place = te.cast(k, "int64")
        # The smallest of equal places wins: counted from the end, that is the last.
        return fold((end - place if last else place, a[(*places[:at], k, *after)]), axis=k)

    one = (1,) if keepdims else ()
    shape = (*a.shape[:at], *one, *a.shape[at + 1 :])
    index, _ = te.compute(shape, value, name=name, tag=COMM_REDUCE_IDX)
    return elementwise(lambda place: end - place, index, name) if last else index


def cumsum(a: Tensor, axis: int = -1, exclusive: bool = False, reverse: bool = False) -> Tensor:
    """Sums of all elements up to each one along a dimension.

    Parameters
    ----------
    exclusive
        Without the element itself.
    reverse
        From the end.
    """
    return _running(a, axis, exclusive, reverse, 0, lambda total, new: total + new, "cumsum")


def cumprod(a: Tensor, axis: int = -1, exclusive: bool = False, reverse: bool = False) -> Tensor:
    """Products of all elements up to each one: see `cumsum`."""
    return _running(a, axis, exclusive, reverse, 1, lambda total, new: total * new, "cumprod")


def _running(
    a: Tensor,
    axis: int,
    exclusive: bool,
    reverse: bool,
    start: int,
    step: Callable[[Any, Any], Any],
    name: str,
) -> Tensor:
    (at,) = normalized(axis, len(a.shape))
    kept = "float32" if a.dtype.is_float and a.dtype.bits < 32 else str(a.dtype)

    def code(ins: Sequence[View], outs: Sequence[View]) -> Any:
        ib = te.ir_builder.create()
        source, target = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])

        def row(places: tuple[Any, ...]) -> None:
            total = ib.allocate(kept, (1,), "total")
            total[0] = te.cast(as_expr(start), kept)
            with ib.for_range(0, a.shape[at], "k") as k:
                place = a.shape[at] - 1 - k if reverse else k
                here = (*places[:at], place, *places[at:])
                if exclusive:
                    target[here] = te.cast(total[0], a.dtype)
                total[0] = step(total[0], te.cast(source[here], kept))
                if not exclusive:
                    target[here] = te.cast(total[0], a.dtype)

        _over(ib, [size for d, size in enumerate(a.shape) if d != at], (), row)
        return ib.get()

    return te.extern(a.shape, [a], code, name=name, dtype=a.dtype)


def _over(
    ib: Any, sizes: Sequence[Expr], places: tuple[Any, ...], row: Callable[[tuple[Any, ...]], None]
) -> None:
    """Code in loops over dimensions, the outermost shared by the threads."""
    if len(places) == len(sizes):
        row(places)
        return
    size = sizes[len(places)]
    kind = "parallel" if not places and (const_int(size) or 0) > 1 else "serial"
    with ib.for_range(0, size, f"i{len(places)}", kind=kind) as i:
        _over(ib, sizes, (*places, i), row)
