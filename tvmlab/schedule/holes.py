"""Elements of a buffer that no block writes, such as padding of a layout: a copy of the whole would
read them, and so would iterations that a primitive adds.
"""

from __future__ import annotations

from collections.abc import Sequence

from tvmlab.arith import detect_iter_map, polyhedral
from tvmlab.ir import Block, BlockSymbol, Buffer, IterVar, Load, Program, Var, conjunction

from .assumptions import size_facts
from .block_accesses import BlockAccess, block_accesses
from .index import ProgramIndex, buffers_read, index_of
from .kinds import reads_other_results
from .verdict import RefusedError, refuse, unsure
from .windows import covers


def has_holes(index: ProgramIndex, buffer: Buffer) -> bool:
    """Whether the blocks that write an intermediate may leave elements of it out."""
    try:
        require_whole(index, buffer, "", None)
    except RefusedError:
        return True
    return False


def require_whole(index: ProgramIndex, buffer: Buffer, primitive: str, subject: object) -> None:
    """Refuse to read all of a buffer if the blocks that write it leave elements of it out."""
    if any(_writes_each(index, writer, buffer) for writer in index.writers.get(buffer, [])):
        return
    if buffer in index.writers:
        steps = [Var("step") for _ in buffer.shape]
        whole = polyhedral.Access(
            buffer, tuple(steps), tuple(zip(steps, buffer.shape, strict=True))
        )
        _require(index, whole, primitive, subject)


def require_written(
    index: ProgramIndex,
    reader: Block,
    buffer: Buffer,
    primitive: str,
    subject: object,
    *,
    told: Buffer | None = None,
) -> None:
    """Refuse if a block, in any of its iterations, reads an element that nobody writes.

    `told` is the buffer to speak of, if this one is a part of the step.
    """
    for found in _accesses(index, reader, buffer):
        if not found.writes:
            _require(index, found.access, primitive, subject, told)


def require_around_holes(
    before: ProgramIndex, moved: Program, block: BlockSymbol, primitive: str
) -> None:
    """Refuse to let a block that was laid out anew over a box read what nobody writes.

    Where it was, it read around the holes of a buffer.
    """
    index = index_of(moved)
    reader = index.blocks[block]
    for buffer in buffers_read(reader):
        if buffer in before.writers and has_holes(before, buffer):
            require_written(index, reader, buffer, primitive, block)


def require_started(index: ProgramIndex, buffer: Buffer, primitive: str, subject: object) -> None:
    """Refuse if a result starts from values that the caller brings: a new buffer lacks them."""
    writers = index.writers[buffer]
    starting = [
        w for w in writers
        if buffer not in buffers_read(w) or (w.init is not None and not reads_other_results(w))
    ]  # fmt: skip
    for writer in (w for w in writers if w not in starting):
        before = [w for w in starting if _is_done_before(index, w, writer, buffer)]
        if any(_writes_each(index, w, buffer) for w in before):
            continue
        started = [a.access for w in before for a in _accesses(index, w, buffer) if a.writes]
        for found in _accesses(index, writer, buffer):
            if not found.writes and not _among(index, found.access, started):
                raise refuse(
                    f"{primitive}.old-values",
                    f"cannot stage the result of {writer.name}: it goes on from values that "
                    f"{buffer.name} holds before, which the new buffer would not have; let a block "
                    f"write the start values of {buffer.name} first",
                    subject=subject,
                )


def _is_done_before(index: ProgramIndex, first: Block, second: Block, buffer: Buffer) -> bool:
    """Whether a block has written all that another one uses whenever that one runs."""
    return index.position[first] < index.position[second] and covers(index, first, second, buffer)


def _among(
    index: ProgramIndex, read: polyhedral.Access, writes: Sequence[polyhedral.Access]
) -> bool:
    try:
        return polyhedral.missing_element(read, writes, size_facts(index.program)) is None
    except polyhedral.BeyondBudgetError:
        return False


def _accesses(index: ProgramIndex, block: Block, buffer: Buffer) -> list[BlockAccess]:
    return [a for a in block_accesses(index, block) if a.access.buffer is buffer]


def require_read_written(
    index: ProgramIndex, load: Load, iters: Sequence[IterVar], primitive: str, subject: object
) -> None:
    """The same for one load, whatever values iteration variables have."""
    loops = tuple((it.var, it.extent) for it in iters)
    _require(index, polyhedral.Access(load.buffer, load.indices, loops), primitive, subject)


def _require(
    index: ProgramIndex,
    read: polyhedral.Access,
    primitive: str,
    subject: object,
    told: Buffer | None = None,
) -> None:
    name = (told or read.buffer).name
    writer = index.writers[read.buffer][0].name
    try:
        cell = _unwritten(index, read)
    except polyhedral.BeyondBudgetError:
        raise _refusal(writer, name, None, primitive, subject) from None
    if cell is not None:
        raise _refusal(writer, name, cell, primitive, subject)


def _refusal(
    writer: str, buffer: str, cell: tuple[int, ...] | None, primitive: str, subject: object
) -> RefusedError:
    way = (
        "let transform_layout fill them with a pad_value, or take this step before "
        "transforming the layout"
    )
    if cell is None:
        return unsure(
            f"{primitive}.may-have-holes",
            f"cannot {primitive} here: it could not be told whether {writer} writes all elements "
            f"of {buffer} that would be read; {way}",
            subject=subject,
        )
    element = f"{buffer}[{', '.join(map(str, cell))}]"
    return refuse(
        f"{primitive}.holes",
        f"cannot {primitive} here: {writer} leaves parts of {buffer} unwritten, and {element} "
        f"would be read; {way}",
        witness=f"nobody writes {element}",
        subject=subject,
    )


def _unwritten(index: ProgramIndex, read: polyhedral.Access) -> tuple[int, ...] | None:
    writers = index.writers.get(read.buffer, [])
    found = [a for writer in writers for a in _accesses(index, writer, read.buffer)]
    writes = [a.access for a in found if a.writes]
    return polyhedral.missing_element(read, writes, size_facts(index.program))


def _writes_each(index: ProgramIndex, writer: Block, buffer: Buffer) -> bool:
    """Whether one store of a block reaches each element, seen from the form of its indices."""
    return any(
        detect_iter_map(
            found.access.indices, found.access.loops, buffer.shape,
            conjunction(found.access.conditions),
        ).surjective
        for found in _accesses(index, writer, buffer)
        if found.writes
    )  # fmt: skip
