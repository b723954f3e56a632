"""How long the additions of a sum wait for one another.

A processor begins several additions a cycle, but one that needs the result of another waits until
that is ready. A loop that adds to one element, or to one vector, is as slow as that wait; with
several sums side by side in the loop, each round starts as many chains.
"""

from __future__ import annotations

from collections.abc import Sequence

from tvmlab.ir import Block, For, Var, const_int

from .footprint import Access

_CYCLES_UNTIL_READY = 4.0
"""A floating-point addition, alone or with a product, on most processors."""


def cycles_of_waiting(
    block: Block, accesses: Sequence[Access], around: Sequence[For], vector: Var | None, lanes: int
) -> float:
    """The least cycles that one iteration of a sum takes because of the one it adds to.

    Parameters
    ----------
    accesses
        Those of the block, its writes last.
    around
        The loops around the block, outermost first.
    vector, lanes
        The loop whose iterations are lanes of vectors, and how many of them one vector has.
    """
    sums = any(it.kind == "reduce" for it in block.iters)
    if not sums or not block.writes[0].buffer.dtype.is_float:
        return 0.0
    moving = {atom for index in accesses[-1].indices for atom in index.terms}
    elements = 1
    for loop in reversed(around):
        if loop.var not in moving:
            break
        elements *= const_int(loop.extent) or 1
        if loop.var == vector:
            elements = -(-elements // lanes)
    return _CYCLES_UNTIL_READY / elements / lanes
