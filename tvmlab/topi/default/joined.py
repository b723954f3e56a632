"""Sums over what has just been computed: each vector is added while it is in a register."""

from __future__ import annotations

from tvmlab.ir import Block
from tvmlab.schedule import BlockRef, LoopRef, Schedule, block_kind, index_of

from .look import tried

_LEAST_ROUNDS = 8
"""Rounds of the loop over vectors from which on reading them once more costs more than sums in its
middle do."""


def sum_while_computing(sch: Schedule, block: BlockRef, shared: list[LoopRef]) -> bool:
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
    if len(loops) < 2 or loops[-1].kind != "vectorized" or (loops[-2].extent or 0) < _LEAST_ROUNDS:
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
