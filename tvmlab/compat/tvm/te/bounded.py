"""Reductions whose range depends on the element: over the longest range, with a condition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tvmlab.arith import Bounds, bound_of
from tvmlab.ir import Expr, Var, conjunction, const, free_vars, substitute
from tvmlab.support import INDEX, ShapeError
from tvmlab.te import Axis, Reduce


def bounded(value: Any, indices: Sequence[Axis]) -> Any:
    """A reduction over axes whose range names no index; other values as they are.

    `te.reduce_axis((0, i))` inside a compute over `i` becomes an axis over the largest range, of
    which only the points below `i` count.
    """
    if not isinstance(value, Reduce):
        return value
    known = set(indices)
    dependent = [a for a in value.axes if known & {*free_vars(a.extent), *free_vars(a.min)}]
    if not dependent:
        return value
    env = Bounds.of({axis: axis.extent for axis in indices})
    new = {axis: _longest(axis, env) for axis in dependent}
    inside = [new[axis] < axis.extent for axis in dependent]
    moved: dict[Var, Expr] = {axis: new[axis] + axis.min for axis in dependent}
    return replace(
        value,
        source=tuple(substitute(e, moved) for e in value.source),
        axes=tuple(new.get(axis, axis) for axis in value.axes),
        where=conjunction([substitute(value.where, moved), *inside]),
    )


def _longest(axis: Axis, env: Bounds) -> Axis:
    limit = bound_of(axis.extent, env).hi
    if limit is None:
        raise ShapeError(
            f"reduction axis {axis.name} has a range without a largest size",
            hint="reduce over a range of fixed size, with where= for the points that count",
        )
    return Axis(axis.name, INDEX, const(max(1, limit)), "reduce")
