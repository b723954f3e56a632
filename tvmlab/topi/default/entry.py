"""The entry: which steps, in which order."""

from __future__ import annotations

from collections.abc import Sequence

from tvmlab.ir import Var
from tvmlab.schedule import BlockRef, LoopRef, Schedule, index_of
from tvmlab.target import Target, TargetLike
from tvmlab.te import Tensor

from .attach import attach_producers
from .inline import inline_producers
from .joined import sum_while_computing
from .look import tried
from .memory import place_in_memory
from .threads import divide_reduction, run_parallel, worth_threads
from .transposes import cut_odd_edges
from .vectors import shape_block


def schedule(
    outputs: Tensor | Sequence[Tensor],
    target: TargetLike = "cpu",
    *,
    args: Sequence[Tensor | Var] | None = None,
    name: str | None = None,
) -> Schedule:
    """A schedule for whatever computes the outputs, made of public primitives.

    Parameters
    ----------
    outputs
        One or more tensors; everything they are made of is scheduled.
    target
        Its registers and threads decide the sizes.
    args, name
        As for `Schedule`.
    """
    machine = Target.of(target)
    sch = Schedule(outputs, args=args, name=name)
    inline_producers(sch)
    attach_producers(sch, 4 * machine.lanes(32), machine)
    cut_odd_edges(sch, machine)
    for blocks in _nests(sch):
        _shape_nest(sch, blocks, machine)
    place_in_memory(sch, machine)
    return sch


def _nests(sch: Schedule) -> list[list[BlockRef]]:
    """The blocks, those together that share their outermost loop."""
    index = index_of(sch.program)
    found: dict[object, list[BlockRef]] = {}
    for symbol, block in index.blocks.items():
        around = index.loops_around(block)
        found.setdefault(around[0] if around else block, []).append(BlockRef(sch, symbol))
    return list(found.values())


def _shape_nest(sch: Schedule, blocks: list[BlockRef], machine: Target) -> None:
    shared = _shared_loops(sch, blocks)
    if shared:
        many = worth_threads(sch, blocks, machine)
        for block in blocks:
            if not sum_while_computing(sch, block, shared, machine):
                shape_block(sch, block, sch.loops(block)[len(shared) :], machine)
        if many:
            run_parallel(sch, shared, machine)
        return
    for block in blocks:
        _shape_single(sch, block, machine)


def _shared_loops(sch: Schedule, blocks: list[BlockRef]) -> list[LoopRef]:
    """The loops around all blocks of a nest; none for a single one, whose loops are free."""
    if len(blocks) == 1:
        return []
    index = index_of(sch.program)
    common = index.common_loops(*(index.blocks[b.symbol] for b in blocks))
    return [LoopRef(sch, loop.var) for loop in common]


def _shape_single(sch: Schedule, block: BlockRef, machine: Target) -> None:
    many = worth_threads(sch, [block], machine)
    partial = divide_reduction(sch, block, machine)
    if partial is None:
        outer = shape_block(sch, block, sch.loops(block), machine)
        if many:
            run_parallel(sch, outer, machine)
        return
    tried(lambda: sch.compute_root(partial))
    outer = shape_block(sch, partial, sch.loops(partial), machine)
    run_parallel(sch, outer, machine)
    shape_block(sch, block, sch.loops(block), machine)
