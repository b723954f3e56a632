"""Sums over what has just been computed: each vector is added while it is in a register."""

from __future__ import annotations

from tvmlab.ir import Block
from tvmlab.schedule import BlockRef, LoopRef, Schedule, block_kind, index_of
from tvmlab.target import Target

from .look import block_of, size_of, tried
from .memory import first_cache

_LEAST_SHARE = 2
"""Rows that take more than this part of the first cache are added up so: shorter ones are read
again in no time, and then by wider loops."""


def sum_while_computing(
    sch: Schedule, block: BlockRef, shared: list[LoopRef], machine: Target
) -> bool:
    """Let the sum of a long row go on in the loop that computes the row, vector by vector.

    Parameters
    ----------
    shared
        The loops around both; there must be one more that goes from vector to vector.

    Returns
    -------
    bool
        Whether the sum has been shaped so.
    """
    producer = _computed_beside(sch, block)
    if producer is None:
        return False
    loops = sch.loops(producer)[len(shared) :]
    row = size_of(loops) * block_of(sch, producer).writes[0].buffer.dtype.bits // 8
    long = row * _LEAST_SHARE > first_cache(machine)
    if not long or len(loops) < 2 or loops[-1].kind != "vectorized":
        return False
    summed = tried(lambda: sch.reverse_compute_at(block, loops[-2]))
    if summed is None:
        return False
    partial = tried(lambda: sch.rfactor(block, summed[-1])) if len(summed) == 1 else None
    if partial is None:
        sch.undo()
        return False
    sch.vectorize(sch.loops(partial)[-1])
    last = sch.loops(block)[-1]
    tried(lambda: sch.vectorize(last))
    return True


def _computed_beside(sch: Schedule, block: BlockRef) -> BlockRef | None:
    """The block that computes, element by element, all that a reduction reads."""
    index = index_of(sch.program)
    found = index.blocks[block.symbol]
    producers: list[Block] = index.producers_of(found)
    if block_kind(found) != "reduction" or len(producers) != 1:
        return None
    (producer,) = producers
    return BlockRef(sch, producer.symbol) if block_kind(producer) == "complete" else None
