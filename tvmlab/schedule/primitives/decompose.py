"""Separating a reduction from the setting of its start value."""

from __future__ import annotations

from dataclasses import replace

from tvmlab.arith import polyhedral
from tvmlab.ir import (
    Block,
    BlockSymbol,
    For,
    IterVar,
    Program,
    Stmt,
    Var,
    conjunction,
    conjuncts,
    make_block,
    seq,
    substitute,
)
from tvmlab.schedule.dependence import find_read_of_others, find_shared, together
from tvmlab.schedule.domains import unproved_limits
from tvmlab.schedule.index import ProgramIndex, buffers_written, index_of
from tvmlab.schedule.legality import binding_vars, vars_of
from tvmlab.schedule.registry import Applied, ParamSpec, primitive
from tvmlab.schedule.repeats import sums_meet, surely_runs_once
from tvmlab.schedule.rewrite import remake_block, replace_stmts
from tvmlab.schedule.verdict import refuse, unsure
from tvmlab.support import Namer


@primitive(
    "decompose_reduction", "decompose reduction", "d",
    ParamSpec("block", "block", "the reduction"),
    ParamSpec("loop", "loop", "the loop before which the start value is set"),
    moves_blocks=True,
)  # fmt: skip
def decompose_reduction(program: Program, block: BlockSymbol, loop: Var) -> Applied:
    """Set the start value of a reduction in a block of its own, before a loop.

    Before::

        for i in range(64):
            for k in range(32):
                with init(): C[i] = 0
                C[i] = C[i] + A[i, k]

    After `decompose_reduction("C", k)`::

        for i in range(64):
            C[i] = 0
            for k in range(32):
                C[i] = C[i] + A[i, k]
    """
    index = index_of(program)
    target, start = index.blocks[block], index.loops[loop]
    _require_decomposable(index, target, start)
    init_nest, symbol = _init_nest(index, target, start)
    update = remake_block(target, body=target.body, init=None)
    body = replace_stmts(replace(program, body=start), {target: update}).body
    return Applied(replace_stmts(program, {start: seq([init_nest, body])}), (symbol,))


def _require_decomposable(index: ProgramIndex, block: Block, start: For) -> None:
    name, loop = block.name, start.var.name
    if block.init is None:
        raise refuse(
            "decompose_reduction.no-init",
            f"cannot decompose {name}: it is not a reduction, or its start value is set by a block "
            f"of its own already",
            subject=block.symbol,
        )
    if not index.is_under(block, start):
        raise refuse(
            "decompose_reduction.not-around",
            f"cannot decompose {name} at {loop}: {loop} is not a loop around it",
            subject=start.var,
        )
    reducing = binding_vars(block, "reduce")
    outside = [lp.var.name for lp in index.loops_around(start) if lp.var in reducing]
    if outside:
        raise refuse(
            "decompose_reduction.inside-reduction",
            f"cannot decompose {name} at {loop}: {loop} is inside the reduction loop {outside[0]}, "
            f"so the sum so far would be set back to its start value in each iteration of "
            f"{outside[0]}",
            witness=f"{outside[0]}=1 would clear what {outside[0]}=0 has added",
            subject=start.var,
        )
    _refuse_shared_sums(index, block, start)
    _refuse_other_writers(index, block, start)
    around = index.loops_around(block)
    ordered = binding_vars(block, "opaque")
    steps = [lp.var.name for lp in around[around.index(start) :] if lp.var in ordered]
    if steps:
        raise refuse(
            "decompose_reduction.ordered",
            f"cannot decompose {name} at {loop}: {steps[0]} runs step by step, and a step may read "
            f"what the one before left; choose a loop inside {steps[0]}",
            subject=start.var,
        )
    outer = index.loops_around(start)
    if find_read_of_others(index, block, [together(outer)]):
        raise unsure(
            "decompose_reduction.own-results",
            f"cannot decompose {name} at {loop}: a sum of it looks at other results of it, which "
            f"would have been set to their start values by then; choose a loop further in",
            subject=start.var,
        )
    if not surely_runs_once(index, block, around[around.index(start) :]):
        raise refuse(
            "decompose_reduction.repeated-sum",
            f"cannot decompose {name} at {loop}: inside {loop} its sum is computed more than once, "
            f"and would then go on from the value before; choose a loop further in",
            subject=start.var,
        )
    for scope in index.loops_around(start):
        if scope.kind == "vectorized":
            raise refuse(
                "decompose_reduction.in-vector",
                f"cannot decompose {name} at {loop}: it is inside the vectorized loop "
                f"{scope.var.name}; choose a loop further out",
                subject=start.var,
            )


def _refuse_other_writers(index: ProgramIndex, block: Block, start: For) -> None:
    """What another block leaves in the sum's place, before the first round, is set back there."""
    around = [together(index.loops_around(start))]
    for buffer in buffers_written(block):
        for other in index.writers[buffer]:
            if other is block or not index.is_under(other, start):
                continue
            conflict = find_shared(index, block, other, buffer, around)
            if conflict is None:
                continue
            make = refuse if conflict.certainty == "sure" else unsure
            raise make(
                "decompose_reduction.other-writer",
                f"cannot decompose {block.name} at {start.var.name}: {other.name} writes elements "
                f"of {buffer.name} too, which the start value would no longer come after; choose a "
                f"loop further in",
                witness=conflict.witness,
                subject=start.var,
            )


def _refuse_shared_sums(index: ProgramIndex, block: Block, start: For) -> None:
    """A condition, as of a skewed loop, may give each round of an outer loop a part of a sum."""
    outside = index.loops_around(start)
    reducing = binding_vars(block, "reduce")
    linked = [vars_of(c) for c in conjuncts(block.predicate) if vars_of(c) & reducing]
    sharing = [lp for lp in outside if any(lp.var in names for names in linked)]
    if not sharing:
        return
    name, loop, shared = block.name, start.var.name, sharing[0].var.name
    try:
        clash = sums_meet(index, block, outside)
    except polyhedral.BeyondBudgetError:
        raise unsure(
            "decompose_reduction.shared-sum",
            f"cannot decompose {name} at {loop}: it could not be told in time whether a condition "
            f"of {name} lets each iteration of {shared} do a part of a sum; choose {shared} or a "
            f"loop around it",
            subject=start.var,
        ) from None
    if clash is not None:
        rounds = [
            ", ".join(f"{lp.var.name}={values[lp.var]}" for lp in outside)
            for values in (clash.first, clash.second)
        ]
        say = refuse if clash.exact else unsure
        raise say(
            "decompose_reduction.shared-sum",
            f"cannot decompose {name} at {loop}: a condition of {name} lets each iteration of "
            f"{shared} do a part of a sum, and the sum so far would be set back to its start "
            f"value in each of them; choose {shared} or a loop around it",
            witness=f"{rounds[1]} would clear what {rounds[0]} has added",
            subject=start.var,
        )


def _init_nest(index: ProgramIndex, block: Block, start: For) -> tuple[Stmt, BlockSymbol]:
    """Loops over the spatial part of what lies at and below `start`, around the init statement."""
    spatial, reducing = binding_vars(block, "spatial"), binding_vars(block, "reduce")
    if spatial & reducing:
        raise refuse(
            "decompose_reduction.mixed",
            f"cannot decompose {block.name}: loop {next(iter(spatial & reducing)).name} runs over "
            f"elements and over the reduction at once",
            subject=block.symbol,
        )
    guards = [c for c in conjuncts(block.predicate) if not vars_of(c) & reducing]
    needed = spatial.union(*(vars_of(c) for c in guards))
    chain = index.loops_around(block)
    inner = [lp for lp in chain[chain.index(start) :] if lp.var in needed]
    env = index.bounds_around(start)
    for lp in inner:
        env = env.bind_loop(lp.var, lp.extent)
    guards += unproved_limits(block, env.assume(conjunction(guards)))
    fresh = {lp.var: Var(f"{lp.var.name}_init") for lp in inner}
    iters = [replace(it, var=Var(it.var.name)) for it in block.iters if it.kind != "reduce"]
    body = _init_body(block, iters)
    symbol = BlockSymbol(Namer(s.name for s in index.blocks).fresh(f"{block.name}_init"))
    bindings = [
        substitute(b, fresh)
        for it, b in zip(block.iters, block.bindings, strict=True)
        if it.kind != "reduce"
    ]
    nest: Stmt = make_block(
        symbol, iters, bindings, body, predicate=substitute(conjunction(guards), fresh)
    )
    for lp in reversed(inner):
        nest = replace(lp, var=fresh[lp.var], body=nest)
    return nest, symbol


def _init_body(block: Block, iters: list[IterVar]) -> Stmt:
    assert block.init is not None
    old = [it.var for it in block.iters if it.kind != "reduce"]
    return substitute(block.init, dict(zip(old, [it.var for it in iters], strict=True)))
