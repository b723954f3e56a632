"""Reductions: sum, product, minimum, maximum, any, all over reduction axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field

from tvmlab.ir import TRUE, Expr, ExprLike, as_expr, binary, const, logic
from tvmlab.support import DType, TypeMismatch, node, set_derived

from .axis import Axis


@node
class Reducer:
    """An associative, commutative way to combine two values, with its neutral element."""

    name: str
    combine: Callable[[Expr, Expr], Expr]
    identity: Callable[[DType], Expr]


@node
class Reduce(Expr):
    """A reduction of `value` over `axes`, for the points where `where` holds.

    Only allowed as the whole formula of a compute; never part of a program.
    """

    reducer: Reducer
    value: Expr
    axes: tuple[Axis, ...]
    where: Expr = TRUE
    dtype: DType = field(init=False)

    def __post_init__(self) -> None:
        set_derived(self, "dtype", self.value.dtype)


SUM = Reducer("sum", lambda x, y: x + y, lambda t: const(0, t))
PROD = Reducer("prod", lambda x, y: x * y, lambda t: const(1, t))
MIN = Reducer("min", lambda x, y: binary("min", x, y), lambda t: const(_largest(t), t))
MAX = Reducer("max", lambda x, y: binary("max", x, y), lambda t: const(_smallest(t), t))
ANY = Reducer("any", lambda x, y: logic("or", x, y), lambda t: const(False, t))
ALL = Reducer("all", lambda x, y: logic("and", x, y), lambda t: const(True, t))


def reduce_with(
    reducer: Reducer, value: ExprLike, axis: Axis | Sequence[Axis], where: Expr | None = None
) -> Expr:
    """Reduce `value` over the given axes.

    Raises
    ------
    TypeMismatch
        If an axis is not a reduction axis, is named twice, or the value has an unfit type.
    """
    axes = tuple(axis) if isinstance(axis, Sequence) else (axis,)
    for a in axes:
        # Users without a type checker may pass anything: a name, a variable, a number.
        if not isinstance(a, Axis) or a.kind != "reduce":  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeMismatch(
                f"te.{reducer.name} reduces over reduction axes, not over {getattr(a, 'name', a)}",
                hint='make one with k = te.reduce_axis(extent, "k")',
            )
    if not axes or len(set(axes)) != len(axes):
        raise TypeMismatch(f"te.{reducer.name} needs one or more different axes")
    expr = as_expr(value)
    if (reducer in (ANY, ALL)) != expr.dtype.is_bool:
        raise TypeMismatch(
            f"te.{reducer.name} does not reduce values of type {expr.dtype}",
            hint='te.any and te.all take conditions; cast a condition with .astype("int32") to sum',
        )
    return Reduce(reducer, expr, axes, TRUE if where is None else as_expr(where))


def _largest(dtype: DType) -> float | int:
    return float("inf") if dtype.is_float else dtype.max_value


def _smallest(dtype: DType) -> float | int:
    return float("-inf") if dtype.is_float else dtype.min_value
