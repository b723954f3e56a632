"""Do loops run an iteration of a block twice? Answered from how loops bind iteration variables.

A loop nest may repeat a block's iterations, as when a producer is attached to a loop that it does
not depend on. Values may be computed again; a running sum must start anew, and two threads
must not write one element at the same time.
"""

from __future__ import annotations

from collections.abc import Sequence

from tvmlab.arith import LinearForm, detect_iter_map, form_to_expr, linear_form, simplify
from tvmlab.ir import Block, Expr, For, IterVar, Var, conjunction, conjuncts

from .index import ProgramIndex
from .legality import vars_of


def runs_once(index: ProgramIndex, block: Block, inner: Sequence[For]) -> bool:
    """Whether, for fixed outer loops, the `inner` loops run no iteration of a block twice.

    A block attached to a loop that it does not depend on is computed again in each iteration. That
    is fine for values, but a running sum must then start anew each time.
    """
    if not inner:
        return True
    bound = list(zip(block.iters, block.bindings, strict=True))
    return injective_inside(index, block, bound, inner)


def injective_inside(
    index: ProgramIndex,
    block: Block,
    bound: Sequence[tuple[IterVar, Expr]],
    inner: Sequence[For],
) -> bool:
    """Whether, for fixed values of all other loops, the inner loops give different bindings."""
    variables = {lp.var for lp in inner}
    env = index.bounds_around(block)
    stripped: list[tuple[IterVar, Expr]] = []
    for it, binding in bound:
        form = linear_form(simplify(binding, env))
        kept = {a: c for a, c in form.terms.items() if vars_of(a) & variables}
        if any(not vars_of(a) <= variables for a in kept):
            # Outer and inner loops meet inside a division: only the whole can be looked at.
            used = set[Var]().union(*(vars_of(b) for _, b in bound))
            every = [lp for lp in index.loops_around(block) if lp.var in used]
            whole = {lp.var for lp in every} >= variables
            return whole and _is_injective(block, bound, every)
        stripped.append((it, form_to_expr(LinearForm(kept, 0))))
    return _is_injective(block, stripped, inner)


def _is_injective(
    block: Block, bound: Sequence[tuple[IterVar, Expr]], loops: Sequence[For]
) -> bool:
    variables = {lp.var for lp in loops}
    guards = [c for c in conjuncts(block.predicate) if vars_of(c) <= variables]
    mapping = detect_iter_map(
        [binding for _, binding in bound],
        [(lp.var, lp.extent) for lp in loops],
        [it.extent for it, _ in bound],
        conjunction(guards),
    )
    return mapping.injective
