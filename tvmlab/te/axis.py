"""Iteration axes of tensor expressions: the index variables of a compute, and reduction axes."""

from __future__ import annotations

from typing import Literal

from tvmlab.ir import Expr, ExprLike, Var, as_expr, const, const_int
from tvmlab.support import INDEX, ShapeError, TypeMismatch, node


@node
class Axis(Var):
    """An index variable with its range `min <= axis < min + extent`.

    `kind` is "spatial" for an index of the output and "reduce" for one that is summed away.
    """

    extent: Expr = const(1)
    kind: Literal["spatial", "reduce"] = "spatial"
    min: Expr = const(0)


def reduce_axis(dom: ExprLike | tuple[ExprLike, ExprLike], name: str = "rv") -> Axis:
    """A reduction axis over `range(dom)`, or over `min <= axis < end` for a pair.

    Parameters
    ----------
    dom
        The extent, or the pair (first value, end).
    name
        The name that the loop will carry.

    Raises
    ------
    ShapeError
        If the range is empty.
    """
    low, end = dom if isinstance(dom, tuple) else (0, dom)
    first = index_expr(low, f"the start of reduction axis {name}")
    extent = index_expr(end, f"the end of reduction axis {name}") - first
    size = const_int(extent)
    if size is not None and size <= 0:
        raise ShapeError(
            f"reduction axis {name} has no values: its extent is {size}",
            hint="give te.reduce_axis a positive extent, or a pair (start, end) with start < end",
        )
    return Axis(name, INDEX, extent, "reduce", first)


def index_expr(value: ExprLike, what: str) -> Expr:
    """A size or index as an expression of the index type; `what` names it in an error."""
    if isinstance(value, (bool, float)):
        raise TypeMismatch(f"{what} must be an integer, not {value!r}")
    try:
        expr = as_expr(value)
    except (TypeError, ValueError) as error:
        raise TypeMismatch(f"{what} must be an integer or expression, not {value!r}") from error
    if not expr.dtype.is_int:
        raise TypeMismatch(
            f"{what} must be an integer, not a value of type {expr.dtype}",
            hint='cast it first: x.astype("int64")',
        )
    return expr if expr.dtype == INDEX else expr.astype(INDEX)


def shape_of(
    shape: ExprLike | tuple[ExprLike, ...] | list[ExprLike], what: str
) -> tuple[Expr, ...]:
    """A shape given as one size or a sequence of sizes, checked to be positive."""
    sizes = shape if isinstance(shape, (tuple, list)) else (shape,)
    exprs = tuple(index_expr(s, f"a size of {what}") for s in sizes)
    for position, size in enumerate(exprs):
        value = const_int(size)
        if value is not None and value <= 0:
            raise ShapeError(
                f"{what} has size {value} in dimension {position}; sizes must be positive"
            )
    return exprs
