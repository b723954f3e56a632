"""The same elements in another arrangement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tvmlab.te as te
from tvmlab.ir import Expr, ExprLike, as_expr, const
from tvmlab.support import ShapeError
from tvmlab.te import Axis, Tensor

from .tag import BROADCAST, INJECTIVE


def transpose(a: Tensor, axes: Sequence[int] | None = None) -> Tensor:
    """The dimensions in another order; reversed by default."""
    rank = len(a.shape)
    order = list(axes) if axes is not None else list(range(rank))[::-1]
    if sorted(order) != list(range(rank)):
        raise ShapeError(f"{order} is no order of {rank} dimensions")

    def formula(*indices: Axis) -> Expr:
        return a[tuple(indices[order.index(d)] for d in range(rank))]

    shape = tuple(a.shape[d] for d in order)
    return te.compute(shape, formula, name="transpose", tag=INJECTIVE)


def reshape(a: Tensor, shape: Sequence[ExprLike]) -> Tensor:
    """The elements in row-major order in another shape of as many."""
    target = [as_expr(s) for s in shape]

    def value(*indices: Any) -> Expr:
        flat: Expr = const(0)
        for index, size in zip(indices, target, strict=True):
            flat = flat * size + index
        places: list[Expr] = []
        for size in reversed(a.shape):
            places.insert(0, flat % size)
            flat = flat // size
        return a[tuple(places)]

    return te.compute(tuple(target), value, name="reshape", tag=INJECTIVE)


def flatten(a: Tensor) -> Tensor:
    """All dimensions but the first in one."""
    size: Expr = const(1)
    for s in a.shape[1:]:
        size = size * s
    return reshape(a, (a.shape[0], size))


def expand_dims(a: Tensor, axis: int, num_newaxis: int = 1) -> Tensor:
    """New dimensions of size 1 at a place."""
    at = axis + len(a.shape) + 1 if axis < 0 else axis
    shape = (*a.shape[:at], *(const(1) for _ in range(num_newaxis)), *a.shape[at:])

    def formula(*indices: Axis) -> Expr:
        return a[(*indices[:at], *indices[at + num_newaxis :])]

    return te.compute(shape, formula, name="expand_dims", tag=BROADCAST)


def pad(
    a: Tensor,
    before: Sequence[int],
    after: Sequence[int] | None = None,
    value: Expr | float = 0.0,
    name: str = "pad",
) -> Tensor:
    """A tensor with a margin of one value around."""
    behind = list(before) if after is None else list(after)
    fill = value if isinstance(value, Expr) else const(value, a.dtype)
    shape = tuple(s + (b + e) for s, b, e in zip(a.shape, before, behind, strict=True))

    def element(*indices: Any) -> Expr:
        inside: list[Expr] = []
        places: list[Expr] = []
        for index, size, first, last in zip(indices, a.shape, before, behind, strict=True):
            if first:
                inside.append(index >= first)
            if first or last:
                inside.append(index < size + first)
            places.append(index - first if first else index)
        read = a[tuple(places)]
        return te.if_then_else(te.all(*inside), read, fill) if inside else read

    return te.compute(shape, element, name=name, tag=f"{INJECTIVE},pad")
