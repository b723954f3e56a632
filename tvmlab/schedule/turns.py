"""Is it the same whether iterations are threads or run one after another?

    for k in thread(12):                          for k in range(12):
        C[0] = 0              # once, for all         C[0] = 0     # in each iteration
        C[0] = C[0] + A[k]    # then all threads      C[0] = C[0] + A[k]

Threads do a block all together before they go on to the next, and what does not depend on them is
done once. A serial loop finishes an iteration before it begins the next. So neither may become the
other where that decides what is read.
"""

from __future__ import annotations

from itertools import combinations

from tvmlab.ir import (
    Buffer,
    For,
    PlacedBlock,
    Program,
    Sharing,
    const_int,
    placed_blocks,
    touched_buffers,
    walk,
)

from .dependence import Conflict, find_shared, side_by_side
from .index import ProgramIndex, index_of
from .kinds import block_kind
from .legality import binding_vars
from .verdict import unsure


def require_same_in_turn(program: Program, loop: For, primitive: str, what: str) -> None:
    """Refuse a step if threads would not compute what their iterations do one after another.

    Parameters
    ----------
    program, loop
        The loop over threads in its program, before the step or after it.
    what
        The step, in words.
    """
    if const_int(loop.extent) == 1:
        return
    index, sharing = index_of(program), Sharing(program)
    below = [p for p in placed_blocks(program.body) if loop in p.loops]
    for placed in below:
        buffer = _gone_on_from(loop, placed, sharing)
        if buffer is not None:
            raise unsure(
                f"{primitive}.repeats",
                f"cannot {what}: {placed.block.name} does not depend on {loop.var.name}; threads "
                f"do it once for all, but one after another each iteration does it, going on from "
                f"what is in {buffer.name}",
                subject=loop.var,
            )
    for early, late in combinations(below, 2):
        for buffer in _shared_by(early, late, loop, sharing):
            clash = _clash(index, loop, early, late, buffer)
            if clash is not None:
                first, second = early.block.name, late.block.name
                raise unsure(
                    f"{primitive}.order",
                    f"cannot {what}: as threads, all iterations of {loop.var.name} do {first} "
                    f"before any does {second}; one after another, an earlier one does {second} "
                    f"before a later one does {first}, and both touch {buffer.name}",
                    witness=clash.witness,
                    subject=loop.var,
                )


def _gone_on_from(loop: For, placed: PlacedBlock, sharing: Sharing) -> Buffer | None:
    """What a block that is done once for all threads would change if it were done again."""
    if not _is_repeated(placed, loop):
        return None
    block = placed.block
    read, written = touched_buffers(block)
    inside = {n.var for n in walk(loop.body) if isinstance(n, For)}
    anew = block.init is not None and block_kind(block) == "reduction"
    if anew and binding_vars(block, "reduce") <= inside:
        return None
    return next((b for b in read & written if sharing.shared(b, loop)), None)


def _is_repeated(placed: PlacedBlock, loop: For) -> bool:
    return not placed.depends_on(loop) and not placed.is_conditional_on(loop)


def _shared_by(early: PlacedBlock, late: PlacedBlock, loop: For, sharing: Sharing) -> list[Buffer]:
    """The buffers of which the order of two blocks could matter."""
    early_read, early_written = touched_buffers(early.block)
    late_read, late_written = touched_buffers(late.block)
    clashing = (early_read | early_written) & late_written
    if not _is_repeated(early, loop):  # one that is repeated writes what was there before
        clashing |= early_written & late_read
    return [b for b in clashing if sharing.shared(b, loop)]


def _clash(
    index: ProgramIndex, loop: For, early: PlacedBlock, late: PlacedBlock, buffer: Buffer
) -> Conflict | None:
    """Where an iteration of the later block would come before one of the earlier block."""
    return find_shared(index, late.block, early.block, buffer, side_by_side(index, loop))
