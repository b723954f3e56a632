"""Bounds of loops in another order, for nests whose extents depend on outer loops.

    for i in range(n):                for j in range(n):
        for j in range(i + 1):   ->       for i in range(j, n):

By Fourier-Motzkin elimination of the inner loops, which is exact as long as one of the two factors
that meet is one; other nests have no answer here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tvmlab.arith.bounds import Bounds
from tvmlab.arith.simplify import prove, simplify
from tvmlab.ir import Binary, Expr, Var, const, maximum, minimum

from .linear_system import Constraint, Form, NotLinearError, Translator

MAX_CONSTRAINTS = 200


@dataclass(frozen=True, slots=True)
class Bound:
    """A loop runs over `low <= var < low + extent`, in terms of the loops outside it."""

    var: Var
    low: Expr
    extent: Expr


def loop_bounds(
    loops: Sequence[tuple[Var, Expr]], wanted: Sequence[Var], env: Bounds
) -> list[Bound] | None:
    """The bounds of the same loops in another order; None if they cannot be had exactly.

    Parameters
    ----------
    loops
        Variables and extents, outermost first; all start at zero.
    wanted
        The variables in the new order.
    env
        What is known of variables outside.
    """
    constraints = _constraints(loops)
    if constraints is None:
        return None
    bounds: list[Bound] = []
    inside = constraints
    levels: list[list[Form]] = []
    for var in reversed(wanted):
        levels.insert(0, inside)
        eliminated = _eliminate(inside, var)
        if eliminated is None:
            return None
        inside = eliminated
    for var, forms in zip(wanted, levels, strict=True):
        bound = _bound(var, forms, env)
        if bound is None:
            return None
        bounds.append(bound)
        env = env.bind_loop(var, _outermost(bound, env)).assume(var >= bound.low)
        env = env.assume(var < bound.low + bound.extent)
    return bounds


def _outermost(bound: Bound, env: Bounds) -> Expr:
    return simplify(bound.low + bound.extent, env)


def _constraints(loops: Sequence[tuple[Var, Expr]]) -> list[Form] | None:
    """All `form >= 0` that the loops say; None if one is not linear or has several cases."""
    translator = Translator(lambda var: var)
    found: list[Form] = []
    for var, extent in loops:
        for condition in (var >= 0, *(var < limit for limit in _minima(extent))):
            try:
                cases = translator.conditions(condition)
            except NotLinearError:
                return None
            merged = _single(cases)
            if merged is None:
                return None
            found += merged
    return found


def _minima(e: Expr) -> list[Expr]:
    """The operands of a minimum: being below it means being below each."""
    return _minima(e.a) + _minima(e.b) if isinstance(e, Binary) and e.op == "min" else [e]


def _single(cases: Sequence[tuple[Constraint, ...]]) -> list[Form] | None:
    """The constraints of a condition with one case."""
    if len(cases) != 1:
        return None
    [only] = cases
    whole = all(isinstance(v, Var) for c in only for v in c.form.terms)
    return [c.form for c in only] if whole and not any(c.equal for c in only) else None


def _eliminate(forms: Sequence[Form], var: Var) -> list[Form] | None:
    """What the constraints say about all variables but one."""
    rest = [f for f in forms if var not in f.terms]
    lower = [f for f in forms if f.terms.get(var, 0) > 0]
    upper = [f for f in forms if f.terms.get(var, 0) < 0]
    for low in lower:
        for high in upper:
            a, b = low.terms[var], -high.terms[var]
            if a != 1 and b != 1:
                return None
            rest.append(low.times(b).plus(high.times(a)))
    return rest if len(rest) <= MAX_CONSTRAINTS else None


def _bound(var: Var, forms: Sequence[Form], env: Bounds) -> Bound | None:
    lows: list[Expr] = []
    ends: list[Expr] = []
    for form in forms:
        factor = form.terms.get(var, 0)
        if factor not in (-1, 0, 1):
            return None
        if factor:
            other = _expression(form.plus(Form({var: -factor})))
            if factor > 0:
                lows.append(simplify(-other, env))
            else:
                ends.append(simplify(other + 1, env))
    if not lows or not ends:
        return None
    low = _extreme(lows, env, largest=True)
    end = _extreme(ends, env, largest=False)
    return Bound(var, low, simplify(end - low, env))


def _extreme(values: Sequence[Expr], env: Bounds, *, largest: bool) -> Expr:
    """The largest (or smallest) of some values, without those that never are it."""
    kept: list[Expr] = []
    for value in values:
        if any(_beats(other, value, env, largest) for other in kept):
            continue
        kept = [k for k in kept if not _beats(value, k, env, largest)] + [value]
    result = kept[0]
    for value in kept[1:]:
        result = maximum(result, value) if largest else minimum(result, value)
    return result


def _beats(a: Expr, b: Expr, env: Bounds, largest: bool) -> bool:
    return prove(a >= b, env) if largest else prove(a <= b, env)


def _expression(form: Form) -> Expr:
    result: Expr = const(form.const)
    for variable, factor in form.terms.items():
        assert isinstance(variable, Var)
        result = result + variable * factor
    return result
