"""Stores that go past the caches: stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from tvmlab.ir import Buffer, For, Program, Var
from tvmlab.schedule.index import ProgramIndex, buffers_read, buffers_written, index_of
from tvmlab.schedule.notes import STREAM, note_of, with_note
from tvmlab.schedule.registry import Applied, ParamSpec, primitive
from tvmlab.schedule.rewrite import replace_stmts
from tvmlab.schedule.verdict import refuse


def _propose(index: ProgramIndex, loop: For) -> Iterator[dict[str, Any]]:
    inside = index.blocks_under(loop)
    read = {buffer for block in inside for buffer in buffers_read(block)}
    for buffer in dict.fromkeys(b for block in inside for b in buffers_written(block)):
        if buffer in index.program.params and buffer not in read:
            yield {"buffer": buffer}


@primitive(
    "stream", "store past caches", "",
    ParamSpec("buffer", "buffer", "what is stored in the loop"),
    ParamSpec("loop", "loop", "the loop"),
    propose=_propose,
)  # fmt: skip
def stream(program: Program, buffer: Buffer, loop: Var) -> Applied:
    """Let the vectors that a loop stores go straight to memory, past the caches.

    Memory then need not be read before it is overwritten, and the caches keep what they hold. It
    pays where a result is larger than the caches; a result that is read soon had better stay in
    them. Machines do it for whole vectors at addresses divisible by their size; other stores of
    the loop stay ordinary ones. Values do not change.

    Before::

        for i in range(4096): ...

    After `stream("C", i)`::

        for i in range(4096, stream=("C",)): ...
    """
    index = index_of(program)
    target = index.loops[loop]
    if target.kind not in ("serial", "parallel"):
        raise refuse(
            "stream.kind",
            f"cannot stream in {loop.name}: a {target.kind} loop is gone before code is made; take "
            f"a serial or parallel loop around it",
            subject=loop,
        )
    inside = index.blocks_under(target)
    if all(buffer not in buffers_written(block) for block in inside):
        raise refuse(
            "stream.not-written",
            f"cannot stream {buffer.name} in {loop.name}: no block inside writes it",
            subject=loop,
        )
    readers = [block.name for block in inside if buffer in buffers_read(block)]
    if readers:
        raise refuse(
            "stream.read",
            f"cannot stream {buffer.name} in {loop.name}: {readers[0]} reads it there, and would "
            f"have to wait until it comes back from memory",
            subject=loop,
        )
    kept = cast("tuple[str, ...]", note_of(target, STREAM) or ())
    names = (*(name for name in kept if name != buffer.name), buffer.name)
    return Applied(replace_stmts(program, {target: with_note(target, STREAM, names)}))
