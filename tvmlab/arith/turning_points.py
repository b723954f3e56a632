"""Where, along one variable, a comparison begins or ceases to hold whatever the others do.

i * 8 + j < 100  with j in 0..7:   holds for all j up to i = 11, for none from i = 13 on
turning_points -> 12, 13
"""

from __future__ import annotations

from collections.abc import Iterator

from tvmlab.ir import Compare, Var, uses_var

from .bounds import Bounds, bound_of, linear_form
from .linear import LinearForm, form_to_expr


def turning_points(compare: Compare, var: Var, env: Bounds) -> set[int]:
    """Values of a variable from which on a comparison is decided, or no longer is."""
    return {
        point for form in negative_when_true(compare, env) for point in _points_of(form, var, env)
    }


def negative_when_true(compare: Compare, env: Bounds) -> list[LinearForm]:
    """Forms of which one turns negative, or stops to be, where the comparison changes."""
    difference = linear_form(compare.a, env).minus(linear_form(compare.b, env))
    match compare.op:
        case "lt":
            return [difference]
        case "le":
            return [difference.shift(-1)]
        case "gt":
            return [difference.times(-1)]
        case "ge":
            return [difference.times(-1).shift(-1)]
        case _:
            return [difference, difference.times(-1)]


def without(form: LinearForm, var: Var) -> tuple[int, LinearForm]:
    """The factor of a variable, and the form without it; 0 if other atoms contain it."""
    factor = form.terms.get(var, 0)
    rest = form.plus(LinearForm({var: 1}, 0), -factor) if factor else form
    if any(uses_var(atom, {var}) for atom in rest.terms):
        return 0, form
    return factor, rest


def _points_of(form: LinearForm, var: Var, env: Bounds) -> Iterator[int]:
    """Where `form < 0` starts or stops to hold for all, or for no, values of the other symbols."""
    factor, rest = without(form, var)
    if not factor:
        return
    span = bound_of(form_to_expr(rest, var.dtype), env)
    for end in (span.lo, span.hi):
        if end is not None:
            # factor * v + end < 0: holds below the point if the factor is positive, else from it on
            yield -(end // factor) if factor > 0 else end // -factor + 1
