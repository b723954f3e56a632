"""Which of several blocks that write an element comes last: a block that moves must not change it.

for i in range(64):
C[i] = 0
for i in range(64):
C[i] = B[i] + 1        in a loop before that of the zeros, it would be lost
"""

from __future__ import annotations

from tvmlab.ir import Block, BlockSymbol, Buffer, Program

from .dependence import find_shared
from .index import ProgramIndex, buffers_written, index_of
from .legality import verb
from .verdict import refuse, unsure


def require_same_last_writers(
    before: ProgramIndex,
    block: Block,
    moved: Program,
    place: BlockSymbol,
    primitive: str,
) -> None:
    """Refuse to move a block past another one that writes elements of its own.

    Parameters
    ----------
    block
        The block, where it was before.
    place
        The block that writes them afterwards: itself, or one that it has become a part of.
    """
    after = index_of(moved)
    for buffer in buffers_written(block):
        for other in before.writers.get(buffer, []):
            if other is block or other.symbol == place:
                continue
            passed = _passed(before, block, after, after.blocks[place], other.symbol)
            if passed:
                _require_apart(before, block, other, buffer, primitive)


def _passed(
    before: ProgramIndex, block: Block, after: ProgramIndex, now: Block, other: BlockSymbol
) -> bool:
    """Whether iterations of another block may have been before one's own, and come after it."""
    first, second = before.blocks[other], after.blocks[other]
    if before.common_loops(block, first) or after.common_loops(now, second):
        return True
    was_before = before.position[first] < before.position[block]
    return was_before != (after.position[second] < after.position[now])


def _require_apart(
    index: ProgramIndex, block: Block, other: Block, buffer: Buffer, primitive: str
) -> None:
    conflict = find_shared(index, block, other, buffer, [{}])
    if conflict is None:
        return
    make = refuse if conflict.certainty == "sure" else unsure
    raise make(
        f"{primitive}.other-writer",
        f"cannot {verb(primitive)} {block.name}: {other.name} writes elements of {buffer.name} "
        f"too, and which of the two comes last would change",
        witness=conflict.witness,
        subject=block.symbol,
    )
