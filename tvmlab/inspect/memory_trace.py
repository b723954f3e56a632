"""Every access of a schedule in order, with where it finds its data: what the memory view scrubs.

Long programs are sampled: of the outermost loops only the first iterations run, so that all inner
ones are whole. The sample is named, and counts are of the sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tvmlab.ir import (
    Block,
    Buffer,
    Const,
    Expr,
    For,
    Node,
    Program,
    Stmt,
    Var,
    const_int,
    transform,
    with_body,
)
from tvmlab.schedule import index_of
from tvmlab.support import UserError
from tvmlab.target import Target

from .access_order import Access, Array, Moment, WalkLog, inner_stmts
from .cache_simulator import CacheGeometry, LevelResult, simulate

MOST_ACCESSES = 12_000
_ASSUMED_WAYS = 8
TINY = (CacheGeometry("L1", 256, 16, 2), CacheGeometry("L2", 2048, 16, 4))
"""A teaching cache, small enough that small programs overflow it."""


@dataclass(frozen=True, slots=True)
class TracedBuffer:
    """A buffer of the trace."""

    row: str
    shape: tuple[int, ...]
    itemsize: int


@dataclass(frozen=True, slots=True)
class MemoryReport:
    """The accesses one after another.

    Attributes
    ----------
    sample
        What of the program was run; empty for the whole.
    buffer, element, write
        What each access touches, and whether it writes.
    found
        The level that had the data; the number of levels is memory.
    kind
        How the first level answered: 0 hit, 1 compulsory, 2 capacity, 3 conflict miss.
    loops, turns
        The loops, and for each access the value of each of them; -1 outside of it.
    label
        Which state this is, where another stands beside it.
    beside
        The accesses of another state.
    """

    sample: str
    caches: str
    levels: tuple[LevelResult, ...]
    buffers: tuple[TracedBuffer, ...]
    buffer: tuple[int, ...]
    element: tuple[int, ...]
    write: tuple[int, ...]
    found: tuple[int, ...]
    kind: tuple[int, ...]
    loops: tuple[str, ...]
    turns: tuple[tuple[int, ...], ...]
    label: str = ""
    beside: MemoryReport | None = None


def machine_caches(target: Target) -> tuple[CacheGeometry, ...]:
    """The caches of a machine; how many lines a set has is assumed."""
    return tuple(
        CacheGeometry(f"L{c.level}", c.size // (c.line * _ASSUMED_WAYS) * c.line * _ASSUMED_WAYS,
                      c.line, _ASSUMED_WAYS)
        for c in target.caches
    )  # fmt: skip


def memory_report(
    program: Program, caches: Sequence[CacheGeometry], words: str, most: int = MOST_ACCESSES
) -> MemoryReport:
    """Run a program's accesses through caches.

    Raises
    ------
    UserError
        If what it touches depends on data or on sizes that are not constants.
    """
    shown, sample = _sampled(program, most)
    log = _Trace(shown)
    log.stmt(shown.body, Moment({}, np.zeros((1, 0), np.int64)))
    buffer, element, write, turns = log.gathered()
    starts = log.starts()
    sizes = np.array([b.dtype.bits // 8 for b in log.buffers], np.int64)
    addresses = starts[buffer] + element * sizes[buffer]
    run = simulate(addresses.tolist(), caches)
    return MemoryReport(
        sample,
        words,
        run.levels,
        tuple(TracedBuffer(b.name, b.const_shape or (), b.dtype.bits // 8) for b in log.buffers),
        tuple(buffer.tolist()),
        tuple(element.tolist()),
        tuple(write.tolist()),
        run.found,
        run.kinds,
        tuple(v.name for v in log.loops),
        tuple(tuple(column) for column in turns.T.tolist()),
    )


def _sampled(program: Program, most: int) -> tuple[Program, str]:
    """The program with fewer iterations of its outermost loops, and that in words."""
    tops = _outermost(program.body)
    rounds: dict[Var, int] = {}
    for top in tops:
        _shorten(top, max(most // len(tops), 1), rounds)
    if not rounds:
        return program, ""

    def fewer(node: Node) -> Node:
        if isinstance(node, For) and node.var in rounds:
            return replace(node, extent=Const(rounds[node.var], node.var.dtype))
        return node

    loops = index_of(program).loops
    words = [f"{n} of {const_int(loops[v].extent)} rounds of {v.name}" for v, n in rounds.items()]
    return with_body(program, transform(program.body, fewer)), ", ".join(words)


def _outermost(stmt: Stmt) -> list[For]:
    if isinstance(stmt, For):
        return [stmt]
    return [loop for child in inner_stmts(stmt) for loop in _outermost(child)]


def _shorten(loop: For, most: int, rounds: dict[Var, int]) -> None:
    """Note how often a loop may run to make about so many accesses, inner ones as needed."""
    extent = const_int(loop.extent)
    if extent is None:
        raise UserError(
            f"how often loop {loop.var.name} runs is known only at run time",
            hint="look at the same schedule with constant sizes",
        )
    inside = max(_accesses(loop.body), 1)
    if extent * inside <= most:
        return
    if most >= inside or extent > 1:
        rounds[loop.var] = min(extent, max(1, most // inside))
    if inside > most:
        for inner in _outermost(loop.body):
            _shorten(inner, most, rounds)


def _accesses(stmt: Stmt) -> int:
    """About how many accesses a statement makes."""
    if isinstance(stmt, For):
        return (const_int(stmt.extent) or 1) * _accesses(stmt.body)
    if isinstance(stmt, Block):
        return len(stmt.reads) + len(stmt.writes)
    return sum(_accesses(child) for child in inner_stmts(stmt))


class _Trace(WalkLog):
    """Collects the accesses of every buffer."""

    def __init__(self, program: Program) -> None:
        self.loops: list[Var] = list(index_of(program).loops)
        self.buffers: list[Buffer] = []
        self._numbers: dict[Buffer, int] = {}
        self._times: list[Array] = []
        self._rows: list[Array] = []

    def note(self, buffer: Buffer, access: Access, indices: tuple[Expr, ...], now: Moment) -> None:
        number = self._numbers.setdefault(buffer, len(self._numbers))
        if number == len(self.buffers):
            self.buffers.append(buffer)
        element = np.zeros(len(now.time), np.int64)
        for index, extent in zip(indices, buffer.const_shape or (), strict=True):
            element = element * extent + now.value(index)
        full = np.full(len(now.time), -1, np.int64)
        turns = [now.values.get(v, full) for v in self.loops]
        fixed = [np.full_like(full, number), element, np.full_like(full, access == "write")]
        self._times.append(now.time)
        self._rows.append(np.column_stack([*fixed, *turns]))

    def gathered(self) -> tuple[Array, Array, Array, Array]:
        """Everything in the order in which it happens."""
        if not self._rows:
            raise UserError("the program touches no memory")
        width = max(time.shape[1] for time in self._times)
        times = [np.pad(t, ((0, 0), (0, width - t.shape[1]))) for t in self._times]
        order = np.lexsort(np.concatenate(times).T[::-1])[: 4 * MOST_ACCESSES]
        rows = np.concatenate(self._rows)[order]
        return rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 3:]

    def starts(self) -> Array:
        """Where each buffer begins, in bytes; each on a page of its own."""
        at, found = 0, list[int]()
        for buffer in self.buffers:
            found.append(at)
            size = int(np.prod(buffer.const_shape or (1,))) * buffer.dtype.bits // 8
            at += -(-size // 4096) * 4096
        return np.array(found, np.int64)
