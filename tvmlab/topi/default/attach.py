"""Producers that are computed where rows of their consumers need them."""

from __future__ import annotations

from collections import Counter

from tvmlab.ir import Block, Var, const_int, to_text
from tvmlab.schedule import BlockRef, LoopRef, ProgramIndex, Schedule, index_of
from tvmlab.target import Target

from .look import access_steps, reduced_by, size_of, tried

_MOST_GROWTH = 1.2

_LONG_ROW = 1 << 14
"""Elements of a row that is worth being divided among threads, if rows are too few for these."""


def attach_producers(sch: Schedule, width: int, machine: Target) -> None:
    """Move producers into the outer loops of their consumers, as far in as nothing is repeated.

    Parameters
    ----------
    width
        How many neighbors along the memory stay together for the sake of vectors.
    machine
        Its threads want enough iterations of the outer loops.
    """
    for block in reversed(sch.blocks()):
        index = index_of(sch.program)
        consumers = index.consumers_of(index.blocks[block.symbol])
        if not consumers or any(b not in index.program.allocs for b in _written(index, block)):
            continue
        if len(consumers) == 1:
            _bring_forward(sch, block, consumers[0], width)
        _attach(sch, block, machine.num_threads)


def _written(index: ProgramIndex, block: BlockRef) -> list[object]:
    return [region.buffer for region in index.blocks[block.symbol].writes]


def _attach(sch: Schedule, block: BlockRef, threads: int) -> None:
    index = index_of(sch.program)
    found = index.blocks[block.symbol]
    consumers = index.consumers_of(found)
    shared = [LoopRef(sch, loop.var) for loop in index.common_loops(*consumers)]
    before = _iterations(index, found)
    outer = _outer(sch, consumers, shared)
    longest = max(before[0], *(_iterations(index, consumer)[0] for consumer in consumers))
    if _too_few(outer, threads) and longest >= size_of(outer) * _LONG_ROW:
        return
    for loop in reversed(outer):
        if tried(lambda loop=loop: sch.compute_at(block, loop)) is None:
            continue
        now = index_of(sch.program)
        if _about_as_many(_iterations(now, now.blocks[block.symbol]), before):
            return
        sch.undo()


def _too_few(loops: list[LoopRef], threads: int) -> bool:
    """Whether loops leave threads without work for a good part of the time."""
    parts = size_of(loops)
    return parts < 4 * threads and parts % threads != 0


def _outer(sch: Schedule, consumers: list[Block], shared: list[LoopRef]) -> list[LoopRef]:
    """The shared loops without the innermost ones, which vectors and sums need."""
    for consumer in consumers:
        ref = BlockRef(sch, consumer.symbol)
        own, reducing = sch.loops(ref), reduced_by(sch, ref)
        first = next((n for n, loop in enumerate(own) if loop.var in reducing), len(own))
        # A loop with other blocks in it is no inner loop of this one.
        index = index_of(sch.program)
        alone = len(index.blocks_under(index.loops[own[-1].var])) == 1 if own else False
        shared = shared[: min(first, len(own) - alone)]
    return shared


def _iterations(index: ProgramIndex, block: Block) -> tuple[int, Counter[str]]:
    """Iterations of a block: a number, and the extents that are known only at run time."""
    number, unknown = 1, Counter[str]()
    for loop in index.loops_around(block):
        extent = const_int(loop.extent)
        if extent is None:
            unknown[to_text(loop.extent)] += 1
        number *= 1 if extent is None else extent
    return number, unknown


def _about_as_many(after: tuple[int, Counter[str]], before: tuple[int, Counter[str]]) -> bool:
    """Whether nothing is repeated: a split that leaves a rest may count a little more."""
    return after[1] == before[1] and after[0] <= _MOST_GROWTH * before[0]


def _bring_forward(sch: Schedule, block: BlockRef, consumer: Block, width: int) -> None:
    """Let a consumer run those loops first that tell which elements of the producer it needs.

    So a sum over the first dimension can be computed for a part of the columns at a time.
    """
    ref = BlockRef(sch, consumer.symbol)
    loops, reducing = sch.loops(ref), reduced_by(sch, ref)
    written = {region.buffer for region in index_of(sch.program).blocks[block.symbol].writes}
    steps = [access.steps for access in access_steps(sch, ref) if access.buffer in written]
    asked = [loop for loop in loops if any(s[loop.var] != 0 for s in steps)]
    rest = [loop for loop in loops if loop not in asked]
    if not rest or not asked or loops[: len(asked)] == asked or {x.var for x in asked} & reducing:
        return
    if index_of(sch.program).loops_around(consumer) != _alone(sch, consumer):
        return
    last = _along_memory(sch, ref, loops)
    if last is None or last not in asked:
        tried(lambda: sch.reorder(*asked, *rest))
        return
    long = last.extent is None or last.extent > 2 * width
    parts = tried(lambda: sch.split(last, [None, width])) if long else None
    outer, inner = parts or (None, last)
    front = [loop for loop in asked if loop.var is not last.var]
    order = [*front, *([] if outer is None else [outer]), *rest, inner]
    tried(lambda: sch.reorder(*order))


def _alone(sch: Schedule, consumer: Block) -> list[object]:
    """The loops around a block, if no other block is in them."""
    index = index_of(sch.program)
    around = index.loops_around(consumer)
    return list(around) if around and len(index.blocks_under(around[0])) == 1 else []


def _along_memory(sch: Schedule, block: BlockRef, loops: list[LoopRef]) -> LoopRef | None:
    """The loop along which the written elements are neighbors."""
    written: list[dict[Var, int | None]] = [a.steps for a in access_steps(sch, block) if a.written]
    return next((x for x in reversed(loops) if all(s[x.var] == 1 for s in written)), None)
