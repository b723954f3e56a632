"""Reductions of a tensor over some of its dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tvmlab.te as te
from tvmlab.ir import Expr, ExprLike, const
from tvmlab.support import ShapeError
from tvmlab.te import Axis, Tensor

from .tag import COMM_REDUCE

Axes = int | Sequence[int] | None


def reduce(
    a: Tensor, axis: Axes, keepdims: bool, function: Callable[..., Any], name: str
) -> Tensor:
    """A reduction over the dimensions `axis`; over all for None.

    Raises
    ------
    ShapeError
        If a dimension does not exist.
    """
    over = normalized(axis, len(a.shape))
    axes = {d: te.reduce_axis(a.shape[d], f"k{d}") for d in over}
    shape = _kept_shape(a, over, keepdims)

    def formula(*indices: Axis) -> ExprLike:
        places = _places(indices, axes, len(a.shape), keepdims)
        return function(a[places], axis=list(axes.values()))

    return te.compute(shape, formula, name=name, tag=COMM_REDUCE)


def normalized(axis: Axes, rank: int) -> list[int]:
    """Dimensions counted from the front, in order."""
    given = range(rank) if axis is None else [axis] if isinstance(axis, int) else axis
    found = sorted({d + rank if d < 0 else d for d in given})
    if any(not 0 <= d < rank for d in found):
        raise ShapeError(f"a tensor of {rank} dimension(s) has no dimension {axis}")
    return found


def _kept_shape(a: Tensor, over: Sequence[int], keepdims: bool) -> tuple[Expr, ...]:
    if keepdims:
        return tuple(const(1) if d in over else s for d, s in enumerate(a.shape))
    return tuple(s for d, s in enumerate(a.shape) if d not in over)


def _places(
    indices: tuple[Any, ...], axes: dict[int, Any], rank: int, keepdims: bool
) -> tuple[Any, ...]:
    outer = list(indices)
    if keepdims:
        return tuple(axes.get(d, outer[d]) for d in range(rank))
    return tuple(axes[d] if d in axes else outer.pop(0) for d in range(rank))


def sum(a: Tensor, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The sum over dimensions."""
    return reduce(a, axis, keepdims, te.sum, "sum")


def prod(a: Tensor, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The product over dimensions."""
    return reduce(a, axis, keepdims, te.prod, "prod")


def max(a: Tensor, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The largest element over dimensions."""
    return reduce(a, axis, keepdims, te.max, "max")


def min(a: Tensor, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The smallest element over dimensions."""
    return reduce(a, axis, keepdims, te.min, "min")
