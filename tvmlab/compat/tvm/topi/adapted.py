"""Operators whose arguments or meaning in TVM differ from those of `tvmlab.topi`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tvmlab.te as te
import tvmlab.topi as _topi
from tvmlab.compat.tvm.missing import refused
from tvmlab.compat.tvm.te.tensors import returns_old
from tvmlab.ir import Expr, const_int
from tvmlab.support import INDEX, OptionError, ShapeError, user_span
from tvmlab.te import Tensor
from tvmlab.topi import tag
from tvmlab.topi.broadcast import apply

__all__ = [
    "argmax", "argmin", "clip", "concatenate", "cumprod", "cumsum", "flip", "full", "full_like",
    "gather", "gather_nd", "matmul", "mod", "one_hot", "reshape", "split", "take",
]  # fmt: skip


@returns_old
def mod(lhs: Any, rhs: Any) -> Any:
    """The remainder with the dividend's sign, as in C."""

    def remainder(x: Expr, y: Expr) -> Expr:
        return te.fmod(x, y) if x.dtype.is_float else te.truncmod(x, y)

    return apply(remainder, lhs, rhs, "mod")


@returns_old
def take(
    a: Tensor, indices: Tensor, axis: int | None = None, batch_dims: int = 0, mode: str = "clip"
) -> Tensor:
    """Parts of a tensor, or without an axis elements of it in row-major order, by their index.

    Indices outside are moved to the edge, or counted on around it in the mode "wrap".
    """
    if batch_dims:
        raise refused("topi.take with batch_dims", "write it as a te.compute")
    if mode not in ("clip", "wrap", "fast"):
        raise OptionError(
            f"there is no mode {mode!r} of take",
            hint="modes are clip, wrap, fast",
            span=user_span(),
        )
    source = _flat(a) if axis is None else a
    at = _dimension(source, axis or 0)
    rank, size = len(indices.shape), source.shape[at]

    def place(index: Expr) -> Expr:
        wide = te.cast(index, INDEX)
        if mode == "fast":
            return wide
        return wide % size if mode == "wrap" else te.maximum(te.minimum(wide, size - 1), 0)

    def value(*places: Any) -> Expr:
        chosen = place(indices[places[at : at + rank]])
        return source[(*places[:at], chosen, *places[at + rank :])]

    shape = (*source.shape[:at], *indices.shape, *source.shape[at + 1 :])
    return te.compute(shape, value, name="T_take", tag=tag.INJECTIVE)


@returns_old
def gather(data: Tensor, axis: int, indices: Tensor) -> Tensor:
    """Elements whose place along one dimension is given by a tensor of indices."""
    return _topi.gather(data, indices, axis)


@returns_old
def gather_nd(a: Tensor, indices: Tensor) -> Tensor:
    """Parts of a tensor by their first indices, which stand along the first dimension."""
    depth = const_int(indices.shape[0])
    if depth is None or depth > len(a.shape):
        raise ShapeError(
            f"the first dimension of the indices must be known and at most {len(a.shape)}"
        )
    rank = len(indices.shape) - 1

    def value(*places: Any) -> Expr:
        first = [te.cast(indices[(d, *places[:rank])], INDEX) for d in range(depth)]
        return a[(*first, *places[rank:])]

    shape = (*indices.shape[1:], *a.shape[depth:])
    return te.compute(shape, value, name="gather_nd", tag=tag.INJECTIVE)


@returns_old
def one_hot(
    indices: Tensor, on_value: Any, off_value: Any, depth: int, axis: int, dtype: Any
) -> Tensor:
    """For each index a vector that is "on" at this place."""
    return _topi.one_hot(indices, depth, on_value, off_value, axis, dtype)


def _running(name: str) -> Callable[..., Tensor]:
    own = getattr(_topi, name)

    def running(
        data: Tensor, axis: int | None = None, dtype: Any = None, exclusive: Any = None
    ) -> Tensor:
        typed = data if dtype is None else _topi.cast(data, dtype)
        if axis is None:
            return own(_flat(typed), 0, bool(exclusive))
        return own(typed, axis, bool(exclusive))

    running.__doc__ = f"{own.__doc__}\n    Without an axis, in row-major order."
    return returns_old(running)


cumsum, cumprod = _running("cumsum"), _running("cumprod")


def _extreme(name: str) -> Callable[..., Tensor]:
    own = getattr(_topi, name)

    def extreme(
        data: Tensor, axis: Any = None, keepdims: bool = False, select_last_index: bool = False
    ) -> Tensor:
        one = axis[0] if isinstance(axis, list | tuple) and len(axis) == 1 else axis  # pyright: ignore
        return _topi.cast(own(data, one, keepdims, select_last_index), "int32")

    extreme.__doc__ = own.__doc__.replace("int64", "int32")
    return returns_old(extreme)


argmax, argmin = _extreme("argmax"), _extreme("argmin")


@returns_old
def matmul(a: Tensor, b: Tensor, transp_a: bool = False, transp_b: bool = False) -> Tensor:
    """The product of two matrices, either of which may be given transposed."""
    rows, inner = a.shape[::-1] if transp_a else a.shape
    depth, columns = b.shape[::-1] if transp_b else b.shape
    if const_int(inner) != const_int(depth):
        raise ShapeError(
            f"cannot multiply: {a.name} has {inner} column(s), {b.name} {depth} row(s)"
        )
    k = te.reduce_axis(inner, "k")

    def value(i: Any, j: Any) -> Expr:
        left = a[k, i] if transp_a else a[i, k]
        return te.sum(left * (b[j, k] if transp_b else b[k, j]), axis=k)

    return te.compute((rows, columns), value, name="T_matmul", tag="matmul")


@returns_old
def flip(a: Tensor, axis: int = 0) -> Tensor:
    """The elements in the other order along a dimension."""
    return _topi.flip(a, axis)


@returns_old
def clip(x: Tensor, a_min: float, a_max: float) -> Tensor:
    """Elements no smaller and no larger than two numbers."""
    return _topi.clip(x, a_min, a_max)


@returns_old
def full(shape: Any, dtype: Any, fill_value: Any) -> Tensor:
    """A tensor of one value."""
    return _topi.full(shape, dtype, fill_value)


@returns_old
def full_like(x: Tensor, fill_value: Any) -> Tensor:
    """A tensor of one value, of another's shape and type."""
    return _topi.full_like(x, fill_value)


@returns_old
def reshape(a: Tensor, newshape: Sequence[Any]) -> Tensor:
    """The elements in row-major order in another shape of as many."""
    return _topi.reshape(a, newshape)


@returns_old
def concatenate(a_tuple: Sequence[Tensor], axis: int = 0) -> Tensor:
    """Tensors one after the other along a dimension."""
    return _topi.concatenate(a_tuple, axis)


@returns_old
def split(ary: Tensor, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    """So many equal parts along a dimension, or parts that begin at given indices."""
    return _topi.split(ary, indices_or_sections, axis)


def _flat(a: Tensor) -> Tensor:
    if len(a.shape) == 1:
        return a
    whole: Any = 1
    for size in a.shape:
        whole = whole * size
    return _topi.reshape(a, (whole,))


def _dimension(a: Tensor, axis: int) -> int:
    rank = len(a.shape)
    if not -rank <= axis < rank:
        raise ShapeError(f"{a.name} has {rank} dimension(s), so there is no axis {axis}")
    return axis % rank
