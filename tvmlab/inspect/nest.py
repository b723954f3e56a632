"""The loop nest as a list of lines with their costs: what the explorer's center shows.

>>> for row in nest_report(schedule).rows:
...     print("  " * row.depth, row.name, row.kind, row.cost.time)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from tvmlab.ir import (
    GRID_TAGS,
    Alloc,
    Barrier,
    Block,
    Buffer,
    For,
    If,
    Invoke,
    Let,
    Names,
    Program,
    Stmt,
    Var,
    child_stmts,
    const_int,
    to_text,
    walk,
)
from tvmlab.schedule import ProgramIndex, Schedule, index_of
from tvmlab.target import Target

from .block_text import Part, block_formula, parts_of
from .cost import NestCost, nest_cost
from .footprint import Box, merge
from .marks import marks_of
from .provenance import Origin, origins, split_remark
from .symbols import Symbol, SymbolIds
from .wording import shape

RowType = Literal["loop", "block", "buffer", "statement"]


@dataclass(frozen=True, slots=True)
class Cost:
    """Estimated shares of the whole program, 0 to 1; 'own' leaves out what inner lines cost."""

    compute: float
    compute_own: float
    moved: float
    moved_own: float
    time: float


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the loop nest; the fields are those of the protocol's `Row`."""

    id: str
    parent: str | None
    depth: int
    type: RowType
    kind: str
    reduction: bool
    name: str
    extent: int | None
    text: str
    note: str | None
    scope: str | None
    bytes: int | None
    cost: Cost | None
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NestReport:
    """All lines of a loop nest, outermost first."""

    name: str
    rows: tuple[Row, ...]

    @property
    def loops(self) -> int:
        return sum(row.type == "loop" for row in self.rows)

    @property
    def blocks(self) -> int:
        return sum(row.type == "block" for row in self.rows)


def nest_report(
    source: Schedule | Program, *, ids: SymbolIds | None = None, target: Target | None = None
) -> NestReport:
    """The lines of a schedule's current program, or of a program.

    Parameters
    ----------
    source
        A schedule also tells where its loops come from, such as the rest that a split left.
    ids
        The ids to use, so that lines keep theirs from report to report.
    """
    program = source if isinstance(source, Program) else source.program
    made = {} if isinstance(source, Program) else origins(source.history)
    target = target or Target.host()
    cost = nest_cost(program, target)
    writer = _Writer(program, ids or SymbolIds(), target, cost, made)
    return NestReport(program.name, tuple(writer.rows()))


def reduction_loops(index: ProgramIndex) -> set[Var]:
    """Loops whose iterations add into one result."""
    return {
        node
        for block in index.blocks.values()
        for it, binding in zip(block.iters, block.bindings, strict=True)
        if it.kind == "reduce"
        for node in walk(binding)
        if isinstance(node, Var)
    }


class _Writer:
    """Writes the rows of one program."""

    def __init__(
        self,
        program: Program,
        ids: SymbolIds,
        target: Target,
        cost: NestCost | None,
        made: Mapping[Symbol, Origin],
    ) -> None:
        self.program = program
        self.ids = ids
        self.target = target
        self.cost = cost
        self.made = made
        self.index = index_of(program)
        self.names = Names(program)
        self.reductions = reduction_loops(self.index)
        self.buffers = self._places()
        self.parts = 0
        self._touched: dict[int, dict[Buffer, Box]] = {}  # by the place, which the program keeps

    def rows(self) -> Iterator[Row]:
        yield from self._inside(None, self.program.body, None, 0)

    def _places(self) -> dict[For | None, list[Buffer]]:
        """Each intermediate buffer, by the innermost loop that encloses all its uses."""
        places: dict[For | None, list[Buffer]] = {}
        for buffer in self.program.allocs:
            users = [*self.index.writers.get(buffer, []), *self.index.readers.get(buffer, [])]
            common = self.index.common_loops(*users) if users else []
            places.setdefault(common[-1] if common else None, []).append(buffer)
        return places

    def _inside(
        self, loop: For | None, body: Stmt, parent: str | None, depth: int
    ) -> Iterator[Row]:
        for buffer in self.buffers.get(loop, []):
            yield self._buffer(buffer, body, parent, depth)
        yield from self._children(body, parent, depth)

    def _children(self, stmt: Stmt, parent: str | None, depth: int) -> Iterator[Row]:
        for child in child_stmts(stmt):
            match child:
                case For():
                    row = self._loop(child, parent, depth)
                    yield row
                    yield from self._inside(child, child.body, row.id, depth + 1)
                case Block():
                    row = self._block(child, parent, depth)
                    yield row
                    for part in parts_of(child.body, self.names):
                        yield self._part(part, row.id, depth + 1)
                case Alloc():
                    yield self._buffer(child.buffer, child.body, parent, depth)
                    yield from self._children(child.body, parent, depth)
                case If():
                    yield from self._children(child.then, parent, depth)
                    if child.otherwise is not None:
                        yield from self._children(child.otherwise, parent, depth)
                case Let():
                    part = next(parts_of(child, self.names))
                    yield self._part(part, parent, depth)
                    yield from self._children(child.body, parent, depth)
                case Invoke() | Barrier():
                    for part in parts_of(child, self.names):
                        yield self._part(part, parent, depth)
                case _:
                    pass

    def _part(self, part: Part, parent: str | None, depth: int) -> Row:
        """A statement; its id is that of the line around it, with a number."""
        self.parts += 1
        return Row(
            id=f"{parent or 'P'}.{self.parts}",
            parent=parent,
            depth=depth,
            type="statement",
            kind=part.kind,
            reduction=False,
            name=part.name,
            extent=None,
            text=part.text,
            note=None,
            scope=None,
            bytes=None,
            cost=None,
        )

    def _loop(self, loop: For, parent: str | None, depth: int) -> Row:
        return Row(
            id=self.ids.of(loop.var),
            parent=parent,
            depth=depth,
            type="loop",
            kind="grid" if loop.thread in GRID_TAGS else loop.kind,
            reduction=loop.var in self.reductions,
            name=self.names[loop.var],
            extent=const_int(loop.extent),
            text="" if const_int(loop.extent) is not None else to_text(loop.extent),
            note=self._loop_note(loop),
            scope=None,
            bytes=None,
            cost=self._cost(loop),
            marks=marks_of(loop.annotations),
        )

    def _loop_note(self, loop: For) -> str | None:
        if loop.kind in ("thread", "virtual"):
            return loop.thread or "interleaved"
        rest = split_remark(loop, self.made.get(loop.var))
        extent, lanes = const_int(loop.extent), self.target.lanes(32)
        if rest is None and loop.kind == "vectorized" and extent and lanes > 1:
            whole, left = divmod(extent, lanes)
            tail = f" + {left}" if left and whole else ""
            return f"{whole} × {lanes} lanes{tail}" if whole else f"{left} of {lanes} lanes"
        return rest

    def _block(self, block: Block, parent: str | None, depth: int) -> Row:
        name, formula = self.names[block.symbol], block_formula(block, self.names)
        text = formula.removeprefix(name)
        return Row(
            id=self.ids.of(block.symbol),
            parent=parent,
            depth=depth,
            type="block",
            kind="block",
            reduction=False,
            name=name,
            extent=None,
            text=text if text.startswith("[") else f": {formula}",
            note=None,
            scope=None,
            bytes=None,
            cost=self._cost(block),
            marks=marks_of(block.annotations),
        )

    def _buffer(self, buffer: Buffer, body: Stmt, parent: str | None, depth: int) -> Row:
        extents = self._window(buffer, body) or buffer.const_shape
        sizes = [to_text(s) for s in buffer.shape] if extents is None else list(extents)
        nbytes = None
        if extents is not None:
            nbytes = buffer.dtype.bits // 8
            for extent in extents:
                nbytes *= extent
        return Row(
            id=self.ids.of(buffer),
            parent=parent,
            depth=depth,
            type="buffer",
            kind="buffer",
            reduction=False,
            name=self.names[buffer],
            extent=None,
            text=shape(sizes, buffer.dtype),
            note=None,
            scope=buffer.scope,
            bytes=nbytes,
            cost=None,
        )

    def _window(self, buffer: Buffer, body: Stmt) -> tuple[int, ...] | None:
        """The part of an intermediate that is alive at once at its place."""
        if self.cost is None:
            return None
        touched = self._touched.get(id(body))
        if touched is None:
            parts = (self.cost.boxes[s] for s in child_stmts(body) if isinstance(s, (For, Block)))
            touched = self._touched[id(body)] = merge(parts)
        box = touched.get(buffer)
        return None if box is None else box.extents

    def _cost(self, stmt: For | Block) -> Cost | None:
        return None if self.cost is None else Cost(*self.cost.share(stmt))
