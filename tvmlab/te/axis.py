"""Iteration axes of tensor expressions: the index variables of a compute, and reduction axes."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Literal, cast

from tvmlab.ir import Expr, ExprLike, Var, as_expr, const, const_int, is_const
from tvmlab.support import INDEX, OptionError, ShapeError, TypeMismatch, node, require_text, shown

_MOST_ELEMENTS = 1 << 48


@node
class Axis(Var):
    """An index variable with its range `min <= axis < min + extent`.

    `kind` is "spatial" for an index of the output and "reduce" for one that is summed away.
    """

    extent: Expr = const(1)
    kind: Literal["spatial", "reduce"] = "spatial"
    min: Expr = const(0)

    @property
    def var(self) -> Axis:
        """The axis as a value in formulas, which it is itself."""
        return self

    @property
    def dom(self) -> Range:
        """The values it takes."""
        return Range(self.min, self.extent)


@node
class Range:
    """The integers `min <= x < min + extent`."""

    min: Expr
    extent: Expr


@node
class ThreadAxis(Var):
    """An index of a device's threads, such as "threadIdx.x", that loops can be bound to.

    `extent` is None where it follows from the loops bound to it.
    """

    thread_tag: str = ""
    extent: Expr | None = None

    @property
    def var(self) -> ThreadAxis:
        """The axis as a value in formulas, which it is itself."""
        return self


def thread_axis(
    dom: ExprLike | tuple[ExprLike, ExprLike] | str | None = None,
    tag: str = "",
    name: str = "",
) -> ThreadAxis:
    """An index of threads, for `s[C].bind(axis, te.thread_axis("threadIdx.x"))`.

    Parameters
    ----------
    dom
        The number of threads, a pair (0, number), or None to have it follow from what is bound;
        the tag may stand in its place.
    tag
        Which index: "blockIdx.x" to "threadIdx.z", "vthread" for threads interleaved into one.
    name
        The name in printed programs; by default the tag.

    Raises
    ------
    OptionError
        If there is no tag.
    """
    if isinstance(dom, str):
        dom, tag = None, dom
    if not tag:
        raise OptionError(
            "a thread axis needs a tag that says which index of threads it is",
            hint='for example te.thread_axis("threadIdx.x")',
        )
    size = dom[1] if isinstance(dom, tuple) else dom
    extent = None if size is None else index_expr(size, f"the extent of thread axis {tag}")
    return ThreadAxis(name or tag, INDEX, tag, extent)


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
    require_text(name, "a name")
    low, end = _range(dom, name)
    first = index_expr(low, f"the start of reduction axis {name}")
    extent = index_expr(end, f"the end of reduction axis {name}")
    extent = extent if is_const(first, 0) else extent - first
    size = const_int(extent)
    if size is not None and size <= 0:
        raise ShapeError(
            f"reduction axis {name} has no values: its extent is {size}",
            hint="give te.reduce_axis a positive extent, or a pair (start, end) with start < end",
        )
    return Axis(name, INDEX, extent, "reduce", first)


def _range(dom: object, name: str) -> tuple[ExprLike, ExprLike]:
    """First value and end of an axis; users without a type checker may pass anything."""
    if not isinstance(dom, (tuple, list)):
        return 0, cast("ExprLike", dom)
    parts = cast("Sequence[ExprLike]", dom)
    if len(parts) != 2:
        raise ShapeError(
            f"the range of reduction axis {name} has {len(parts)} part(s)",
            hint="give te.reduce_axis an extent, or a pair (start, end)",
        )
    return parts[0], parts[1]


def index_expr(value: ExprLike, what: str) -> Expr:
    """A size or index as an expression of the index type; `what` names it in an error."""
    if isinstance(value, Axis) and what.startswith("a size"):
        raise TypeMismatch(
            f"{what} is the {'reduction ' if value.kind == 'reduce' else ''}axis {value.name}",
            hint="give the number of its values",
        )
    if isinstance(value, (bool, float)):
        raise TypeMismatch(f"{what} must be an integer, not {shown(value)}")
    try:
        expr = as_expr(value)
    except (TypeError, ValueError, TypeMismatch) as error:
        raise TypeMismatch(
            f"{what} must be an integer or expression, not {shown(value)}"
        ) from error
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
    require_text(what, "a name")
    sizes = shape if isinstance(shape, (tuple, list)) else (shape,)
    exprs = tuple(index_expr(s, f"a size of {what}") for s in sizes)
    for position, size in enumerate(exprs):
        value = const_int(size)
        if value is not None and value <= 0:
            raise ShapeError(
                f"{what} has size {value} in dimension {position}; sizes must be positive",
                hint="a size that may be 0 when the kernel is called is a te.var",
            )
    count = prod([const_int(size) or 1 for size in exprs])
    if count > _MOST_ELEMENTS:
        raise ShapeError(
            f"{what} has {count} elements, more than any memory holds",
            hint="offsets are computed in 64 bits; at most 2**48 elements are allowed",
        )
    return exprs
