"""Where values lie and when they are fetched: storage_align and prefetch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from tvmlab.ir import (
    Attribute,
    Block,
    BlockSymbol,
    Buffer,
    For,
    Load,
    Program,
    Var,
    const_int,
    uses_var,
)
from tvmlab.schedule.index import ProgramIndex, accesses, index_of
from tvmlab.schedule.legality import written_buffer
from tvmlab.schedule.notes import ALIGN, PREFETCH, note_of, with_note
from tvmlab.schedule.registry import Applied, ParamSpec, primitive
from tvmlab.schedule.rewrite import replace_stmts
from tvmlab.schedule.verdict import refuse

_MOST_AHEAD = 1024
_IN_ORDER = ("serial", "unrolled", "parallel")


def _propose_align(index: ProgramIndex, block: Block) -> Iterator[dict[str, Any]]:
    written = {a.buffer for a in accesses(block) if not isinstance(a, Load)}
    if len(written) == 1:
        (buffer,) = written
        rank = len(buffer.shape)
        if buffer in index.program.allocs and rank > 1:
            yield {"axis": rank - 2, "factor": 32, "offset": 16}


def _propose_prefetch(index: ProgramIndex, loop: For) -> Iterator[dict[str, Any]]:
    if loop.kind == "serial" and (const_int(loop.extent) or 2) > 1:
        read = [buffer for block in index.blocks_under(loop) for buffer in _read_at(block, loop)]
        for buffer in list(dict.fromkeys(read))[:2]:
            yield {"buffer": buffer, "offset": 1}


_MOST_ALIGNED = 1 << 16
"""Elements; the rows of a cache or a page are shorter."""


@primitive(
    "storage_align", "align rows", "",
    ParamSpec("block", "block", "the block that writes the buffer"),
    ParamSpec("axis", "int", "the dimension whose neighbors are moved apart", default=0),
    ParamSpec("factor", "int", "their distance, modulo this ...", default=32),
    ParamSpec("offset", "int", "... is this, in elements; 0 if left out", required=False),
    propose=_propose_align,
)  # fmt: skip
def storage_align(
    program: Program, block: BlockSymbol, axis: int, factor: int, offset: int | None = None
) -> Applied:
    """Move the rows of an intermediate apart, so that their distance is `offset` modulo `factor`.

    Rows at a distance that is a power of two compete for the same places of a cache. Only the place
    in memory changes; indices stay. A negative axis counts from the last one.

    Before::

        T = alloc(float32[16, 32])          # once lowered: T[i * 32 + j]

    After `storage_align("T", 0, 32, 16)`::

        T = alloc(float32[16, 32])          # once lowered: T[i * 48 + j]
    """
    index = index_of(program)
    writer = index.blocks[block]
    buffer = written_buffer(writer, "storage_align")
    rank = len(buffer.shape)
    distance = 0 if offset is None else offset
    if buffer not in program.allocs:
        raise refuse(
            "storage_align.parameter",
            f"cannot align rows of {buffer.name}: it is a parameter of the kernel, and callers "
            f"decide how it lies in memory; align a copy made by cache_write",
            subject=block,
        )
    if not -rank <= axis < rank or axis in (rank - 1, -1):
        raise refuse(
            "storage_align.axis",
            f"cannot align axis {axis} of {buffer.name}: it has {rank} dimension(s), and "
            f"neighbors along the last one stay side by side",
            subject=block,
        )
    if factor > _MOST_ALIGNED:
        raise refuse(
            "storage_align.too-far",
            f"cannot align {buffer.name} by {factor}: rows would lie far apart, in more memory "
            f"than there is; align by at most {_MOST_ALIGNED}",
            subject=block,
        )
    if factor < 1 or not 0 <= distance < factor:
        raise refuse(
            "storage_align.factor",
            f"cannot align {buffer.name} by {factor} and {distance}: the factor is positive and "
            f"the offset between 0 and {factor - 1 if factor > 0 else 'the factor'}",
            subject=block,
        )
    from_end = axis if axis < 0 else axis - rank
    kept = cast("tuple[tuple[Attribute, ...], ...]", note_of(writer, ALIGN) or ())
    rows = [row for row in kept if row[:2] != (buffer.name, from_end)]
    rows.append((buffer.name, from_end, factor, distance))
    return Applied(replace_stmts(program, {writer: with_note(writer, ALIGN, tuple(rows))}))


@primitive(
    "prefetch", "prefetch", "",
    ParamSpec("buffer", "buffer", "what is read in the loop"),
    ParamSpec("loop", "loop", "the loop"),
    ParamSpec("offset", "int", "how many iterations ahead", default=1, required=False),
    ParamSpec(
        "spread", "bool", "a little at a time, by the last loop inside that reads the buffer",
        default=False, required=False,
    ),
    propose=_propose_prefetch,
)  # fmt: skip
def prefetch(
    program: Program, buffer: Buffer, loop: Var, offset: int = 1, spread: bool = False
) -> Applied:
    """Ask memory for what a later iteration of a loop reads, while this one computes.

    It changes when values arrive in the cache, never a value. All is asked for at the start of an
    iteration; `spread` does it bit by bit, in the last loop inside that reads the buffer, for
    iterations that read much and compute long. In a parallel loop a thread takes neighboring
    iterations one after the other, so the next one is mostly its own.

    Before::

        for i in range(64):
            C[i, ...] = A[i, ...]

    After `prefetch("A", i, 4)`, once lowered::

        for i in range(64):
            prefetch(A[min(i + 4, 63), ...])
            C[i, ...] = A[i, ...]
    """
    index = index_of(program)
    target = index.loops[loop]
    around = (*index.loops_around(target), target)
    if any(lp.kind == "vectorized" for lp in around) or target.kind not in _IN_ORDER:
        raise refuse(
            "prefetch.kind",
            f"cannot prefetch in {loop.name}: iterations follow each other only in a serial or "
            f"parallel loop outside of vectors",
            subject=loop,
        )
    if not 1 <= offset <= _MOST_AHEAD:
        raise refuse(
            "prefetch.offset",
            f"cannot prefetch {offset} iterations of {loop.name} ahead: take 1 to {_MOST_AHEAD}",
            subject=loop,
        )
    if all(buffer not in _read_at(block, target) for block in index.blocks_under(target)):
        raise refuse(
            "prefetch.not-read",
            f"cannot prefetch {buffer.name} in {loop.name}: no block inside reads it at places "
            f"that depend on {loop.name}",
            subject=loop,
        )
    kept = cast("tuple[tuple[Attribute, ...], ...]", note_of(target, PREFETCH) or ())
    asked: tuple[Attribute, ...] = (buffer.name, offset, *((True,) if spread else ()))
    rows = (*(row for row in kept if row[0] != buffer.name), asked)
    return Applied(replace_stmts(program, {target: with_note(target, PREFETCH, rows)}))


def _read_at(block: Block, loop: For) -> list[Buffer]:
    """The buffers that a block reads at indices that a loop moves."""
    moved = {
        it.var
        for it, binding in zip(block.iters, block.bindings, strict=True)
        if uses_var(binding, {loop.var})
    }
    found: dict[Buffer, None] = {}
    for access in accesses(block):
        own = isinstance(access, Load) and any(uses_var(i, moved) for i in access.indices)
        if own:
            found.setdefault(access.buffer)
    return list(found)
