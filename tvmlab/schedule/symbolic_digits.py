"""Bindings with sizes known only at run time, as simpler ones that tell the same iterations apart.

    i = f // m, j = f % m            ->  f            both together say which f it is
    i = io * ((n + 3) // 4) + ii     ->  io, ii       if ii stays below that factor

What remains has constant factors, of which `arith.iter_map` knows all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tvmlab.arith import Bounds, LinearForm, form_to_expr, linear_form, prove, simplify
from tvmlab.ir import Binary, Compare, Expr, Var, structural_equal

from .legality import vars_of

Bound = tuple[Expr, Expr]
"""The extent of an iteration variable, and its binding."""


def simpler_bindings(
    bound: Sequence[Bound], loops: Mapping[Var, Expr], guards: Sequence[Expr], env: Bounds
) -> list[Bound]:
    """Bindings that differ in two iterations exactly if the given ones do.

    Parameters
    ----------
    loops
        The extents of the loops in the bindings.
    guards
        What holds in every iteration.
    env
        The ranges of the loops.
    """
    found = [(extent, simplify(binding, env)) for extent, binding in bound]
    while True:
        new = _joined(found, loops) or _parted(found, loops, guards, env)
        if new is None:
            return found
        found = new


def _joined(bound: Sequence[Bound], loops: Mapping[Var, Expr]) -> list[Bound] | None:
    """A quotient and the remainder that belongs to it as the number that was divided."""
    quotients = [b for b in bound if _divides("floordiv", b[1], loops)]
    remainders = [b for b in bound if _divides("floormod", b[1], loops)]
    for one in quotients:
        for other in remainders:
            x, y = one[1], other[1]
            assert isinstance(x, Binary)
            assert isinstance(y, Binary)
            if structural_equal(x.a, y.a) and structural_equal(x.b, y.b):
                rest = [b for b in bound if b is not one and b is not other]
                return [*rest, (one[0] * other[0], x.a)]
    return None


def _divides(op: str, e: Expr, loops: Mapping[Var, Expr]) -> bool:
    return isinstance(e, Binary) and e.op == op and not vars_of(e.b) & loops.keys()


def _parted(
    bound: Sequence[Bound], loops: Mapping[Var, Expr], guards: Sequence[Expr], env: Bounds
) -> list[Bound] | None:
    """A sum of a multiple of a size and something smaller as both."""
    for n, (_, binding) in enumerate(bound):
        form = linear_form(binding)
        for loop, size, product in _multiples(form, loops):
            rest = LinearForm({a: k for a, k in form.terms.items() if a is not product}, form.const)
            low = form_to_expr(rest)
            if vars_of(low) & {loop} or not prove(low >= 0, env):
                continue
            if _is_below(low, size, loops, guards):
                return [*bound[:n], (loops[loop], loop), (size, low), *bound[n + 1 :]]
    return None


def _multiples(form: LinearForm, loops: Mapping[Var, Expr]) -> Iterator[tuple[Var, Expr, Expr]]:
    """The terms that are a loop times a size."""
    for atom, factor in form.terms.items():
        if factor == 1 and isinstance(atom, Binary) and atom.op == "mul":
            for loop, size in ((atom.a, atom.b), (atom.b, atom.a)):
                if isinstance(loop, Var) and loop in loops and not vars_of(size) & loops.keys():
                    yield loop, size, atom


def _is_below(e: Expr, size: Expr, loops: Mapping[Var, Expr], guards: Sequence[Expr]) -> bool:
    if isinstance(e, Var) and e in loops and structural_equal(loops[e], size):
        return True
    return any(
        isinstance(g, Compare)
        and g.op == "lt"
        and structural_equal(g.a, e)
        and structural_equal(g.b, size)
        for g in guards
    )
