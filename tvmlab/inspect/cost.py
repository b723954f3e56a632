"""Static cost of each line of a loop nest: how often it runs, arithmetic, data moved.

An estimate to read a nest by, not a prediction of time; measurements and the learned model stand
beside it. Data moves between levels (registers, caches, memory). At each level, a line is charged
for the data of a loop if one of the loop's iterations fits into that level and the whole loop does
not need to: what one iteration uses is then still there for the next, so each byte that the loop
touches is brought in once per run of the loop. Arithmetic takes as long as it needs, or as long as
each addition of a sum waits for the one before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from tvmlab.arith import Bounds
from tvmlab.ir import (
    Alloc,
    Block,
    Buffer,
    For,
    If,
    Program,
    Seq,
    Stmt,
    Var,
    child_stmts,
    const_int,
)
from tvmlab.target import Target

from .block_work import operations_of
from .footprint import Access, Box, accesses_of, boxes, merge
from .sum_chain import cycles_of_waiting

# Typical cycles, for weighing one thing against another; nothing here is a promise.
_CYCLES_PER_SCALAR = 0.5
_CYCLES_PER_BYTE = {1: 1 / 32, 2: 1 / 10, 3: 1 / 4}
_DEFAULT_CACHES = ((1, 32 << 10), (2, 1 << 20))
_LINE = 64


@dataclass(frozen=True, slots=True)
class Level:
    """A place that holds data: its size, and cycles per byte that come into it."""

    name: str
    capacity: int
    cycles_per_byte: float
    line: int


@dataclass(frozen=True, slots=True)
class LineCost:
    """What one loop or block costs over the whole run of the program.

    `operations` and `moved` count everything inside; `moved` and `time` are in cycles of a typical
    machine.
    """

    executions: int
    operations: int
    operations_own: int
    moved: float
    moved_own: float
    time: float


@dataclass(slots=True)
class _Line:
    """A loop or block while costs are gathered."""

    stmt: For | Block
    executions: int
    children: list[_Line]
    boxes: dict[Buffer, Box] = field(default_factory=dict[Buffer, Box])
    body_boxes: dict[Buffer, Box] = field(default_factory=dict[Buffer, Box])
    lanes: int = 1
    threads: int = 1
    vector: Var | None = None
    operations: int = 0
    moved_own: float = 0.0
    waiting: float = 0.0


@dataclass(frozen=True, slots=True)
class NestCost:
    """Costs of all lines of a program, and what each touches in one execution."""

    lines: Mapping[Stmt, LineCost]
    boxes: Mapping[Stmt, Mapping[Buffer, Box]]
    levels: tuple[Level, ...]
    traffic: Mapping[str, float]
    """Bytes that come into each level over the whole run, by its name."""

    @property
    def total(self) -> LineCost:
        """The whole program: the sum over its outermost lines."""
        return self.lines[_ROOT]

    def share(self, stmt: Stmt) -> tuple[float, float, float, float, float]:
        """Arithmetic, own arithmetic, movement, own movement and time, as shares of the whole."""
        line, total = self.lines[stmt], self.total
        return (
            _ratio(line.operations, total.operations),
            _ratio(line.operations_own, total.operations),
            _ratio(line.moved, total.moved),
            _ratio(line.moved_own, total.moved),
            _ratio(line.time, total.time),
        )

    def home(self, stmt: Stmt) -> Level | None:
        """The nearest cache that holds all a line touches in one execution; None if none does."""
        for level in self.levels[1:]:
            if sum(box.bytes(level.line) for box in self.boxes[stmt].values()) <= level.capacity:
                return level
        return None


_ROOT = Seq(())  # stands for the whole program in the table of lines
_CACHE: WeakKeyDictionary[Program, tuple[Target, NestCost | None]] = WeakKeyDictionary()


def nest_cost(program: Program, target: Target | None = None) -> NestCost | None:
    """The static cost of a program that still has its blocks; None if sizes are symbolic.

    Kept as long as the program lives, so that asking again for the same machine is free.
    """
    target = target or Target.host()
    known = _CACHE.get(program)
    if known is None or known[0] != target:
        known = _CACHE[program] = (target, _Gatherer(target).cost(program))
    return known[1]


def levels_of(target: Target) -> tuple[Level, ...]:
    """Registers and caches, nearest first."""
    registers = max(target.num_registers * target.vector_bits // 8, 128)
    caches = [(c.level, c.size) for c in target.caches] or list(_DEFAULT_CACHES)
    return (
        Level("registers", registers, _CYCLES_PER_SCALAR / 4, 1),
        *(
            Level(f"L{n}", size, _CYCLES_PER_BYTE.get(n, _CYCLES_PER_BYTE[3]), _LINE)
            for n, size in caches
        ),
    )


def _ratio(part: float, whole: float) -> float:
    return min(1.0, part / whole) if whole else 0.0


class _Gatherer:
    """One pass over a program."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.levels = levels_of(target)
        self.accesses: dict[Block, list[Access]] = {}
        self.traffic: dict[str, float] = {level.name: 0.0 for level in self.levels}

    def cost(self, program: Program) -> NestCost | None:
        extents = _loop_extents(program.body)
        if extents is None:
            return None
        env = Bounds.of(extents)
        roots = [self._line(s, 1, 1, 1, None) for s in _nest_children(program.body)]
        if not all(self._prepare(line, env) for line in roots):
            return None
        for line in roots:
            self._touch(line, [], env)
            for level in self.levels:
                self._charge(line, level)
        result: dict[Stmt, LineCost] = {}
        parts = [self._sum(line, result) for line in roots]
        result[_ROOT] = LineCost(
            1,
            sum(p.operations for p in parts),
            0,
            sum(p.moved for p in parts),
            0.0,
            sum(p.time for p in parts),
        )
        touched: dict[Stmt, Mapping[Buffer, Box]] = {
            line.stmt: line.boxes for root in roots for line in _all_lines(root)
        }
        return NestCost(result, touched, self.levels, self.traffic)

    def _line(
        self, stmt: For | Block, executions: int, lanes: int, threads: int, vector: Var | None
    ) -> _Line:
        if isinstance(stmt, Block):
            return _Line(stmt, executions, [], lanes=lanes, threads=threads, vector=vector)
        extent = const_int(stmt.extent) or 0
        if stmt.kind == "vectorized":
            lanes, vector = self._lanes(extent), stmt.var
        inner_threads = threads
        if stmt.kind == "parallel":
            inner_threads = max(threads, min(extent, self.target.num_threads), 1)
        inside = [
            self._line(s, executions * extent, lanes, inner_threads, vector)
            for s in _nest_children(stmt.body)
        ]
        return _Line(stmt, executions, inside, lanes=lanes, threads=threads)

    def _lanes(self, extent: int) -> int:
        return max(1, min(extent, self.target.lanes(32)))

    def _prepare(self, line: _Line, env: Bounds) -> bool:
        """Fill in arithmetic, accesses and lanes of the blocks; False if a size is symbolic."""
        if isinstance(line.stmt, Block):
            operations = operations_of(line.stmt)
            accesses = accesses_of(line.stmt, env)
            if operations is None or accesses is None:
                return False
            line.operations = operations * line.executions
            self.accesses[line.stmt] = accesses
            if line.vector is not None and any(_apart(a, line.vector) for a in accesses):
                line.lanes = 1  # each lane is fetched by itself
            return True
        known = all([self._prepare(child, env) for child in line.children])
        line.lanes = max((child.lanes for child in line.children), default=1)
        return known

    def _touch(self, line: _Line, around: list[_Line], env: Bounds) -> None:
        """Add the boxes of each block to the lines around it."""
        if isinstance(line.stmt, Block):
            inner: dict[Var, int] = {}
            accesses = self.accesses[line.stmt]
            line.boxes = line.body_boxes = boxes(accesses, inner, env)
            loops = [outer.stmt for outer in around if isinstance(outer.stmt, For)]
            wait = cycles_of_waiting(line.stmt, accesses, loops, line.vector, line.lanes)
            line.waiting = wait * line.executions
            held: Mapping[Buffer, Box] = line.boxes
            for outer in reversed(around):
                assert isinstance(outer.stmt, For)
                outer.body_boxes = merge((outer.body_boxes, held))
                inner[outer.stmt.var] = const_int(outer.stmt.extent) or 0
                held = boxes(accesses, inner, env)
                outer.boxes = merge((outer.boxes, held))
            return
        for child in line.children:
            self._touch(child, [*around, line], env)

    def _charge(self, line: _Line, level: Level) -> None:
        """Charge the outermost lines whose one iteration fits into a level with what they touch."""
        registers = level.line == 1
        fits = sum(b.bytes(level.line) for b in line.body_boxes.values()) <= level.capacity
        if registers and not all(_written_out(child) for child in line.children):
            fits = False
        if not fits and line.children:
            for child in line.children:
                self._charge(child, level)
            return
        moved = line.executions * sum(b.bytes(level.line) for b in line.boxes.values())
        # A vector instruction moves all its lanes at once; between caches, lines move anyway.
        rate = level.cycles_per_byte / (line.lanes if registers else 1)
        line.moved_own += moved * rate
        self.traffic[level.name] += moved

    def _sum(self, line: _Line, result: dict[Stmt, LineCost]) -> LineCost:
        inside = [self._sum(child, result) for child in line.children]
        arithmetic = max(line.operations * _CYCLES_PER_SCALAR / line.lanes, line.waiting)
        own_time = (arithmetic + line.moved_own) / line.threads
        cost = LineCost(
            line.executions,
            line.operations + sum(c.operations for c in inside),
            line.operations,
            line.moved_own + sum(c.moved for c in inside),
            line.moved_own,
            own_time + sum(c.time for c in inside),
        )
        result[line.stmt] = cost
        return cost


def _apart(access: Access, vector: Var) -> bool:
    """Whether neighboring lanes of a vector touch elements that are no neighbors in memory."""
    if not access.indices:
        return False
    *outer, last = (index.terms for index in access.indices)
    return any(vector in terms for terms in outer) or last.get(vector, 1) != 1


def _written_out(line: _Line) -> bool:
    """Whether nothing inside loops at run time, so that registers can hold its data."""
    if isinstance(line.stmt, Block):
        return True
    return line.stmt.kind in ("unrolled", "vectorized") and all(
        _written_out(child) for child in line.children
    )


def _all_lines(line: _Line) -> Iterator[_Line]:
    yield line
    for child in line.children:
        yield from _all_lines(child)


def _nest_children(stmt: Stmt) -> Iterator[For | Block]:
    """The loops and blocks directly inside a statement."""
    for child in child_stmts(stmt):
        if isinstance(child, (For, Block)):
            yield child
        elif isinstance(child, Alloc):
            yield from _nest_children(child.body)
        elif isinstance(child, If):
            yield from _nest_children(child.then)
            if child.otherwise is not None:
                yield from _nest_children(child.otherwise)


def _loop_extents(body: Stmt) -> dict[Var, int] | None:
    """The extents of all loops around blocks; None if one is known only at run time."""
    found: dict[Var, int] = {}
    stack = list(_nest_children(body))
    while stack:
        stmt = stack.pop()
        if isinstance(stmt, For):
            extent = const_int(stmt.extent)
            if extent is None:
                return None
            found[stmt.var] = extent
            stack.extend(_nest_children(stmt.body))
    return found
