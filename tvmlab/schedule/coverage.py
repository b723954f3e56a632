"""After a block has moved: what is read must have been written before, in the same iteration."""

from __future__ import annotations

from collections.abc import Collection

from tvmlab.ir import Block, BlockSymbol, Buffer, Program

from .dependence import earlier, find_overlap, together
from .index import ProgramIndex, buffers_read, buffers_written, index_of
from .kinds import block_kind
from .verdict import refuse
from .windows import covers


def require_covered_reads(
    program: Program,
    reader: BlockSymbol,
    primitive: str,
    moved: BlockSymbol | None = None,
    buffers: Collection[Buffer] | None = None,
) -> None:
    """Refuse if a block reads an intermediate of which a part may not have been computed yet.

    Parameters
    ----------
    reader
        The block whose reads are looked at.
    primitive, moved
        What is being done, and to which block (the reader itself by default), for the message.
    buffers
        Those of which reads are looked at; all if it is None.
    """
    index = index_of(program)
    block = index.blocks[reader]
    subject = moved or reader
    for buffer in (b for b in buffers_read(block) if buffers is None or b in buffers):
        for writer in completing_writers(index, block, [*index.writers.get(buffer, [])]):
            before = index.position[writer] < index.position[block]
            if before and covers(index, writer, block, buffer):
                continue
            if not _comes_from_earlier_steps(index, block, writer, buffer):
                raise refuse(
                    f"{primitive}.uncovered",
                    f"cannot {primitive} {subject.name} there: {block.name} reads {buffer.name}, "
                    f"and at that place {writer.name} has not computed all of what it needs",
                    subject=subject,
                )


def _comes_from_earlier_steps(
    index: ProgramIndex, reader: Block, writer: Block, buffer: Buffer
) -> bool:
    """Whether all that a block reads of a writer was written in iterations before of loops shared.

    So it is with the stages of a scan, which read the states of steps before.
    """
    if block_kind(writer) != "opaque":
        return False
    shared = index.common_loops(reader, writer)
    orders = [together(shared), *earlier(shared)]
    return bool(shared) and find_overlap(index, reader, writer, buffer, orders) is None


def require_covered_consumers(program: Program, writer: BlockSymbol, primitive: str) -> None:
    """The same for every block that reads what a block writes."""
    index = index_of(program)
    for reader in index.consumers_of(index.blocks[writer]):
        require_covered_reads(program, reader.symbol, primitive, moved=writer)


def completing_writers(index: ProgramIndex, block: Block, writers: list[Block]) -> list[Block]:
    """The writers that finish a buffer: of a start value and its sum, the sum alone."""
    others = [w for w in writers if w is not block]
    last = max((index.position[w] for w in others), default=0)
    sums = [w for w in others if set(buffers_read(w)) & set(buffers_written(w))]
    return sums or [w for w in others if index.position[w] == last]
