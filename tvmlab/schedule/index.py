"""Where everything is in a program: parents, loops by variable, blocks by symbol, accesses.

Built once per program (programs are immutable) and kept as long as the program lives.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple
from weakref import WeakKeyDictionary

from tvmlab.arith import Bounds
from tvmlab.ir import (
    Block,
    BlockSymbol,
    Buffer,
    For,
    Load,
    Operand,
    Program,
    Seq,
    Stmt,
    Store,
    Var,
    child_stmts,
    walk,
)

from .assumptions import size_facts


class ProgramIndex:
    """Look-up tables of one program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.parent: dict[Stmt, Stmt | None] = {}
        self.loops: dict[Var, For] = {}
        self.blocks: dict[BlockSymbol, Block] = {}
        self.writers: dict[Buffer, list[Block]] = {}
        self.readers: dict[Buffer, list[Block]] = {}
        self.position: dict[Stmt, int] = {}
        self._bounds: dict[Stmt, Bounds] = {}
        self._around: dict[Stmt, tuple[For, ...]] = {}
        self.covered: dict[tuple[Block, Block, Buffer], bool] = {}
        self._scan(program.body, None)

    def _scan(self, stmt: Stmt, parent: Stmt | None) -> None:
        self.parent[stmt] = parent
        self.position[stmt] = len(self.position)
        if isinstance(stmt, For):
            self.loops[stmt.var] = stmt
            self._scan(stmt.body, stmt)
        elif isinstance(stmt, Seq):
            for child in stmt.stmts:
                self._scan(child, stmt)
        elif isinstance(stmt, Block):
            self.blocks[stmt.symbol] = stmt
            self._note_accesses(stmt)

    def _note_accesses(self, block: Block) -> None:
        for buffer in buffers_written(block):
            self.writers.setdefault(buffer, []).append(block)
        for buffer in buffers_read(block):
            self.readers.setdefault(buffer, []).append(block)

    def loops_around(self, stmt: Stmt) -> list[For]:
        """The loops that enclose a statement, outermost first."""
        known = self._around.get(stmt)
        if known is None:
            parent = self.parent[stmt]
            known = () if parent is None else tuple(self.loops_around(parent))
            if isinstance(parent, For):
                known = (*known, parent)
            self._around[stmt] = known
        return list(known)

    def parent_loop(self, stmt: Stmt) -> For | None:
        """The innermost loop that encloses a statement."""
        around = self.loops_around(stmt)
        return around[-1] if around else None

    def bounds_around(self, stmt: Stmt) -> Bounds:
        """The ranges of the loop variables around a statement, and what is assumed of sizes."""
        bounds = self._bounds.get(stmt)
        if bounds is None:
            bounds = Bounds.of({loop.var: loop.extent for loop in self.loops_around(stmt)})
            for fact in size_facts(self.program):
                bounds = bounds.assume(fact)
            self._bounds[stmt] = bounds
        return bounds

    def is_under(self, stmt: Stmt, ancestor: Stmt) -> bool:
        """Whether `ancestor` is the statement itself or encloses it."""
        current: Stmt | None = stmt
        while current is not None:
            if current is ancestor:
                return True
            current = self.parent[current]
        return False

    def blocks_under(self, stmt: Stmt) -> list[Block]:
        """All blocks in a statement, in order."""
        return list(blocks_in(stmt))

    def users(self, buffer: Buffer) -> list[Block]:
        """Blocks that write or read a buffer."""
        return [*self.writers.get(buffer, []), *self.readers.get(buffer, [])]

    def consumers(self, buffer: Buffer) -> list[Block]:
        """Blocks that read a buffer and do not also write it."""
        writers = self.writers.get(buffer, [])
        return [b for b in self.readers.get(buffer, []) if b not in writers]

    def producers_of(self, block: Block) -> list[Block]:
        """Blocks that write an intermediate buffer which this block reads."""
        found: dict[Block, None] = {}
        for buffer in buffers_read(block):
            if buffer in self.program.allocs:
                found.update((w, None) for w in self.writers.get(buffer, []))
        found.pop(block, None)
        return list(found)

    def consumers_of(self, block: Block) -> list[Block]:
        """Blocks that read what this block writes."""
        written = buffers_written(block)
        return list({c: None for buffer in written for c in self.consumers(buffer)})

    def common_loops(self, *stmts: Stmt) -> list[For]:
        """The loops that enclose all the statements, outermost first."""
        chains = [self.loops_around(s) for s in stmts]
        shared: list[For] = []
        for level in zip(*chains, strict=False):
            if any(loop is not level[0] for loop in level):
                break
            shared.append(level[0])
        return shared

    def child_holding(self, scope: For | None, stmt: Stmt) -> tuple[int, Stmt]:
        """Position and statement of the child of a loop's body (or of the root) around `stmt`."""
        body = self.program.body if scope is None else scope.body
        for position, child in enumerate(child_stmts(body)):
            if self.is_under(stmt, child):
                return position, child
        raise KeyError("the statement is not under that loop")


@lru_cache(maxsize=256)
def index_of(program: Program) -> ProgramIndex:
    """The index of a program, made on first use and kept while it is among the last ones asked for.

    An index knows its program, and would keep it alive in a table for as long as the program lives.
    """
    return ProgramIndex(program)


def blocks_in(stmt: Stmt) -> Iterator[Block]:
    """The blocks in a statement, in order; bodies of blocks are not searched."""
    stack = [stmt]
    while stack:
        current = stack.pop()
        if isinstance(current, Block):
            yield current
        elif isinstance(current, For):
            stack.append(current.body)
        elif isinstance(current, Seq):
            stack.extend(reversed(current.stmts))


class Nest(NamedTuple):
    """The loops and the blocks of a program, each in order; bodies of blocks are not searched."""

    loops: tuple[For, ...]
    blocks: tuple[Block, ...]


def nest_of(program: Program) -> Nest:
    """The loops and blocks of a program: less work than its index, if that is all that is asked."""
    known = _NESTS.get(program)
    if known is None:
        loops: list[For] = []
        blocks: list[Block] = []
        stack = [program.body]
        while stack:
            current = stack.pop()
            if isinstance(current, For):
                loops.append(current)
                stack.append(current.body)
            elif isinstance(current, Block):
                blocks.append(current)
            elif isinstance(current, Seq):
                stack.extend(reversed(current.stmts))
        known = _NESTS[program] = Nest(tuple(loops), tuple(blocks))
    return known


_NESTS: WeakKeyDictionary[Program, Nest] = WeakKeyDictionary()


def buffers_read(block: Block) -> list[Buffer]:
    """The buffers that a block loads from or lets a call read, in order."""
    return list({b: None for part in _parts(block) for b in _touched(part)[0]})


def buffers_written(block: Block) -> list[Buffer]:
    """The buffers that a block stores to or lets a call write, in order."""
    return list({b: None for part in _parts(block) for b in _touched(part)[1]})


def parts_handed_over(block: Block) -> set[Buffer]:
    """The buffers of which a block hands parts to calls of outside code."""
    return {n.region.buffer for root in _parts(block) for n in walk(root) if isinstance(n, Operand)}


def _parts(block: Block) -> list[Stmt]:
    return [block.body] if block.init is None else [block.init, block.body]


_TOUCHED: WeakKeyDictionary[Stmt, tuple[tuple[Buffer, ...], tuple[Buffer, ...]]] = (
    WeakKeyDictionary()
)


def _touched(stmt: Stmt) -> tuple[tuple[Buffer, ...], tuple[Buffer, ...]]:
    """What a statement reads, and what it writes; steps that move blocks leave it as it is."""
    known = _TOUCHED.get(stmt)
    if known is None:
        reads: dict[Buffer, None] = {}
        writes: dict[Buffer, None] = {}
        for n in walk(stmt):
            if isinstance(n, Load):
                reads.setdefault(n.buffer)
            elif isinstance(n, Store):
                writes.setdefault(n.buffer)
            elif isinstance(n, Operand):
                if n.access in ("read", "update"):
                    reads.setdefault(n.region.buffer)
                if n.access in ("write", "update"):
                    writes.setdefault(n.region.buffer)
        known = _TOUCHED[stmt] = tuple(reads), tuple(writes)
    return known


def accesses(block: Block) -> list[Load | Store]:
    """All loads and stores of a block, in init and body."""
    return [n for root in _parts(block) for n in walk(root) if isinstance(n, (Load, Store))]
