"""Do loops run an iteration of a block twice? Answered from how loops bind iteration variables.

A loop nest may repeat a block's iterations, as when a producer is attached to a loop that it does
not depend on. Values may be computed again; a running sum must start anew, and two threads
must not write one element at the same time.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

from tvmlab.arith import (
    Bounds,
    LinearForm,
    detect_iter_map,
    form_to_expr,
    linear_form,
    polyhedral,
)
from tvmlab.ir import Block, Expr, For, IterVar, Var, conjunction, conjuncts, written_buffers

from .assumptions import size_facts
from .dependence import earlier, together
from .index import ProgramIndex
from .legality import vars_of
from .symbolic_digits import simpler_bindings


def runs_once(index: ProgramIndex, block: Block, inner: Sequence[For]) -> bool:
    """Whether, for fixed outer loops, the `inner` loops run no iteration of a block twice.

    A block attached to a loop that it does not depend on is computed again in each iteration. That
    is fine for values, but a running sum must then start anew each time.
    """
    if not inner:
        return True
    bound = list(zip(block.iters, block.bindings, strict=True))
    return injective_inside(index, block, bound, inner)


def surely_runs_once(index: ProgramIndex, block: Block, inner: Sequence[For]) -> bool:
    """The same, asked exactly where rules do not tell: conditions may keep repetitions out."""
    if runs_once(index, block, inner):
        return True
    around = index.loops_around(block)
    access = polyhedral.Access(
        written_buffers(block.body)[0], block.bindings, _ranges(around), (block.predicate,)
    )
    outer = [lp for lp in around if lp not in inner]
    orders: list[polyhedral.Order] = [{**together(outer), **o} for o in earlier(inner)]
    try:
        return polyhedral.find_clash(access, access, orders, size_facts(index.program)) is None
    except polyhedral.BeyondBudgetError:
        return False


def sums_meet(index: ProgramIndex, block: Block, outer: Sequence[For]) -> polyhedral.Clash | None:
    """Two rounds of the `outer` loops that add to one element of a reduction, if there are any.

    Raises
    ------
    BeyondBudgetError
        If it could not be found out in time.
    """
    spatial = tuple(
        b for it, b in zip(block.iters, block.bindings, strict=True) if it.kind == "spatial"
    )
    around = _ranges(index.loops_around(block))
    access = polyhedral.Access(written_buffers(block.body)[0], spatial, around, (block.predicate,))
    return polyhedral.find_clash(access, access, earlier(outer), size_facts(index.program))


def injective_inside(
    index: ProgramIndex,
    block: Block,
    bound: Sequence[tuple[IterVar, Expr]],
    inner: Sequence[For],
) -> bool:
    """Whether, for fixed values of all other loops, the inner loops give different bindings."""
    around = index.loops_around(block)
    return _differs(
        tuple(bound), _ranges(inner), _ranges(around), block.predicate, size_facts(index.program)
    )


_Ranges: TypeAlias = tuple[tuple[Var, Expr], ...]


def _ranges(loops: Sequence[For]) -> _Ranges:
    return tuple((lp.var, lp.extent) for lp in loops)


@lru_cache(maxsize=2048)
def _differs(
    bound: tuple[tuple[IterVar, Expr], ...],
    inner: _Ranges,
    around: _Ranges,
    predicate: Expr,
    facts: tuple[Expr, ...],
) -> bool:
    """The answer, kept: most steps leave most bindings alone, and each asks about all of them."""
    variables = {v for v, _ in inner}
    env = Bounds.of(dict(around))
    for fact in facts:
        env = env.assume(fact)
    given = [(it.extent, binding) for it, binding in bound]
    simpler = simpler_bindings(given, dict(around), conjuncts(predicate), env)
    stripped: list[tuple[Expr, Expr]] = []
    for extent, binding in simpler:
        form = linear_form(binding)
        kept = {a: c for a, c in form.terms.items() if vars_of(a) & variables}
        if any(not vars_of(a) <= variables for a in kept):
            # Outer and inner loops meet inside a division: only the whole can be looked at.
            used = set[Var]().union(*(vars_of(b) for _, b in simpler))
            every = [(v, size) for v, size in around if v in used]
            whole = {v for v, _ in every} >= variables
            return whole and _is_injective(predicate, simpler, every)
        stripped.append((extent, form_to_expr(LinearForm(kept, 0))))
    return _is_injective(predicate, stripped, inner)


def _is_injective(
    predicate: Expr, bound: Sequence[tuple[Expr, Expr]], loops: Sequence[tuple[Var, Expr]]
) -> bool:
    variables = {v for v, _ in loops}
    guards = [c for c in conjuncts(predicate) if vars_of(c) <= variables]
    mapping = detect_iter_map(
        [binding for _, binding in bound],
        loops,
        [extent for extent, _ in bound],
        conjunction(guards),
    )
    return mapping.injective
