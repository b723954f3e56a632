"""Reordering loops: allowed if iterations that depend on each other keep their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tvmlab.arith import polyhedral, simplify
from tvmlab.ir import (
    Block,
    Expr,
    For,
    Program,
    Stmt,
    Var,
    const_int,
    is_const,
    substitute,
    to_text,
    uses_var,
)
from tvmlab.schedule.assumptions import INDEPENDENT, without_assumption
from tvmlab.schedule.dataflow import is_dataflow
from tvmlab.schedule.dependence import find_conflict, swapped
from tvmlab.schedule.fixes import reorder_fixes
from tvmlab.schedule.independence import require_loops_still_independent
from tvmlab.schedule.index import ProgramIndex, index_of
from tvmlab.schedule.kinds import block_kind
from tvmlab.schedule.legality import (
    binding_vars,
    order_note,
    require_chain,
)
from tvmlab.schedule.notes import require_unheld
from tvmlab.schedule.registry import Applied, ParamSpec, primitive
from tvmlab.schedule.repeats import runs_once
from tvmlab.schedule.rewrite import rebind, replace_stmts
from tvmlab.schedule.verdict import refuse, unsure


@primitive("reorder", "reorder", "o", ParamSpec("loops", "loops", "loops in the wanted order"))
def reorder(program: Program, loops: Sequence[Var]) -> Applied:
    """Put loops of one nest into the given order; loops not named keep their places.

    Before::

        for i in range(4):
            for j in range(8):
                ...

    After `reorder(j, i)`::

        for j in range(8):
            for i in range(4):
                ...
    """
    index = index_of(program)
    if len(set(loops)) != len(loops) or len(loops) < 2:
        raise refuse("reorder.count", "cannot reorder: name two or more different loops of a nest")
    chosen = [index.loops[v] for v in loops]
    chain = require_chain(index, chosen, "reorder")
    order = iter(chosen)
    wanted = [next(order) if loop in chosen else loop for loop in chain]
    if wanted == chain:
        return Applied(program)
    for loop in chain:
        require_unheld(loop, "reorder")
    _require_same_results(index, chain, wanted)
    _refuse_parallel_in_vector(index, wanted)
    body = _rebuilt(index, chain, _as_vouched_for(chain, wanted))
    result = replace_stmts(program, {chain[0]: body})
    if any(loop.kind in ("parallel", "vectorized") for loop in chain):
        require_loops_still_independent(result, "reorder")
    return Applied(result)


def _as_vouched_for(chain: Sequence[For], wanted: Sequence[For]) -> list[For]:
    """The loops, without what was assumed of those that move outwards.

    An assumption speaks of the iterations of a loop while the loops around stand still.
    """
    return [
        loop if set(chain[: chain.index(loop)]) <= set(wanted[:place])
        else without_assumption(loop, INDEPENDENT)
        for place, loop in enumerate(wanted)
    ]  # fmt: skip


def _rebuilt(index: ProgramIndex, chain: Sequence[For], wanted: Sequence[For]) -> Stmt:
    """The loops in their new order around the body; extents that depend on loops are made anew."""
    body = chain[-1].body
    dependent = _dependent_pair(chain)
    if dependent is None:
        for loop in reversed(wanted):
            body = replace(loop, body=body)
        return body
    env = index.bounds_around(chain[0])
    loops, order = [(lp.var, lp.extent) for lp in chain], [lp.var for lp in wanted]
    bounds = polyhedral.loop_bounds(loops, order, env)
    if bounds is None:
        outer, inner = dependent
        raise refuse(
            "reorder.dependent-extent",
            f"cannot reorder {outer.var.name} and {inner.var.name}: the extent of {inner.var.name} "
            f"is {to_text(inner.extent)}, and the bounds of the loops in the new order cannot be "
            f"written down exactly",
            subject=inner.var,
        )
    # A loop that no longer starts at zero counts from there: its old value is low + var.
    old: dict[Var, Expr] = {}
    extents: list[Expr] = []
    for bound in bounds:
        extents.append(simplify(substitute(bound.extent, old), env))
        env = env.bind_loop(bound.var, extents[-1])
        if not is_const(bound.low, 0):
            old[bound.var] = substitute(bound.low, old) + bound.var
    for loop, extent in zip(wanted, extents, strict=True):
        if loop.kind != "serial" and const_int(extent) is None:
            raise refuse(
                "reorder.dependent-extent",
                f"cannot reorder to {', '.join(lp.var.name for lp in wanted)}: the {loop.kind} "
                f"loop {loop.var.name} would get an extent that depends on other loops; reorder "
                f"before making it {loop.kind}",
                subject=loop.var,
            )
    body = rebind(body, old, env)
    for loop, extent in zip(reversed(wanted), reversed(extents), strict=True):
        body = replace(loop, extent=extent, body=body)
    return body


def _dependent_pair(loops: Sequence[For]) -> tuple[For, For] | None:
    for position, loop in enumerate(loops):
        for outer in loops[:position]:
            if uses_var(loop.extent, {outer.var}):
                return outer, loop
    return None


def _require_same_results(index: ProgramIndex, chain: Sequence[For], wanted: Sequence[For]) -> None:
    """Refuse if iterations that depend on each other would change places."""
    blocks = index.blocks_under(chain[0])
    if is_dataflow(index, chain[0]) and all(_order_free(index, b, chain[0]) for b in blocks):
        return
    conflict = find_conflict(index, blocks, swapped(index, chain, wanted), free_sums=True)
    if conflict is None:
        return
    moved = ", ".join(loop.var.name for loop in wanted)
    if conflict.certainty == "sure":
        raise refuse(
            "reorder.dependence",
            f"cannot reorder to {moved}: two iterations that use the same element of "
            f"{conflict.buffer.name} would change places{order_note(conflict.first)}",
            witness=conflict.witness,
            fixes=reorder_fixes(index, chain, wanted, conflict.first),
            subject=chain[0].var,
        )
    raise unsure(
        "reorder.unproved",
        f"cannot reorder to {moved}: it could not be shown that iterations which use the same "
        f"element of {conflict.buffer.name} keep their order",
        witness=conflict.witness,
        subject=chain[0].var,
    )


def _order_free(index: ProgramIndex, block: Block, top: For) -> bool:
    """Whether the loops from `top` on may run the block's iterations in any order."""
    if block_kind(block) == "complete":
        return True
    around = index.loops_around(block)
    mixed = binding_vars(block, "spatial") & binding_vars(block, "reduce")
    return not (block.init is not None and mixed) and runs_once(
        index, block, around[around.index(top) :]
    )


def _refuse_parallel_in_vector(index: ProgramIndex, wanted: Sequence[For]) -> None:
    around = index.loops_around(wanted[0]) if wanted else []
    vector: For | None = next((lp for lp in around if lp.kind == "vectorized"), None)
    for loop in wanted:
        if loop.kind == "parallel" and vector is not None:
            raise refuse(
                "reorder.parallel-in-vector",
                f"cannot put the parallel loop {loop.var.name} inside the vectorized loop "
                f"{vector.var.name}: the lanes of a vector cannot start threads",
                subject=loop.var,
            )
        if loop.kind == "vectorized":
            vector = loop
