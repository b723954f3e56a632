"""Reductions by name: sum, product, minimum, maximum, any, all, arg-max, arg-min.

Each takes its value first, then `axis`, `where` and `init`. A tuple of values is reduced together,
in one loop, and gives a tuple. Called with several single values instead of an axis they combine
those: `te.max(a, b)` is the larger one. The names shadow Python's on purpose inside this file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, overload

from tvmlab.ir import Expr, ExprLike, conjunction, const, logic
from tvmlab.support import TypeMismatch

from .reduction import ALL, ANY, ARGMAX, ARGMIN, MAX, MIN, PROD, SUM, Axes, Several, reduce_with


class Fold(Protocol):
    """A reduction by name: of one value, or of several together."""

    @overload
    def __call__(
        self,
        value: ExprLike,
        *more: Any,
        axis: Axes | None = None,
        where: Expr | None = None,
        init: ExprLike | None = None,
    ) -> Expr: ...
    @overload
    def __call__(
        self,
        value: Several,
        *more: Any,
        axis: Axes | None = None,
        where: Expr | None = None,
        init: Several | None = None,
    ) -> tuple[Expr, ...]: ...


def _fold(function: Callable[..., Any]) -> Fold:
    """Give a function the types of a `Fold`."""
    return function


@_fold
def sum(value: Any, *more: Any, axis: Any = None, where: Any = None, init: Any = None) -> Any:
    """Sum over reduction axes, of the points where `where` holds, starting from `init`."""
    return SUM(value, *more, axis=axis, where=where, init=init)


@_fold
def prod(value: Any, *more: Any, axis: Any = None, where: Any = None, init: Any = None) -> Any:
    """Product over reduction axes."""
    return PROD(value, *more, axis=axis, where=where, init=init)


@_fold
def min(value: Any, *more: Any, axis: Any = None, where: Any = None, init: Any = None) -> Any:
    """Smallest value over reduction axes, or of several values."""
    return MIN(value, *more, axis=axis, where=where, init=init)


@_fold
def max(value: Any, *more: Any, axis: Any = None, where: Any = None, init: Any = None) -> Any:
    """Largest value over reduction axes, or of several values."""
    return MAX(value, *more, axis=axis, where=where, init=init)


def argmax(
    value: tuple[ExprLike, ExprLike], *, axis: Axes, where: Expr | None = None
) -> tuple[Expr, Expr]:
    """Index and value of the largest of `(index, value)` over reduction axes.

    Of equal values the smaller index wins, as in NumPy, whatever the order of the iterations. Where
    no point counts the index is the largest one of its type.

    >>> index, top = te.compute((n,), lambda i: te.argmax((k, A[i, k]), axis=k), name="top")
    """
    return reduce_with(ARGMAX, _pair(value, "argmax"), axis, where)


def argmin(
    value: tuple[ExprLike, ExprLike], *, axis: Axes, where: Expr | None = None
) -> tuple[Expr, Expr]:
    """Index and value of the smallest of `(index, value)` over reduction axes; see `argmax`."""
    return reduce_with(ARGMIN, _pair(value, "argmin"), axis, where)


def any(*conditions: Expr, axis: Axes | None = None) -> Expr:
    """Whether one of the conditions holds; with `axis`, whether one holds along the axes."""
    if axis is not None:
        return reduce_with(ANY, _only(conditions, "any"), axis)
    result: Expr = const(False)
    for condition in conditions:
        result = logic("or", result, condition)
    return result


def all(*conditions: Expr, axis: Axes | None = None) -> Expr:
    """Whether each of the conditions holds; with `axis`, whether all hold along the axes."""
    if axis is not None:
        return reduce_with(ALL, _only(conditions, "all"), axis)
    return conjunction(conditions)


def _only(conditions: tuple[Expr, ...], name: str) -> Expr:
    if len(conditions) != 1:
        raise TypeMismatch(f"te.{name} over an axis takes one condition, not {len(conditions)}")
    return conditions[0]


def _pair(value: object, name: str) -> tuple[ExprLike, ExprLike]:
    if isinstance(value, (tuple, list)) and len(value) == 2:  # pyright: ignore[reportUnknownArgumentType] - only counted
        return tuple(value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    raise TypeMismatch(
        f"te.{name} reduces pairs of an index and a value",
        hint=f"write te.{name}((k, A[i, k]), axis=k)",
    )
