"""Where the threads of a group wait for each other in a program that still has blocks.

There, threads keep the order of blocks: what a block writes is seen by every thread that runs a
later one. So they wait before a statement that touches what another one before it has written (or
writes what that one has read), and at the end of loops whose rounds depend on each other like this
or do one sum of theirs again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .expr import Buffer, Expr, Load, Var
from .stmt import Alloc, Barrier, Block, For, If, Let, Seq, Stmt, Store
from .structural import structural_equal
from .threads import (
    GROUP_TAGS,
    PlacedBlock,
    placed_blocks,
    reduced_by_threads,
    touched_buffers,
)
from .traverse import free_vars, substitute, walk


@dataclass(slots=True)
class _Touched:
    """The shared buffers that some statements read and write."""

    reads: frozenset[Buffer] = frozenset()
    writes: frozenset[Buffer] = frozenset()

    def clashes(self, later: _Touched) -> bool:
        return bool(self.writes & (later.reads | later.writes) or self.reads & later.writes)

    def plus(self, other: _Touched) -> _Touched:
        return _Touched(self.reads | other.reads, self.writes | other.writes)


@dataclass(slots=True)
class SyncPoints:
    """Statements before which threads wait, and loops in which they wait after each round."""

    before: set[Stmt] = field(default_factory=set[Stmt])
    rounds: set[For] = field(default_factory=set[For])

    def inside(self, stmt: Stmt) -> bool:
        """Whether threads wait somewhere in a statement."""
        return any(
            isinstance(n, Barrier) or n in self.rounds or (n in self.before and n is not stmt)
            for n in walk(stmt)
        )


def implicit_syncs(
    root: For,
    shared: Callable[[Buffer], bool],
    meet: Callable[[PlacedBlock, For], bool] = lambda placed, loop: False,
) -> SyncPoints:
    """The points at which threads of a kernel wait so that its blocks keep their order.

    Parameters
    ----------
    shared
        Whether several threads see one storage of a buffer.
    meet
        Whether different threads may write one element by a block in different rounds of a loop.
    """
    return _Search(shared, meet).run(root)


class _Search:
    def __init__(
        self, shared: Callable[[Buffer], bool], meet: Callable[[PlacedBlock, For], bool]
    ) -> None:
        self._shared = shared
        self._meet = meet
        self._points = SyncPoints()
        self._sums: list[PlacedBlock] = []
        self._others: list[PlacedBlock] = []

    def run(self, root: For) -> SyncPoints:
        for placed in placed_blocks(root):
            if not reduced_by_threads(placed):
                self._others.append(placed)
            elif placed.block.init is not None:
                self._sums.append(placed)
        self._visit(root)
        return self._points

    def _touched(self, stmt: Stmt) -> _Touched:
        reads, writes = touched_buffers(stmt)
        keep = self._shared
        return _Touched(
            frozenset(b for b in reads if keep(b)), frozenset(b for b in writes if keep(b))
        )

    def _visit(self, stmt: Stmt) -> None:
        match stmt:
            case Seq():
                self._sequence(stmt)
            case For():
                self._visit(stmt.body)
                if stmt.kind != "thread" and (
                    self._depends_on_itself(stmt.body)
                    or self._repeats_a_sum(stmt)
                    or self._writes_again(stmt)
                    or self._hands_on(stmt)
                ):
                    self._points.rounds.add(stmt)
            case Alloc() | Let():
                self._visit(stmt.body)
            case If():
                self._visit(stmt.then)
                if stmt.otherwise is not None:
                    self._visit(stmt.otherwise)
            case _:
                pass

    def _sequence(self, stmt: Seq) -> None:
        pending = _Touched()
        for member in stmt.stmts:
            self._visit(member)
            touched = self._touched(member)
            if pending.clashes(touched):
                self._points.before.add(member)
                pending = touched
            else:
                pending = pending.plus(touched)

    def _depends_on_itself(self, body: Stmt) -> bool:
        """Whether one block of a loop's body touches what another one writes."""
        touched = [self._touched(n) for n in walk(body) if isinstance(n, Block)]
        return any(
            a is not b and a.clashes(b) for n, a in enumerate(touched) for b in touched[n + 1 :]
        )

    def _repeats_a_sum(self, loop: For) -> bool:
        """Whether each round of a loop does a sum anew that all threads add to."""
        return any(loop in placed.loops and not placed.depends_on(loop) for placed in self._sums)

    def _writes_again(self, loop: For) -> bool:
        """Whether a thread may write in a round what another one has written in one before."""
        return any(
            loop in placed.loops
            and any(self._shared(b) for b in touched_buffers(placed.block)[1])
            and self._meet(placed, loop)
            for placed in self._others
        )

    def _hands_on(self, loop: For) -> bool:
        """Whether a thread may read in a round what another one has written in one before."""
        return any(
            loop in placed.loops
            and any(self._shared(b) for b in touched_buffers(placed.block)[1])
            and _reads_of_others(placed)
            for placed in self._others
        )


def _reads_of_others(placed: PlacedBlock) -> bool:
    """Whether a thread that runs a block may read an element that another one writes by it.

    Not if it reads only the element that it writes, or if a dimension is shared out to threads:
    then each has a part of the buffer to itself.
    """
    block = placed.block
    threads = [
        lp
        for lp in placed.loops
        if lp.kind == "thread" and lp.thread in GROUP_TAGS and placed.depends_on(lp)
    ]
    moving = {lp.var for lp in placed.loops} - {lp.var for lp in threads}
    moving |= {n.var for n in walk(block.body) if isinstance(n, For)}
    values = dict(zip((it.var for it in block.iters), block.bindings, strict=True))
    accesses = [n for n in walk(block.body) if isinstance(n, (Load, Store))]
    stores = [n for n in accesses if isinstance(n, Store)]
    return any(
        store.buffer is load.buffer and not _stays(store, load, threads, values, moving)
        for store in stores
        for load in accesses
        if isinstance(load, Load)
    )


def _stays(
    store: Store, load: Load, threads: Sequence[For], values: dict[Var, Expr], moving: set[Var]
) -> bool:
    """Whether the element that a thread reads is never one that another thread stores."""
    same = [a for a, b in zip(store.indices, load.indices, strict=True) if structural_equal(a, b)]
    if len(same) == len(store.indices):
        return True
    used = [frozenset(free_vars(substitute(index, values))) for index in same]
    return all(any(lp.var in names and not names & moving for names in used) for lp in threads)
