"""Which values of its iteration variables a block runs for, when loops are laid around it anew.

Most blocks run for all of them. Where a loop with a tail was factored out of a sum, some values of
the new variables are beyond the tail, and terms of the sum that are none must not come into it.
"""

from __future__ import annotations

from collections.abc import Sequence

from tvmlab.arith import Bounds, detect_iter_map, prove
from tvmlab.ir import Block, Expr, For, Var, conjunction, conjuncts, substitute

from .index import ProgramIndex
from .legality import binding_vars, vars_of
from .notes import PARTIAL, note_of
from .verdict import RefusedError, unsure


def existing_iterations(
    index: ProgramIndex, block: Block, where: str, primitive: str
) -> list[Expr]:
    """The conditions on a block's iteration variables under which it runs.

    Raises
    ------
    RefusedError
        If they were not worked out.
    """
    if note_of(block, PARTIAL) is not None:
        raise _refusal(block, where, primitive)
    reduced = binding_vars(block, "reduce")
    conditions = conjuncts(block.predicate)
    coupled = [c for c in conditions if vars_of(c) & reduced]
    if not coupled:
        return []
    loops, places = _connected(index, block, coupled)
    if _reaches_all(block, places, loops, conditions):
        return []
    named: dict[Var, Expr] = {
        b: it.var for it, b in zip(block.iters, block.bindings, strict=True) if isinstance(b, Var)
    }
    rest = [c for c in conditions if not any(c is d for d in coupled)]
    apart = all(vars_of(c) <= named.keys() for c in coupled)
    if apart and _reaches_all(block, places, loops, rest):
        return [substitute(c, named) for c in coupled]
    raise _refusal(block, where, primitive)


def unproved_limits(block: Block, env: Bounds) -> list[Expr]:
    """Conditions that elements exist, where only the extents of a sum's rounds say so.

    Of `for i in range(8): for k in range(7 - i)`, no round asks about the last i: a start value
    that is set outside of the rounds has to.
    """
    limits = [
        limit
        for it, binding in zip(block.iters, block.bindings, strict=True)
        if it.kind != "reduce"
        for limit in (binding >= 0, binding < it.extent)
    ]
    return [limit for limit in limits if not prove(limit, env)]


def _connected(
    index: ProgramIndex, block: Block, conditions: Sequence[Expr]
) -> tuple[list[For], list[int]]:
    """The loops that conditions speak of, and those that go with them; the iteration variables."""
    names = {v for c in conditions for v in vars_of(c)}
    around = index.loops_around(block)
    while True:
        places = [n for n, b in enumerate(block.bindings) if vars_of(b) & names]
        wider = names | {v for n in places for v in vars_of(block.bindings[n])}
        if wider == names:
            return [lp for lp in around if lp.var in names], places
        names = wider


def _reaches_all(
    block: Block, places: Sequence[int], loops: Sequence[For], conditions: Sequence[Expr]
) -> bool:
    """Whether loops under conditions reach all values of some iteration variables."""
    names = {lp.var for lp in loops}
    found = detect_iter_map(
        [block.bindings[n] for n in places],
        [(lp.var, lp.extent) for lp in loops],
        [block.iters[n].extent for n in places],
        conjunction([c for c in conditions if vars_of(c) <= names]),
    )
    return found.surjective


def _refusal(block: Block, where: str, primitive: str) -> RefusedError:
    return unsure(
        f"{primitive}.partial-domain",
        f"cannot compute {block.name} at {where}: it runs for some values of its variables alone, "
        f"as transform_block_layout, hoist_condition and rfactor of a loop with a tail make it, "
        f"and which of them new loops would run was not worked out; move it first",
        subject=block.symbol,
    )
