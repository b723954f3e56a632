"""Every access of a block in terms of the loops around it, with the conditions under which it is.

with block("C", vi=spatial(16, i), vk=reduce(8, k)):      C[i] written where k == 0   (init)
where(i < 14)                                   ->    C[i] read and written        (a sum)
with init(): C[vi] = 0                                A[i, k] read
C[vi] = C[vi] + A[vi, vk]                             all where i < 14
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from tvmlab.arith import polyhedral
from tvmlab.ir import (
    Alloc,
    Block,
    Buffer,
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
    Stmt,
    Store,
    Var,
    child_stmts,
    children,
    conjuncts,
    eq,
    substitute,
    walk,
)

from .index import ProgramIndex
from .kinds import reducer_of, same_place

Loops = tuple[tuple[Var, Expr], ...]


@dataclass(frozen=True, slots=True, eq=False)
class BlockAccess:
    """One access of a block.

    Attributes
    ----------
    outer
        The loops around the block; `access.loops` has those inside its body as well.
    sum
        What joins updates whose order is free: accesses with equal ones belong to such updates.
    """

    block: Block
    access: polyhedral.Access
    writes: bool
    outer: frozenset[Var]
    sum: Hashable = None


def block_accesses(index: ProgramIndex, block: Block) -> list[BlockAccess]:
    """The accesses of a block to buffers that live longer than one of its iterations.

    Those of a block in the same loops are the same objects, whichever program it stands in: what
    was found out about them holds after a step that leaves these alone.
    """
    return _collected(block, tuple((lp.var, lp.extent) for lp in index.loops_around(block)))


@lru_cache(maxsize=512)
def _collected(block: Block, loops: Loops) -> list[BlockAccess]:
    return _Collector(block, loops).collect()


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the collector is: loops and conditions around, and what variables stand for."""

    loops: Loops
    conditions: tuple[Expr, ...]
    values: Mapping[Var, Expr]

    def where(self, condition: Expr) -> _Place:
        return _Place(
            self.loops, (*self.conditions, substitute(condition, self.values)), self.values
        )

    def inside(self, var: Var, extent: Expr) -> _Place:
        loop = (var, substitute(extent, self.values))
        return _Place((*self.loops, loop), self.conditions, self.values)

    def knowing(self, values: Mapping[Var, Expr]) -> _Place:
        new = {var: substitute(value, self.values) for var, value in values.items()}
        return _Place(self.loops, self.conditions, {**self.values, **new})


class _Collector:
    def __init__(self, block: Block, loops: Loops) -> None:
        self.loops = loops
        self.block = block
        self.found: list[BlockAccess] = []
        self.inner_buffers: set[Buffer] = set()
        self.outer = frozenset(var for var, _ in loops)
        self.sum: Hashable = None
        self.stores = [s for s in walk(block.body) if isinstance(s, Store)]

    def collect(self) -> list[BlockAccess]:
        whole = _Place(self.loops, tuple(conjuncts(self.block.predicate)), {})
        self._block(self.block, whole)
        return self.found

    def _block(self, block: Block, around: _Place) -> None:
        values = dict(zip((it.var for it in block.iters), block.bindings, strict=True))
        place = around.knowing(values)
        for condition in conjuncts(block.predicate) if block is not self.block else ():
            place = place.where(condition)
        if block.init is not None:
            start = place
            for it in block.iters:
                if it.kind == "reduce":
                    start = start.where(eq(it.var, 0))
            self._stmt(block.init, start)
        self.sum = reducer_of(block)
        self._stmt(block.body, place)
        self.sum = None

    def _stmt(self, s: Stmt, place: _Place) -> None:
        if isinstance(s, For):
            self._expr(s.extent, place)
            self._stmt(s.body, place.inside(s.var, s.extent))
        elif isinstance(s, If):
            self._expr(s.cond, place)
            self._stmt(s.then, place.where(s.cond))
            if s.otherwise is not None:
                self._stmt(s.otherwise, place.where(Not(s.cond)))
        elif isinstance(s, Block):
            self._block(s, place)
        elif isinstance(s, Let):
            self._expr(s.value, place)
            self._stmt(s.body, place.knowing({s.var: s.value}))
        elif isinstance(s, Alloc):
            self.inner_buffers.add(s.buffer)
            self._stmt(s.body, place)
        elif isinstance(s, Invoke):
            self._invoke(s, place)
        elif isinstance(s, Store):
            self._store(s, place)
        else:
            self._other(s, place)

    def _other(self, s: Stmt, place: _Place) -> None:
        members = child_stmts(s)
        for child in members if members != (s,) else children(s):
            if isinstance(child, Stmt):
                self._stmt(child, place)
            elif isinstance(child, Expr):
                self._expr(child, place)

    def _store(self, s: Store, place: _Place) -> None:
        for e in (*s.indices, s.value, *(() if s.mask is None else (s.mask,))):
            self._expr(e, place)
        self._add(s.buffer, s.indices, place, writes=True, own=True)

    def _expr(self, e: Node, place: _Place) -> None:
        if isinstance(e, Select):
            # The branch not taken is not evaluated, so it reads nothing there.
            self._expr(e.cond, place)
            self._expr(e.then, place.where(e.cond))
            self._expr(e.otherwise, place.where(Not(e.cond)))
            return
        if isinstance(e, Logic):
            self._expr(e.a, place)
            self._expr(e.b, place.where(e.a if e.op == "and" else Not(e.a)))
            return
        if isinstance(e, Load):
            self._add(e.buffer, e.indices, place, writes=False, own=self._is_own(e))
        for child in children(e):
            self._expr(child, place)

    def _is_own(self, load: Load) -> bool:
        return any(
            s.buffer is load.buffer and same_place(s.indices, load.indices) for s in self.stores
        )

    def _invoke(self, s: Invoke, place: _Place) -> None:
        for argument in s.args:
            if not isinstance(argument, Operand):
                self._expr(argument, place)
            elif argument.access != "address":
                self._operand(argument, place)

    def _operand(self, operand: Operand, place: _Place) -> None:
        region = operand.region
        steps = [Var("step") for _ in region.mins]
        inside = place
        for step, extent in zip(steps, region.extents, strict=True):
            inside = inside.inside(step, extent)
        indices = tuple(m + step for m, step in zip(region.mins, steps, strict=True))
        for writes in {"read": (False,), "write": (True,)}.get(operand.access, (False, True)):
            self._add(region.buffer, indices, inside, writes=writes, own=False)

    def _add(
        self, buffer: Buffer, indices: tuple[Expr, ...], place: _Place, *, writes: bool, own: bool
    ) -> None:
        if buffer in self.inner_buffers:
            return
        access = polyhedral.Access(
            buffer,
            tuple(substitute(i, place.values) for i in indices),
            place.loops,
            place.conditions,
        )
        group = self.sum if own else None
        self.found.append(BlockAccess(self.block, access, writes, self.outer, group))
