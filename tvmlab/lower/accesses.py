"""Every load and store below a statement, with what stands around it.

What `place_allocations` and `compact_buffers` decide from. Inside a block, iteration variables are
replaced by their bindings, so all indices are in terms of loops.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast
from weakref import WeakKeyDictionary

from tvmlab.arith import Bounds, Interval, bound_of
from tvmlab.ir import (
    Alloc,
    Barrier,
    Binary,
    Block,
    Buffer,
    Const,
    Evaluate,
    Expr,
    For,
    If,
    Invoke,
    Let,
    Load,
    Logic,
    Node,
    Not,
    Operand,
    Select,
    Seq,
    Stmt,
    Store,
    Stride,
    Var,
    accessed_buffer,
    children,
    conjuncts,
    const_int,
    eq,
    is_const,
    seq,
    substitute,
    walk,
)

Part: TypeAlias = Literal["plain", "init", "body"]


@dataclass(frozen=True, slots=True)
class Access:
    """One load or store, or one part of a buffer that a call reads or writes.

    Attributes
    ----------
    loops
        The loops around it, outermost first, those inside the block's body included. A part is
        written as one element under loops of its own, which run over the part.
    conditions
        What holds where it is executed; the conditions of loops are not repeated.
    order
        Statements are numbered in program order; a store comes after the loads of its value.
    block, part
        The block it belongs to, if any, and whether it stands in the init or the body.
    """

    buffer: Buffer
    indices: tuple[Expr, ...]
    is_store: bool
    loops: tuple[For, ...]
    conditions: tuple[Expr, ...]
    order: int
    block: Block | None = None
    part: Part = "plain"


def accesses_in(stmt: Stmt) -> list[Access]:
    """All accesses below a statement, in program order."""
    collector = _Collector()
    collector.visit(stmt, _Place())
    return collector.found


def accesses_of(stmt: Stmt, buffer: Buffer) -> list[Access]:
    """The accesses to one buffer below a statement."""
    collector = _Collector(buffer)
    collector.visit(stmt, _Place())
    return [a for a in collector.found if a.buffer is buffer]


def nodes_of(stmt: Stmt, buffer: Buffer) -> Iterator[Node]:
    """The loads, stores and parts handed to calls below a statement that concern a buffer."""
    stack: list[Node] = [stmt]
    while stack:
        node = stack.pop()
        if isinstance(node, Stmt) and buffer not in touched_buffers(node):
            continue
        if isinstance(node, Expr):
            yield from (n for n in walk(node) if accessed_buffer(n) is buffer)
            continue
        if accessed_buffer(node) is buffer:
            yield node
        stack.extend(reversed(list(children(node))))


def touches(node: Node, buffer: Buffer) -> bool:
    """Whether a buffer is read or written below a node."""
    return buffer in touched_buffers(node)


def touched_buffers(node: Node) -> frozenset[Buffer]:
    """The buffers that are read or written below a node; statements remember theirs."""
    if not isinstance(node, Stmt):
        found: set[Buffer] = set()
        _note(node, found)
        return frozenset(found)
    known = _TOUCHED.get(node)
    if known is None:
        found = set()
        if isinstance(node, Store):
            reads = reads_of(node)
            found.update((node.buffer, *(load.buffer for load in reads.loads), *reads.asked))
        else:
            for child in children(node):
                if isinstance(child, Stmt):
                    found |= touched_buffers(child)
                else:
                    _note(child, found)
        known = _TOUCHED[node] = frozenset(found)
    return known


_TOUCHED: WeakKeyDictionary[Stmt, frozenset[Buffer]] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class Reads:
    """What a store's formulas read: `asked` are buffers whose strides they name.

    `sure` says that all of it is read whenever the store runs.
    """

    loads: tuple[Load, ...]
    asked: tuple[Buffer, ...]
    sure: bool


def reads_of(store: Store) -> Reads:
    """What the formulas of a store read, in order; stores remember theirs."""
    known = _READS.get(store)
    if known is None:
        loads: list[Load] = []
        asked: list[Buffer] = []
        sure = True
        for node in walk(store):
            kind = type(node)
            if kind is Load:
                loads.append(cast(Load, node))
            elif kind is Select or kind is Logic:
                sure = False
            elif kind is Stride:
                asked.append(cast(Stride, node).buffer)
        known = _READS[store] = Reads(tuple(loads), tuple(asked), sure)
    return known


_READS: WeakKeyDictionary[Store, Reads] = WeakKeyDictionary()


def _note(node: Node, found: set[Buffer]) -> None:
    """Add the buffers that are touched below what is no statement."""
    stack, seen = [node], set[int]()
    while stack:
        current = stack.pop()
        kind = type(current)
        if kind is Var or kind is Const:
            continue
        if id(current) in seen:
            continue
        seen.add(id(current))
        if type(current) is Binary:  # Written out: most nodes are such, or loads.
            stack += (current.a, current.b)
            continue
        if isinstance(current, Load):
            found.add(current.buffer)
            stack += current.indices
            if current.mask is not None:
                stack.append(current.mask)
            continue
        if isinstance(current, Stride):
            found.add(current.buffer)
        elif isinstance(current, Operand):
            found.add(current.region.buffer)
        stack += children(current)


def loop_intervals(loops: Sequence[For], env: Bounds) -> dict[Var, Interval]:
    """The values that loop variables take, extents taken at their largest."""
    found: dict[Var, Interval] = {}
    for loop in loops:
        most = const_int(loop.extent)
        if most is None:
            most = bound_of(loop.extent, env.bind_all(found)).hi
        found[loop.var] = Interval(0, None if most is None else max(most - 1, 0))
    return found


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the collector is: what stands around the current statement."""

    loops: tuple[For, ...] = ()
    conditions: tuple[Expr, ...] = ()
    values: tuple[tuple[Var, Expr], ...] = ()
    block: Block | None = None
    part: Part = "plain"

    def inside(self, loop: For) -> _Place:
        return _Place((*self.loops, loop), self.conditions, self.values, self.block, self.part)

    def where(self, condition: Expr) -> _Place:
        parts = tuple(conjuncts(self.plain(condition)))
        return _Place(self.loops, (*self.conditions, *parts), self.values, self.block, self.part)

    def let(self, var: Var, value: Expr) -> _Place:
        """Inside a name for a whole number, which may stand in indices."""
        if not value.dtype.is_int or value.dtype.lanes != 1:
            return self
        values = (*self.values, (var, self.plain(value)))
        return _Place(self.loops, self.conditions, values, self.block, self.part)

    def plain(self, e: Expr) -> Expr:
        """The expression in terms of loops."""
        return substitute(e, dict(self.values)) if self.values else e


class _Collector:
    """Collects accesses; with `only`, what does not concern that buffer is not looked at."""

    def __init__(self, only: Buffer | None = None) -> None:
        self.found: list[Access] = []
        self._only = only
        self._order = 0

    def visit(self, stmt: Stmt, place: _Place) -> None:
        if self._only is None or self._only in touched_buffers(stmt):
            self._visit(stmt, place)

    def _visit(self, stmt: Stmt, place: _Place) -> None:
        match stmt:
            case Store():
                self._store(stmt, place)
            case Evaluate():
                self._loads(stmt.value, place)
                self._order += 1
            case Let():
                self._loads(stmt.value, place)
                self._order += 1
                self.visit(stmt.body, place.let(stmt.var, stmt.value))
            case Invoke():
                self._invoke(stmt, place)
            case Barrier():
                pass
            case Seq():
                for child in stmt.stmts:
                    self.visit(child, place)
            case If():
                self._if(stmt, place)
            case For():
                self._loads(stmt.extent, place)
                self.visit(stmt.body, place.inside(stmt))
            case Alloc():
                self.visit(stmt.body, place)
            case Block():
                self._block(stmt, place)
            case _:
                raise AssertionError(f"{type(stmt).__name__} is no statement")

    def _store(self, stmt: Store, place: _Place) -> None:
        for index in stmt.indices:
            self._loads(index, place)
        self._loads(stmt.value, place)
        if stmt.mask is not None:
            self._loads(stmt.mask, place)
            place = place.where(stmt.mask)
        self._add(stmt, True, place)
        self._order += 1

    def _invoke(self, stmt: Invoke, place: _Place) -> None:
        for arg in stmt.args:
            for e in _operand_exprs(arg) if isinstance(arg, Operand) else (arg,):
                self._loads(e, place)
        parts = [arg for arg in stmt.args if isinstance(arg, Operand)]
        for part in parts:
            if part.access in ("read", "update", "address"):
                self._part(part, False, place)
        for part in parts:
            if part.access in ("write", "update"):
                self._part(part, True, place)
        self._order += 1

    def _part(self, operand: Operand, is_store: bool, place: _Place) -> None:
        region = operand.region
        indices: list[Expr] = []
        for low, extent in zip(region.mins, region.extents, strict=True):
            if is_const(extent, 1):
                indices.append(low)
                continue
            step = Var("step", extent.dtype)
            place = place.inside(For(step, place.plain(extent), seq([])))
            indices.append(low + step)
        self._add(Load(region.buffer, tuple(indices)), is_store, place)

    def _if(self, stmt: If, place: _Place) -> None:
        self._loads(stmt.cond, place)
        self._order += 1
        self.visit(stmt.then, place.where(stmt.cond))
        if stmt.otherwise is not None:
            self.visit(stmt.otherwise, place.where(Not(stmt.cond)))

    def _block(self, stmt: Block, place: _Place) -> None:
        for binding in stmt.bindings:
            self._loads(binding, place)
        around = place.where(stmt.predicate)
        plain = [place.plain(binding) for binding in stmt.bindings]
        values = (
            *place.values,
            *((it.var, value) for it, value in zip(stmt.iters, plain, strict=True)),
        )
        if stmt.init is not None:
            zeros = [
                eq(value, 0)
                for it, value in zip(stmt.iters, plain, strict=True)
                if it.kind == "reduce"
            ]
            conditions = (*around.conditions, *zeros)
            self.visit(stmt.init, _Place(place.loops, conditions, values, stmt, "init"))
        self.visit(stmt.body, _Place(place.loops, around.conditions, values, stmt, "body"))

    def _loads(self, e: Expr, place: _Place) -> None:
        for current in walk(e):
            if isinstance(current, Load):
                self._add(current, False, place)

    def _add(self, node: Load | Store, is_store: bool, place: _Place) -> None:
        indices = tuple(place.plain(index) for index in node.indices)
        found = Access(
            node.buffer,
            indices,
            is_store,
            place.loops,
            place.conditions,
            self._order,
            place.block,
            place.part,
        )
        self.found.append(found)


def _operand_exprs(operand: Operand) -> tuple[Expr, ...]:
    region = operand.region
    return (*region.mins, *region.extents, *operand.shape, *operand.strides)
