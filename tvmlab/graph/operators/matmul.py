"""Matrix products of floats, and of small integers with zero points."""

from __future__ import annotations

import numpy as np

from tvmlab.graph.dims import Dim
from tvmlab.graph.types import TensorType
from tvmlab.support import INT32, ShapeError

from .elementwise import broadcast_shapes
from .registry import Array, Attr, Attrs, Call, need, operator, same_dtype


def _product_shape(a: tuple[Dim, ...], b: tuple[Dim, ...], transposed: bool) -> tuple[Dim, ...]:
    """NumPy's rule: vectors lose their dimension again, leading dimensions are stretched."""
    if not a or not b:
        raise ShapeError("a matrix product needs at least one dimension of each input")
    left: tuple[Dim, ...] = (1, *a) if len(a) == 1 else a
    right: tuple[Dim, ...] = b
    if len(b) == 1:
        right = (1, *b) if transposed else (*b, 1)
    inner, columns = (right[-1], right[-2]) if transposed else (right[-2], right[-1])
    if left[-1] != inner:
        raise ShapeError(f"the sum runs over {left[-1]} elements of the first input, but over "
                         f"{inner} of the second")  # fmt: skip
    lead = broadcast_shapes([left[:-2], right[:-2]])
    rows = () if len(a) == 1 else (left[-2],)
    return (*lead, *rows, *(() if len(b) == 1 else (columns,)))


def _matmul_type(call: Call) -> TensorType:
    need(call[0], "number")
    dtype = same_dtype(call.given)
    shape = _product_shape(call[0].shape, call[1].shape, call.attrs.flag("transpose_b"))
    return TensorType.of(dtype, shape)


def _matmul(attrs: Attrs, a: Array, b: Array) -> Array:
    if attrs.flag("transpose_b") and b.ndim > 1:
        b = np.swapaxes(b, -1, -2)
    narrow = a.dtype.itemsize == 2 and a.dtype.kind not in "iu"
    x, y = (v.astype(np.float32) if narrow else v for v in (a, b))
    return np.asarray(np.matmul(x, y)).astype(a.dtype)


def _integer_type(call: Call) -> TensorType:
    need(call[0], "int")
    need(call[1], "int")
    return TensorType.of(INT32, _product_shape(call[0].shape, call[1].shape, transposed=False))


def _integer(_: Attrs, a: Array, b: Array) -> Array:
    return np.asarray(np.matmul(a.astype(np.int32), b.astype(np.int32)))


operator("matmul", _matmul_type, _matmul, "complex", inputs=2, transpose_b=Attr("flag", False))
operator("matmul_integer", _integer_type, _integer, "complex", inputs=2)
