"""May iterations that are threads run one after another instead?

    for k in thread(12):                          for k in range(12):
        C[0] = 0              # once, for all         C[0] = 0     # in each iteration
        C[0] = C[0] + A[k]    # then all threads      C[0] = C[0] + A[k]

Threads do a block all together before they go on to the next, and what does not depend on them is
done once. A serial loop finishes an iteration before it begins the next.
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


def require_turns(program: Program, loop: For) -> None:
    """Refuse to run threads one after another where it could change what they compute."""
    if const_int(loop.extent) == 1:
        return
    index, sharing = index_of(program), Sharing(program)
    below = [p for p in placed_blocks(program.body) if loop in p.loops]
    for placed in below:
        _require_repeatable(loop, placed, sharing)
    for early, late in combinations(below, 2):
        for buffer in _shared_by(early, late, loop, sharing):
            clash = _clash(index, loop, early, late, buffer)
            if clash is not None:
                raise unsure(
                    "serial.order",
                    f"cannot run {loop.var.name} one iteration after another: its threads all do "
                    f"{early.block.name} before {late.block.name}, but a later iteration would do "
                    f"{early.block.name} behind an earlier one's {late.block.name}, and both touch "
                    f"{buffer.name}",
                    witness=clash.witness,
                    subject=loop.var,
                )


def _require_repeatable(loop: For, placed: PlacedBlock, sharing: Sharing) -> None:
    """A block that is done once for all threads must give the same when it is done again."""
    if not _is_repeated(placed, loop):
        return
    block = placed.block
    read, written = touched_buffers(block)
    updated = [b for b in read & written if sharing.shared(b, loop)]
    inside = {n.var for n in walk(loop.body) if isinstance(n, For)}
    starts_anew = block.init is not None and block_kind(block) == "reduction"
    if updated and not (starts_anew and binding_vars(block, "reduce") <= inside):
        raise unsure(
            "serial.repeats",
            f"cannot run {loop.var.name} one iteration after another: {block.name} does not depend "
            f"on {loop.var.name}, so that threads do it once, but each iteration would do it, "
            f"going on from what is in {updated[0].name}",
            subject=loop.var,
        )


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
