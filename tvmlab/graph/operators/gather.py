"""Elements picked and placed by indices, which may count from the end."""

from __future__ import annotations

from typing import Any

import numpy as np

from tvmlab.graph.types import TensorType
from tvmlab.support import INT64, OptionError, ShapeError

from .registry import Array, Attr, Attrs, Call, axis_of, need, operator, same_dtype


def _gather_type(call: Call) -> TensorType:
    need(call[1], "int")
    axis = axis_of(call.attrs.int("axis"), call[0].rank)
    shape = call[0].shape
    return call[0].with_shape([*shape[:axis], *call[1].shape, *shape[axis + 1 :]])


def _gather(attrs: Attrs, x: Array, indices: Array) -> Array:
    axis = axis_of(attrs.int("axis"), x.ndim)
    return np.take(x, indices.astype(np.int64), axis)


operator("gather", _gather_type, _gather, inputs=2, axis=Attr("int", 0))


def _elements_type(call: Call) -> TensorType:
    need(call[1], "int")
    axis_of(call.attrs.int("axis"), call[0].rank)
    if call[1].rank != call[0].rank:
        raise ShapeError(f"indices {call[1]} must have as many dimensions as {call[0]}")
    return call[0].with_shape(call[1].shape)


def _positive(indices: Array, size: int) -> Array:
    return np.where(indices < 0, indices + size, indices)


def _grid(indices: Array, axis: int, size: int) -> tuple[Any, ...]:
    """Indices of each place: its own, but along the axis what `indices` says."""
    grid: list[Any] = list(np.indices(indices.shape))
    grid[axis] = _positive(indices.astype(np.int64), size)
    return tuple(grid)


def _gather_elements(attrs: Attrs, x: Array, indices: Array) -> Array:
    axis = axis_of(attrs.int("axis"), x.ndim)
    return x[_grid(indices, axis, x.shape[axis])]


operator("gather_elements", _elements_type, _gather_elements, inputs=2, axis=Attr("int", 0))


def _nd_type(call: Call) -> TensorType:
    need(call[1], "int")
    batch, last = call.attrs.int("batch_dims"), call[1].shape[-1] if call[1].rank else None
    if not isinstance(last, int) or not 0 < last <= call[0].rank - batch:
        raise ShapeError(f"indices {call[1]} must end in a dimension of 1 to "
                         f"{call[0].rank - batch} indices")  # fmt: skip
    if call[0].shape[:batch] != call[1].shape[:batch]:
        raise ShapeError(f"the first {batch} dimension(s) of data and indices must be equal")
    return call[0].with_shape([*call[1].shape[:-1], *call[0].shape[batch + last :]])


def _gather_nd(attrs: Attrs, x: Array, indices: Array) -> Array:
    batch = attrs.int("batch_dims")
    lead = tuple(indices.shape[:batch])
    flat_x = x.reshape(-1, *x.shape[batch:])
    flat = indices.reshape(-1, *indices.shape[batch:])
    parts = [a[tuple(np.moveaxis(i, -1, 0))] for a, i in zip(flat_x, flat, strict=True)]
    rest = indices.shape[batch:-1] + x.shape[batch + indices.shape[-1] :]
    return np.asarray(parts, x.dtype).reshape(lead + rest)


operator("gather_nd", _nd_type, _gather_nd, inputs=2, batch_dims=Attr("int", 0))

REDUCTIONS = ("none", "add", "mul", "max", "min")
_APPLY = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def _scatter(x: Array, place: tuple[Any, ...], updates: Array, reduction: str) -> Array:
    made = x.copy()
    if reduction == "none":
        made[place] = updates
    else:
        _APPLY[reduction].at(made, place, updates)
    return made


def _scatter_elements_type(call: Call) -> TensorType:
    need(call[1], "int")
    same_dtype([call[0], call[2]])
    axis_of(call.attrs.int("axis"), call[0].rank)
    if call[1].shape != call[2].shape or call[1].rank != call[0].rank:
        raise ShapeError(f"indices {call[1]} and updates {call[2]} must have one shape, of as many "
                         f"dimensions as {call[0]}")  # fmt: skip
    return call[0]


def _scatter_elements(attrs: Attrs, x: Array, indices: Array, updates: Array) -> Array:
    axis = axis_of(attrs.int("axis"), x.ndim)
    place = _grid(indices, axis, x.shape[axis])
    return _scatter(x, place, updates, attrs.text("reduction"))


operator("scatter_elements", _scatter_elements_type, _scatter_elements, "opaque", inputs=3,
         axis=Attr("int", 0), reduction=Attr("text", "none", REDUCTIONS))  # fmt: skip


def _scatter_nd_type(call: Call) -> TensorType:
    need(call[1], "int")
    same_dtype([call[0], call[2]])
    last = call[1].shape[-1] if call[1].rank else None
    if not isinstance(last, int) or not 0 < last <= call[0].rank:
        raise ShapeError(f"indices {call[1]} must end in a dimension of 1 to {call[0].rank}")
    wanted = (*call[1].shape[:-1], *call[0].shape[last:])
    if call[2].shape != wanted:
        raise ShapeError(f"updates are {call[2]}, but {list(wanted)} is needed")
    return call[0]


def _scatter_nd(attrs: Attrs, x: Array, indices: Array, updates: Array) -> Array:
    sizes = x.shape[: indices.shape[-1]]
    place = tuple(_positive(i, s) for i, s in zip(np.moveaxis(indices, -1, 0), sizes, strict=True))
    return _scatter(x, place, updates, attrs.text("reduction"))


operator("scatter_nd", _scatter_nd_type, _scatter_nd, "opaque", inputs=3,
         reduction=Attr("text", "none", REDUCTIONS))  # fmt: skip


def _one_hot_type(call: Call) -> TensorType:
    need(call[0], "number")
    axis, depth = call.attrs.int("axis"), call.attrs.int("depth")
    at = axis_of(axis, call[0].rank + 1)
    if depth < 1:
        raise OptionError(f"depth is {depth}")
    if call[1].shape != (2,):
        raise ShapeError(f"the values for off and on are {call[1]}, not two numbers")
    return call[1].with_shape([*call[0].shape[:at], depth, *call[0].shape[at:]])


def _one_hot(attrs: Attrs, indices: Array, values: Array) -> Array:
    depth, rank = attrs.int("depth"), indices.ndim + 1
    at = axis_of(attrs.int("axis"), rank)
    wanted = np.expand_dims(_positive(indices, depth), at)
    shape = tuple(-1 if d == at else 1 for d in range(rank))
    places: Any = np.arange(depth, dtype=np.int64).reshape(shape)
    return np.asarray(np.where(np.equal(wanted, places), values[1], values[0]), values.dtype)


operator("one_hot", _one_hot_type, _one_hot, inputs=2, axis=Attr("int", -1), depth=Attr("int"))


def _top_k_type(call: Call) -> list[TensorType]:
    need(call[0], "number")
    axis, k = axis_of(call.attrs.int("axis"), call[0].rank), call.attrs.int("k")
    size = call[0].shape[axis]
    if k < 0 or (isinstance(size, int) and k > size):
        raise OptionError(f"k is {k}, but there are {size} elements")
    made = call[0].with_shape(k if d == axis else s for d, s in enumerate(call[0].shape))
    return [made, made.with_dtype(INT64)]


def _top_k(attrs: Attrs, x: Array) -> tuple[Array, Array]:
    """Equal elements are taken in order of their indices."""
    axis, k = axis_of(attrs.int("axis"), x.ndim), attrs.int("k")
    if not attrs.flag("largest"):
        order = np.argsort(x, axis, kind="stable")
    else:
        back = np.argsort(np.flip(x, axis), axis, kind="stable")
        order = np.flip(x.shape[axis] - 1 - back, axis)
    places = np.take(order, range(k), axis)
    return np.take_along_axis(x, places, axis), places.astype(np.int64)


operator("top_k", _top_k_type, _top_k, "opaque", outputs=2, axis=Attr("int", -1), k=Attr("int"),
         largest=Attr("flag", True))  # fmt: skip
