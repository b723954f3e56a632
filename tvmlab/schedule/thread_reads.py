"""Does each thread read only what it can see: its own storage, or what its group has written?"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from tvmlab.arith import Bounds, agreeing_pairs, simplify
from tvmlab.ir import (
    GRID_TAGS,
    Buffer,
    Expr,
    For,
    Load,
    PlacedBlock,
    Program,
    Sharing,
    Store,
    Var,
    const,
    const_int,
    structural_equal,
    substitute,
    walk,
)

from .verdict import RefusedError

_SAMPLES = 4096
"""How many iterations of each side are looked at for a witness."""


class Refuse(Protocol):
    """Makes the refusal of the step that is asked for."""

    def __call__(self, rule: str, why: str, **more: object) -> RefusedError: ...


@dataclass(frozen=True, slots=True)
class _Meeting:
    """A block that writes an intermediate, and one of the same kernel that reads it."""

    buffer: Buffer
    writer: PlacedBlock
    reader: PlacedBlock


def require_own_reads(
    program: Program, placed: Sequence[PlacedBlock], sharing: Sharing, refuse: Refuse
) -> None:
    """Refuse if a thread would read what a thread writes whose storage it does not see.

    Threads of one group see each other's writes to shared and global memory, since lowering lets
    them wait for each other. Groups do not wait, and local memory belongs to one thread.
    """
    for meeting in _meetings(program, placed):
        pairs: list[tuple[For, For]] = []
        for tag in _tags(meeting):
            pair = _must_agree(meeting, tag, sharing, refuse)
            if pair is not None:
                pairs.append(pair)
        if pairs:
            _require_agreement(meeting, pairs, sharing, refuse)


def _meetings(program: Program, placed: Sequence[PlacedBlock]) -> Iterator[_Meeting]:
    for buffer in program.allocs:
        writers = [p for p in placed if _accesses(p, buffer, Store)]
        readers = [p for p in placed if _accesses(p, buffer, Load)]
        for writer, reader in itertools.product(writers, readers):
            launch = _launch(writer)
            if writer is not reader and launch is not None and launch is _launch(reader):
                yield _Meeting(buffer, writer, reader)


def _launch(placed: PlacedBlock) -> For | None:
    """The kernel that a block belongs to: the outermost loop over threads."""
    return next((lp for lp in placed.loops if lp.kind == "thread"), None)


def _accesses(
    placed: PlacedBlock, buffer: Buffer, kind: type[Load] | type[Store]
) -> list[tuple[Expr, ...]]:
    """The indices of a block's accesses to a buffer, in terms of loops."""
    block = placed.block
    values = {it.var: b for it, b in zip(block.iters, block.bindings, strict=True)}
    roots = [block.body] if block.init is None else [block.init, block.body]
    return [
        tuple(substitute(i, values) for i in n.indices)
        for root in roots
        for n in walk(root)
        if isinstance(n, kind) and n.buffer is buffer
    ]


def _tags(meeting: _Meeting) -> list[str]:
    loops = (*meeting.writer.loops, *meeting.reader.loops)
    return list(dict.fromkeys(lp.thread for lp in loops if lp.kind == "thread"))


def _must_agree(
    meeting: _Meeting, tag: str, sharing: Sharing, refuse: Refuse
) -> tuple[For, For] | None:
    """The loops of a tag whose indices must be the same for writer and reader; None if any may."""
    writer, reader = meeting.writer.loop_of(tag), meeting.reader.loop_of(tag)
    loop = writer or reader
    assert loop is not None
    shared = sharing.shared(meeting.buffer, loop)
    if writer is reader or (shared and tag not in GRID_TAGS):
        return None
    split_up = writer is not None and meeting.writer.depends_on(writer)
    if not split_up and not shared:
        if writer is not None and _leaves_out(meeting, writer):
            raise _nothing_there(meeting, writer, refuse)
        return None
    if writer is not None and reader is not None and split_up:
        return writer, reader
    if const_int(loop.extent) == 1:
        return None
    raise _refusal(meeting, tag, sharing, refuse, None)


def _leaves_out(meeting: _Meeting, written: For) -> bool:
    """Whether more threads run the reader than the writer, each with memory of its own."""
    own = meeting.reader.loop_of(written.thread)
    kernel = _launch(meeting.reader)
    others = [n for n in walk(kernel) if isinstance(n, For)] if kernel is not None else []
    running = [own] if own is not None else [n for n in others if n.thread == written.thread]
    return any(not _at_most(lp.extent, written.extent) for lp in running)


def _at_most(a: Expr, b: Expr) -> bool:
    x, y = const_int(a), const_int(b)
    return x <= y if x is not None and y is not None else structural_equal(a, b)


def _nothing_there(meeting: _Meeting, written: For, refuse: Refuse) -> RefusedError:
    writer, reader, buffer = meeting.writer.block, meeting.reader.block, meeting.buffer.name
    why = (
        f"more threads run {reader.name} than {writer.name}: {written.var.name} lets only the "
        f"first ones of {written.thread} compute {buffer}, and the others, which have a memory of "
        f"their own, would find nothing in it"
    )
    return refuse("other-thread", why, subject=reader.symbol)


def _require_agreement(
    meeting: _Meeting, pairs: Sequence[tuple[For, For]], sharing: Sharing, refuse: Refuse
) -> None:
    writer, reader = meeting.writer, meeting.reader
    every = {lp.var: lp.extent for lp in (*writer.loops, *reader.loops)}
    common = frozenset(lp.var for lp in writer.loops if lp in reader.loops)
    env = Bounds.of(every)
    variables = [(w.var, r.var) for w, r in pairs]
    for written in _accesses(writer, meeting.buffer, Store):
        for read in _accesses(reader, meeting.buffer, Load):
            agreed = agreeing_pairs(written, read, variables, env, common)
            for number, (w, r) in enumerate(pairs):
                if number not in agreed:
                    shown = _witness(meeting.buffer, (written, read), (w, r), every)
                    raise _refusal(meeting, w.thread, sharing, refuse, shown)


def _refusal(
    meeting: _Meeting, tag: str, sharing: Sharing, refuse: Refuse, witness: str | None
) -> RefusedError:
    buffer, reader = meeting.buffer.name, meeting.reader.block
    writer = meeting.writer.block.name
    if tag in GRID_TAGS:
        why = (
            f"{reader.name} would read elements of {buffer} that another group of threads computes "
            f"in {writer}, and groups do not wait for each other"
        )
        return refuse("other-group", why, witness=witness, subject=reader.symbol)
    why = (
        f"{reader.name} would read elements of {buffer} that another thread computes in {writer}, "
        f"and {buffer} is in {sharing.scope(meeting.buffer)} memory, of which each thread has its "
        f'own; set_scope("{buffer}", "shared") lets the threads of a group see it'
    )
    return refuse("other-thread", why, witness=witness, subject=reader.symbol)


def _witness(
    buffer: Buffer,
    indices: tuple[Sequence[Expr], Sequence[Expr]],
    loops: tuple[For, For],
    extents: Mapping[Var, Expr],
) -> str | None:
    """Two threads that meet at one element, found by trying out values."""
    found: dict[tuple[int, ...], list[int]] = {}
    for cell, thread in _cells(indices[0], loops[0].var, extents):
        found.setdefault(cell, []).append(thread)
    tag = loops[0].thread
    for cell, thread in _cells(indices[1], loops[1].var, extents):
        for other in found.get(cell, ()):
            if other != thread:
                place = ", ".join(map(str, cell))
                return (
                    f"thread {tag}={thread} reads {buffer.name}[{place}], which thread "
                    f"{tag}={other} computes"
                )
    return None


def _cells(
    indices: Sequence[Expr], thread: Var, extents: Mapping[Var, Expr]
) -> Iterator[tuple[tuple[int, ...], int]]:
    """Elements with the thread that touches them, for values near the ends of all loops."""
    used = {n for i in indices for n in walk(i) if isinstance(n, Var)} | {thread}
    variables = [v for v in extents if v in used]
    ranges = [_ends(const_int(extents[v]) or 1) for v in variables]
    for values in itertools.islice(itertools.product(*ranges), _SAMPLES):
        chosen: dict[Var, Expr] = {
            v: const(value, v.dtype) for v, value in zip(variables, values, strict=True)
        }
        cell = [const_int(simplify(substitute(i, chosen), Bounds())) for i in indices]
        if all(c is not None for c in cell):
            yield tuple(c for c in cell if c is not None), int(values[variables.index(thread)])


def _ends(extent: int) -> list[int]:
    """The first and the last iterations of a loop."""
    return sorted({*range(min(extent, 8)), *range(max(extent - 8, 0), extent)})
