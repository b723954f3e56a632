"""Reductions: sum, product, minimum, maximum, any, all, and the user's own, over reduction axes.

>>> first = comm_reducer(
...     lambda x, y: (if_then_else(x[1] >= y[1], x[0], y[0]), maximum(x[1], y[1])),
...     lambda index, value: (const(-1, index), min_value(value)),
...     name="argmax",
... )
>>> index, top = compute((8,), lambda i: first((k, A[i, k]), axis=k), name="top")
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import Any, TypeAlias, Union, cast

from tvmlab.arith import law_of
from tvmlab.ir import (
    TRUE,
    Combiner,
    Expr,
    ExprLike,
    Select,
    Var,
    as_expr,
    binary,
    const,
    eq,
    logic,
    substitute,
)
from tvmlab.support import BOOL, INDEX, DType, TypeMismatch, node, set_derived, shown

from .axis import Axis

Values: TypeAlias = tuple[Expr, ...]
Axes: TypeAlias = Union[Axis, Sequence[Axis]]
Identity: TypeAlias = Union[
    Callable[[str], Any], Callable[[str, str], Any], Callable[[str, str, str], Any]
]
"""From the element type of each state, by name, to the neutral element."""
Several: TypeAlias = Union[tuple[ExprLike, ...], list[ExprLike]]


@node
class Reducer:
    """A way to combine two partial results, each of one or more values, with its neutral element.

    Called with values and an axis it makes a reduction; called with several single values it
    combines them, so that `te.max(a, b)` is the larger of two.
    """

    name: str
    combine: Callable[[Values, Values], Values]
    identity: Callable[[tuple[DType, ...]], Values]
    assume_lawful: bool = False
    simple: bool = False
    """Whether the operation is a built-in one on each value alone, recognized from its form."""
    each: tuple[Reducer, ...] = ()
    """The reducers of the values, if they were joined from several."""

    def __call__(
        self,
        value: ExprLike | Several,
        *more: Any,
        axis: Axes | None = None,
        where: Expr | None = None,
        init: ExprLike | Several | None = None,
    ) -> Any:
        """A reduction of `value` over `axis`; one per value if several are given as a tuple.

        After the value may come axis, condition and start by position, or further values.
        """
        if axis is None and more and _is_axes(more[0], value):
            given: tuple[Any, ...] = (*more, *(None, where, init)[len(more) :])
            return reduce_with(self, value, *given)
        if axis is not None and not more:
            return reduce_with(self, value, axis, where, init)
        singles: list[Any] = [value, *more]
        if len(singles) == 1 or axis is not None:
            raise TypeMismatch(
                f"te.{self.name} needs the axes that it runs over",
                hint=f"write te.{self.name}(value, axis=k) with k = te.reduce_axis(extent)",
            )
        result = as_expr(singles[0])
        for single in singles[1:]:
            (result,) = self.combine((result,), (as_expr(single, result.dtype),))
        return result

    def combiner(self, dtypes: Sequence[DType]) -> Combiner:
        """The operation on values of the given types, with the verdict on its laws."""
        left = tuple(Var(f"lhs{n}", t) for n, t in enumerate(dtypes))
        right = tuple(Var(f"rhs{n}", t) for n, t in enumerate(dtypes))
        results = self.combine(left, right)
        made = Combiner(left, right, results, self.identity(tuple(dtypes)))
        if self.assume_lawful or law_of(made).holds:
            return made
        return replace(made, lawful=False)


@node
class Reduce(Expr):
    """One value of a reduction of `source` over `axes`, for the points where `where` holds.

    A reduction of several values is one such node for each, alike but for `value_index`. Only
    allowed as the whole formula of a compute; never part of a program. `init`, if not empty, is
    what the result starts from instead of the neutral element.
    """

    reducer: Reducer
    source: tuple[Expr, ...]
    axes: tuple[Axis, ...]
    where: Expr = TRUE
    value_index: int = 0
    init: tuple[Expr, ...] = ()
    dtype: DType = field(init=False)

    def __post_init__(self) -> None:
        set_derived(self, "dtype", self.source[self.value_index].dtype)

    def __repr__(self) -> str:
        axes = ", ".join(axis.name for axis in self.axes)
        parts = ", ".join(map(repr, self.source))
        return f"{self.reducer.name}({parts}, axis=[{axes}])"

    @property
    def value(self) -> Expr:
        """What this value of the reduction combines."""
        return self.source[self.value_index]

    @property
    def axis(self) -> tuple[Axis, ...]:
        """The axes that it runs over."""
        return self.axes

    @property
    def condition(self) -> Expr:
        """The condition of the points that count."""
        return self.where

    @property
    def parts(self) -> tuple[Expr, ...]:
        """The formulas that it is made of."""
        return (*self.source, self.where, *self.init)

    @property
    def combiner(self) -> Combiner:
        """The operation on values of these types."""
        return self.reducer.combiner([e.dtype for e in self.source])


def comm_reducer(
    fcombine: Callable[[Any, Any], Any],
    fidentity: Identity,
    name: str = "reduce",
    *,
    assume_lawful: bool = False,
) -> Reducer:
    """A reduction by an operation of your own.

    Whether the operation is associative and commutative is found out by proof for known forms and
    by a search for counterexamples for others. If it is not, the reduction still runs in the order
    of its axes, but steps that reorder iterations or join partial results are refused, with the
    counterexample. An arg-max that keeps the first of equal values depends on the order too; let
    the smaller index win, as `te.argmax` does, and it does not.

    Parameters
    ----------
    fcombine
        Takes the result so far and the next value and returns the new result: expressions, or
        tuples of as many expressions as there are states.
    fidentity
        Takes the element type of each state, as a name, and returns the neutral element.
    name
        The name shown in messages.
    assume_lawful
        Take your word that the operation is associative and commutative, without a search; say it
        too if the order matters only in ways that you do not mind, such as which of equal values
        an arg-max finds.
    """

    def combine(left: Values, right: Values) -> Values:
        single = len(left) == 1
        result = fcombine(left[0] if single else left, right[0] if single else right)
        return _values(result, left, f"the combining function of {name}")

    def identity(dtypes: tuple[DType, ...]) -> Values:
        like = tuple(Var("v", t) for t in dtypes)
        result = cast("Callable[..., Any]", fidentity)(*(t.name for t in dtypes))
        return _values(result, like, f"the identity function of {name}")

    return Reducer(name, combine, identity, assume_lawful)


def reduce_with(
    reducer: Reducer,
    value: ExprLike | Several,
    axis: Axes,
    where: Expr | None = None,
    init: ExprLike | Several | None = None,
) -> Any:
    """Reduce over the given axes: one `Reduce`, or a tuple of them for a tuple of values.

    Raises
    ------
    TypeMismatch
        If an axis is not a reduction axis, is named twice, or the value has an unfit type.
    """
    axes = _axes(reducer, axis)
    given = value if isinstance(value, (tuple, list)) else (value,)
    source = tuple(as_expr(v) for v in given)
    for expr in source:
        if reducer.simple and (reducer.name in ("any", "all")) != expr.dtype.is_bool:
            raise TypeMismatch(
                f"te.{reducer.name} does not reduce values of type {expr.dtype}",
                hint="te.any and te.all take conditions; cast a condition with "
                '.astype("int32") to sum',
            )
    start = () if init is None else _values(init, source, f"the start of {reducer.name}")
    condition = TRUE if where is None else as_expr(where)
    if not condition.dtype.is_bool:
        raise TypeMismatch(f"`where` of te.{reducer.name} must be a condition")
    reducer.combine(source, source)  # tells of unfit types here, in the user's line
    made = tuple(Reduce(reducer, source, axes, condition, n, start) for n in range(len(source)))
    return made if isinstance(value, (tuple, list)) else made[0]


def joined(reductions: Sequence[Reduce]) -> tuple[Reduce, ...]:
    """Reductions over the same axes and points as the values of a single one, each in its place."""
    first = reductions[0]
    if all(r.source is first.source and r.value_index == n for n, r in enumerate(reductions)):
        return tuple(reductions)
    reducers = [r.reducer for r in reductions]

    def combine(left: Values, right: Values) -> Values:
        parts = zip(reducers, left, right, strict=True)
        return tuple(reducer.combine((x,), (y,))[0] for reducer, x, y in parts)

    def identity(dtypes: tuple[DType, ...]) -> Values:
        return tuple(r.identity((t,))[0] for r, t in zip(reducers, dtypes, strict=True))

    simple = all(r.simple for r in reducers)
    name = "_".join(dict.fromkeys(r.name for r in reducers))
    lawful = all(r.assume_lawful for r in reducers)
    both = Reducer(name, combine, identity, lawful, simple, tuple(reducers))
    source = tuple(r.value for r in reductions)
    starts = tuple(r.init[0] if r.init else r.reducer.identity((r.dtype,))[0] for r in reductions)
    init = starts if any(r.init for r in reductions) else ()
    return tuple(Reduce(both, source, first.axes, first.where, n, init) for n in range(len(source)))


def combined(combiner: Combiner, left: Values, right: Values) -> Values:
    """What a combiner makes of two partial results."""
    values = dict(zip((*combiner.left, *combiner.right), (*left, *right), strict=True))
    return tuple(substitute(result, values) for result in combiner.results)


def _is_axes(axis: object, value: object) -> bool:
    """Whether what follows a value is the axes to reduce over, and not a further value."""
    if isinstance(axis, Axis):
        # Indices are values too: of two spatial ones the larger may be wanted.
        return axis.kind == "reduce" or not (isinstance(value, Expr) and value.dtype == INDEX)
    return isinstance(axis, (tuple, list))


def _axes(reducer: Reducer, axis: object) -> tuple[Axis, ...]:
    axes = cast("Sequence[object]", axis if isinstance(axis, (tuple, list)) else (axis,))
    found: list[Axis] = []
    for a in axes:
        if not isinstance(a, Axis) or a.kind != "reduce":
            raise TypeMismatch(
                f"te.{reducer.name} reduces over reduction axes, not over {_name_of(a)}",
                hint='make one with k = te.reduce_axis(extent, "k")',
            )
        found.append(a)
    if not found or len(set(found)) != len(found):
        raise TypeMismatch(f"te.{reducer.name} needs one or more different axes")
    return tuple(found)


def _values(result: object, like: Sequence[Expr], what: str) -> Values:
    """What a user gave for each state, as expressions of the states' types."""
    given = cast("Sequence[Any]", result if isinstance(result, (tuple, list)) else (result,))
    if len(given) != len(like):
        raise TypeMismatch(f"{what} gives {len(given)} value(s) for {len(like)} state(s)")
    values = tuple(as_expr(v, e.dtype) for v, e in zip(given, like, strict=True))
    for value, e in zip(values, like, strict=True):
        if value.dtype != e.dtype:
            raise TypeMismatch(
                f"{what} gives a value of type {value.dtype} for a state of type {e.dtype}",
                hint=f'cast it: .astype("{e.dtype}")',
            )
    return values


def _each(
    name: str, combine: Callable[[Expr, Expr], Expr], identity: Callable[[DType], Expr]
) -> Reducer:
    """A built-in reducer, which combines each of several values on its own."""
    return Reducer(
        name,
        lambda left, right: tuple(combine(x, y) for x, y in zip(left, right, strict=True)),
        lambda dtypes: tuple(identity(t) for t in dtypes),
        simple=True,
    )


def _arg(
    name: str, better: Callable[[Expr, Expr], Expr], worst: Callable[[DType], Expr]
) -> Reducer:
    """Index and value of the best element; the smaller index of equal ones, whatever the order."""

    def combine(left: Values, right: Values) -> Values:
        tie = logic("and", eq(left[1], right[1]), left[0] <= right[0])
        keep = logic("or", better(left[1], right[1]), tie)
        return tuple(Select(keep, x, y) for x, y in zip(left, right, strict=True))

    def identity(dtypes: tuple[DType, ...]) -> Values:
        return const(dtypes[0].max_value, dtypes[0]), worst(dtypes[1])

    return Reducer(name, combine, identity)


def _largest(dtype: DType) -> Expr:
    return const(float("inf") if dtype.is_float else dtype.max_value, dtype)


def _smallest(dtype: DType) -> Expr:
    return const(float("-inf") if dtype.is_float else dtype.min_value, dtype)


SUM = _each("sum", lambda x, y: x + y, lambda t: const(0, t))
PROD = _each("prod", lambda x, y: x * y, lambda t: const(1, t))
MIN = _each("min", lambda x, y: binary("min", x, y), _largest)
MAX = _each("max", lambda x, y: binary("max", x, y), _smallest)
ANY = _each("any", lambda x, y: logic("or", x, y), lambda _: const(False, BOOL))
ALL = _each("all", lambda x, y: logic("and", x, y), lambda _: const(True, BOOL))
ARGMAX = _arg("argmax", lambda x, y: x > y, _smallest)
ARGMIN = _arg("argmin", lambda x, y: x < y, _largest)


def _name_of(thing: object) -> str:
    name = getattr(thing, "name", None)
    return name if isinstance(name, str) else shown(thing)
