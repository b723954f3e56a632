"""Splitting a reduction into partial results that are joined afterwards."""

from __future__ import annotations

from dataclasses import replace

from tvmlab.ir import Block, BlockSymbol, Buffer, For, Program, Var, const_int, uses_var
from tvmlab.schedule.coverage import require_covered_consumers, require_covered_reads
from tvmlab.schedule.index import ProgramIndex, index_of
from tvmlab.schedule.legality import binding_vars, sole_writer, vars_of
from tvmlab.schedule.registry import Applied, ParamSpec, primitive
from tvmlab.schedule.repeats import runs_once
from tvmlab.schedule.rewrite import insert_at, replace_stmts
from tvmlab.schedule.verdict import refuse, unsure
from tvmlab.support import Namer

from .partial import joining_nest, partial_block
from .reduction import ReductionForm, reduction_form


@primitive(
    "rfactor", "factor reduction", "",
    ParamSpec("block", "block", "the reduction"),
    ParamSpec("loop", "loop", "the reduction loop whose iterations get a partial result each"),
    ParamSpec("factor_axis", "int", "where that loop stands in the shape of the partial results",
              default=0),
    moves_blocks=True,
)  # fmt: skip
def rfactor(program: Program, block: BlockSymbol, loop: Var, factor_axis: int = 0) -> Applied:
    """Compute a partial result for each iteration of a reduction loop, then join these.

    The loop becomes a spatial one of a new block, so that it can run in parallel or in the lanes
    of vectors; the reduction goes on over the partial results. Returns the new block.

    Before::

        for ko in range(16):
            for ki in range(8):
                with init(): C[0] = 0
                C[0] = C[0] + A[ko * 8 + ki]

    After `rfactor("C", ki)`::

        for ko in range(16):
            for ki in range(8):
                with init(): C_rf[ki] = 0
                C_rf[ki] = C_rf[ki] + A[ko * 8 + ki]
        for ki in range(8):
            with init(): C[0] = 0
            C[0] = C[0] + C_rf[ki]
    """
    index = index_of(program)
    target, factored = index.blocks[block], index.loops[loop]
    form = reduction_form(target)
    _require_factorable(index, target, factored, form)
    axis = _position(target, form, factor_axis)
    partials = _partial_buffers(index, target, form, factored, axis)
    top = _outermost_reducing(index, target)
    name = Namer(s.name for s in index.blocks).fresh(f"{block.name}_rf")
    first = partial_block(index, target, form, factored, partials, axis, name)
    last = joining_nest(index, target, form, factored, partials, axis, top)
    home = index.parent_loop(top)
    position = 1 + index.child_holding(home, top)[0]
    factored_program = replace_stmts(program, {target: first})
    new_home = None if home is None else index_of(factored_program).loops[home.var]
    result = insert_at(factored_program, new_home, position, last)
    result = replace(result, allocs=(*result.allocs, *partials))
    require_covered_reads(result, block, "rfactor")
    require_covered_consumers(result, block, "rfactor")
    return Applied(result, (first.symbol,))


def _require_factorable(index: ProgramIndex, block: Block, loop: For, form: ReductionForm) -> None:
    name, factored = block.name, loop.var.name
    around = index.loops_around(block)
    if loop not in around:
        raise refuse(
            "rfactor.not-around",
            f"cannot factor {name} by {factored}: {factored} is not a loop around it",
            subject=loop.var,
        )
    spatial, reducing = binding_vars(block, "spatial"), binding_vars(block, "reduce")
    if loop.var not in reducing:
        raise refuse(
            "rfactor.spatial",
            f"cannot factor {name} by {factored}: {factored} is not one of its reduction loops"
            + (", for it runs only once" if const_int(loop.extent) == 1 else ""),
            subject=loop.var,
        )
    if spatial & reducing:
        raise unsure(
            "rfactor.mixed",
            f"cannot factor {name}: loop {next(iter(spatial & reducing)).name} runs over elements "
            f"and over the reduction at once",
            subject=loop.var,
        )
    if vars_of(loop.extent) & {lp.var for lp in around}:
        raise unsure(
            "rfactor.dependent-extent",
            f"cannot factor {name} by {factored}: its extent depends on another loop, so that "
            f"there would not always be equally many partial results",
            subject=loop.var,
        )
    uneven = [lp.var.name for lp in around if uses_var(lp.extent, {loop.var})]
    if uneven:
        raise unsure(
            "rfactor.dependent-extent",
            f"cannot factor {name} by {factored}: {uneven[0]} runs more or less often in each "
            f"iteration of {factored}, so some elements have no partial result; move {factored} "
            f"inside {uneven[0]} first",
            subject=loop.var,
        )
    for buffer in form.buffers:
        sole_writer(index, buffer, block, "rfactor")
    top = _outermost_reducing(index, block)
    if not runs_once(index, block, around[around.index(top) :]):
        raise unsure(
            "rfactor.repeated-sum",
            f"cannot factor {name} by {factored}: inside {top.var.name} its result is computed "
            f"more than once",
            subject=loop.var,
        )
    for scope in index.loops_around(top):
        if scope.kind == "vectorized":
            raise refuse(
                "rfactor.in-vector",
                f"cannot factor {name} by {factored}: it is inside the vectorized loop "
                f"{scope.var.name}, where the partial results would have to be joined",
                subject=scope.var,
            )


def _outermost_reducing(index: ProgramIndex, block: Block) -> For:
    reducing = binding_vars(block, "reduce")
    return next(lp for lp in index.loops_around(block) if lp.var in reducing)


def _position(block: Block, form: ReductionForm, axis: int) -> int:
    rank = len(form.stores[0].indices)
    position = axis + rank + 1 if axis < 0 else axis
    if not 0 <= position <= rank:
        raise refuse(
            "rfactor.axis",
            f"cannot factor {block.name} with factor_axis {axis}: the partial results have "
            f"{rank + 1} dimension(s), so it is from {-rank - 1} to {rank}",
            subject=block.symbol,
        )
    return position


def _partial_buffers(
    index: ProgramIndex, block: Block, form: ReductionForm, loop: For, axis: int
) -> tuple[Buffer, ...]:
    program = index.program
    taken = Namer(b.name for b in program.buffers)
    made: list[Buffer] = []
    for buffer in form.buffers:
        shape = (*buffer.shape[:axis], loop.extent, *buffer.shape[axis:])
        made.append(Buffer(taken.fresh(f"{buffer.name}_rf"), shape, buffer.dtype, buffer.scope))
    return tuple(made)
