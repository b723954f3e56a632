"""The one place that talks to the integer set library (isl, through the package `islpy`).

It is imported when the first question comes: ordinary tensor programs are decided by structural
rules, and `import tvmlab` stays quick. Each question may take a bounded number of isl's
operations, so that none hangs; beyond it the answer is `BeyondBudgetError`.
"""

from __future__ import annotations

import functools
from collections.abc import Generator, Hashable, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from .linear_system import Constraint, trivially_false, variables_of
from .presolve import presolve

OPERATIONS = 400_000
"""Operations of isl for one question: about a tenth of a second."""


class BeyondBudgetError(Exception):
    """A question took more operations than it may."""


@functools.cache
def _library() -> tuple[Any, Any]:
    """The package and a context of our own, whose budget nobody else shares."""
    import islpy

    return islpy, islpy.Context()


def has_solution(constraints: Sequence[Constraint], variables: Sequence[Hashable]) -> bool:
    """Whether constraints have a solution over whole numbers.

    Raises
    ------
    BeyondBudgetError
        If that takes too long to find out.
    """
    small = presolve(constraints, variables)
    if small is None or any(trivially_false(c) for c in small.constraints):
        return False
    if not small.constraints:
        return True
    with _budget() as (isl, context):
        return not _basic_set(isl, context, small.constraints, small.variables).is_empty()


def smallest_solution(
    constraints: Sequence[Constraint], variables: Sequence[Hashable]
) -> dict[Hashable, int] | None:
    """The lexicographically smallest solution over whole numbers, None if there is none.

    Parameters
    ----------
    variables
        All variables of the constraints; the first one is made smallest first.

    Raises
    ------
    BeyondBudgetError
        If that takes too long to find out.
    """
    small = presolve(constraints, variables)
    if small is None or any(trivially_false(c) for c in small.constraints):
        return None
    if not small.variables:
        return small.whole({})
    with _budget() as (isl, context):
        found = _basic_set(isl, context, small.constraints, small.variables)
        if found.is_empty():
            return None
        point = _smallest_point(isl, found)
        if point.is_void():
            return None
        places = range(len(small.variables))
        numbers = [point.get_coordinate_val(isl.dim_type.set, n).to_python() for n in places]
    return small.whole(dict(zip(small.variables, numbers, strict=True)))


def point_outside(
    wanted: Sequence[Sequence[Constraint]],
    others: Sequence[Sequence[Constraint]],
    kept: Sequence[Hashable],
) -> dict[Hashable, int] | None:
    """A point that one of several systems has and none of the others; None if there is none.

    Parameters
    ----------
    kept
        The variables that make a point. A system has a point if values for its remaining
        variables exist with which it holds.

    Raises
    ------
    BeyondBudgetError
        If that takes too long to find out.
    """
    with _budget() as (isl, context):
        rest = _union(isl, context, wanted, kept)
        rest = rest.subtract(_union(isl, context, others, kept))
        if rest.is_empty():
            return None
        point = _smallest_point(isl, rest)
        if point.is_void():
            return None
        places = range(len(kept))
        numbers = [point.get_coordinate_val(isl.dim_type.set, n).to_python() for n in places]
    return dict(zip(kept, numbers, strict=True))


def _union(
    isl: Any,
    context: Any,
    systems: Sequence[Sequence[Constraint]],
    kept: Sequence[Hashable],
) -> Any:
    """The points of any of several systems, over some of their variables."""
    result = isl.Set.empty(isl.Space.set_alloc(context, 0, len(kept)))
    for system in systems:
        if any(trivially_false(c) for c in system):
            continue
        variables = list(dict.fromkeys([*kept, *variables_of(system)]))
        whole = _basic_set(isl, context, system, variables)
        own = len(variables) - len(kept)
        shadow = isl.Set.from_basic_set(whole).project_out(isl.dim_type.set, len(kept), own)
        result = result.union(shadow)
    return result


@contextmanager
def _budget() -> Generator[tuple[Any, Any]]:
    """The package and its context, for one question."""
    isl, context = _library()
    context.reset_operations()
    context.set_max_operations(OPERATIONS)
    try:
        yield isl, context
    except isl.Error as error:
        if "maximal number of operations" not in str(error):
            raise
        raise BeyondBudgetError from None
    finally:
        context.set_max_operations(0)


def _basic_set(
    isl: Any, context: Any, constraints: Sequence[Constraint], variables: Sequence[Hashable]
) -> Any:
    space = isl.Space.set_alloc(context, 0, len(variables))
    local = isl.LocalSpace.from_space(space)
    place: Mapping[Hashable, int] = {v: n for n, v in enumerate(variables)}
    result = isl.BasicSet.universe(space)
    for constraint in constraints:
        make = (
            isl.Constraint.alloc_equality if constraint.equal else (isl.Constraint.alloc_inequality)
        )
        row = make(local)
        for variable, factor in constraint.form.terms.items():
            row = row.set_coefficient_val(isl.dim_type.set, place[variable], factor)
        result = result.add_constraint(row.set_constant_val(constraint.form.const))
    return result


def _smallest_point(isl: Any, found: Any) -> Any:
    """The smallest point of a set, or any if there is no smallest one; void if it is empty."""
    try:
        point = found.lexmin().sample_point()
    except isl.Error as error:
        if "maximal number of operations" in str(error):
            raise
        # A scalar that may be any number has no smallest value, and with some quotients isl fails
        # in the search: any solution will do.
        return found.sample_point()
    # Of some sets with several quotients isl gives an empty minimum although they have points.
    return found.sample_point() if point.is_void() else point
