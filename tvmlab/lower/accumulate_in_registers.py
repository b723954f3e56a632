"""Keep what a loop updates again and again in registers while the loop runs.

    for k in range(64):                         R[0] = C[i]
        C[i] = C[i] + A[i, k]          ->       for k in range(64):
                                                    R[0] = R[0] + A[i, k]
                                                C[i] = R[0]

So a reduction that writes its output directly is as fast as one that was staged with `cache_write`.
Only elements that each round of the loop touches unconditionally, at an address that the loop does
not change, are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any
from weakref import WeakKeyDictionary

from tvmlab.arith import Bounds, linear_form
from tvmlab.ir import (
    Alloc,
    Barrier,
    Binary,
    Buffer,
    Const,
    Expr,
    For,
    If,
    Invoke,
    Let,
    Load,
    Logic,
    Node,
    Operand,
    Program,
    Ramp,
    Select,
    Stmt,
    Store,
    Var,
    children,
    const,
    const_int,
    loads_of,
    map_children,
    seq,
    structural_key,
    transform,
    uses_var,
    walk,
    with_body,
)

from .accesses import reads_of, touched_buffers

_MAX_KEPT = 64
"""With more values than this the machine's registers would overflow anyway."""


def accumulate_in_registers(program: Program) -> Program:
    """Load elements that a serial loop updates before it, and store them after it.

    Expects flat buffers. A buffer is taken as a whole or not at all: all its accesses in the loop
    must be at unconditional, unchanging places that surely differ or surely agree.
    """
    return with_body(program, _visit(program.body))


def _visit(node: Any) -> Any:
    if not isinstance(node, Stmt):
        return node
    if isinstance(node, For) and node.kind == "serial" and const_int(node.extent) not in (0, 1):
        return _rewrite(node, _candidates(node))
    return map_children(node, _visit)


@dataclass(slots=True)
class _Place:
    """One run of elements that a loop updates, and the register for it."""

    index: Expr
    mask: Expr | None
    register: Buffer
    is_read_first: bool
    is_written: bool = False


@dataclass(slots=True)
class _Accumulator:
    """All accesses of a loop to one buffer."""

    buffer: Buffer
    loads: int = 0
    stores: int = 0
    refused: bool = False
    places: dict[tuple[Any, ...], _Place] = field(default_factory=dict[Any, _Place])
    # With each key an access that has it: what is kept alive keeps its `id`.
    _keys: dict[tuple[int, int], tuple[tuple[Any, ...], Load | Store]] = field(
        default_factory=dict[Any, Any]
    )

    def note(self, access: Load | Store, variables: frozenset[Var], sure: bool) -> None:
        """Take an access into account."""
        is_store = isinstance(access, Store)
        self.stores += is_store
        self.loads += not is_store
        index = access.indices[0]
        if self.refused:
            return
        if not sure or not _is_steady(index, variables) or not _is_run(index):
            self.refused = True
            return
        if access.mask is not None and not _is_steady(access.mask, variables):
            self.refused = True
            return
        key = self.key(access)
        place = self.places.get(key)
        if place is None:
            lanes = index.dtype.lanes
            name = f"{self.buffer.name}_sum"
            register = Buffer(name, (const(lanes),), self.buffer.dtype, "register")
            place = self.places[key] = _Place(index, access.mask, register, not is_store)
        place.is_written |= is_store

    def key(self, access: Load | Store) -> tuple[Any, ...]:
        """What accesses to one place have in common.

        Accesses often share their index, and each is met twice: it is looked at once.
        """
        index, mask = access.indices[0], access.mask
        known = self._keys.get((id(index), id(mask)))
        if known is None:
            key = structural_key(index), None if mask is None else structural_key(mask)
            known = self._keys[id(index), id(mask)] = (key, access)
        return known[0]

    def is_valid(self) -> bool:
        """Whether the loop may work on registers instead of this buffer."""
        useful = self.loads > 0 and self.stores > 0 and len(self.places) <= _MAX_KEPT
        return useful and not self.refused and _are_apart(list(self.places.values()))


def _is_steady(e: Expr, variables: frozenset[Var]) -> bool:
    return not uses_var(e, variables) and not loads_of(e)


def _is_run(index: Expr) -> bool:
    return index.dtype.lanes == 1 or (isinstance(index, Ramp) and const_int(index.stride) == 1)


def _are_apart(places: Sequence[_Place]) -> bool:
    """Whether no two places overlap, as far as constant distances tell."""
    env = Bounds()
    runs: list[tuple[int, int]] = []
    first = None
    for place in places:
        index = place.index
        form = linear_form(index.base if isinstance(index, Ramp) else index, env)
        first = form if first is None else first
        distance = form.minus(first)
        if not distance.is_const:
            return False
        runs.append((distance.const, index.dtype.lanes))
    runs.sort()
    return all(a + n <= b for (a, n), (b, _) in pairwise(runs))


def _candidates(loop: For) -> list[_Accumulator]:
    """What the loop does to each buffer that comes from outside of it.

    Where threads wait for each other, others may look at what is not their own in between.
    """
    updated = updated_buffers(loop.body)
    if not updated:
        return []
    scan = _Scan(updated)
    scan.visit(loop.body, frozenset((loop.var,)), True)
    found = [a for b, a in scan.found.items() if b not in scan.local and a.is_valid()]
    if found and any(isinstance(n, Barrier) for n in walk(loop.body)):
        return [a for a in found if a.buffer.scope == "local"]
    return found


def updated_buffers(stmt: Stmt) -> frozenset[Buffer]:
    """The buffers in memory that are both read and written below a statement."""
    loaded, stored = _reads_and_writes(stmt)
    return frozenset(b for b in loaded & stored if b.scope != "register")


def _reads_and_writes(stmt: Stmt) -> tuple[frozenset[Buffer], frozenset[Buffer]]:
    if isinstance(stmt, Store):
        return frozenset(load.buffer for load in reads_of(stmt).loads), frozenset({stmt.buffer})
    known = _KNOWN.get(stmt)
    if known is None:
        loaded: set[Buffer] = set()
        stored: set[Buffer] = set()
        for child in children(stmt):
            if isinstance(child, Stmt):
                reads, writes = _reads_and_writes(child)
                loaded |= reads
                stored |= writes
            else:
                loaded |= touched_buffers(child)
        if isinstance(stmt, Invoke):
            stored |= loaded
        known = _KNOWN[stmt] = frozenset(loaded), frozenset(stored)
    return known


_KNOWN: WeakKeyDictionary[Stmt, tuple[frozenset[Buffer], frozenset[Buffer]]] = WeakKeyDictionary()


class _Scan:
    """Collects accesses in order of execution: the loads of a store come before it.

    Only some buffers matter, and no longer once they are refused.
    """

    def __init__(self, wanted: frozenset[Buffer]) -> None:
        self.found: dict[Buffer, _Accumulator] = {}
        self._open = set(wanted)
        self.local: set[Buffer] = set()

    def visit(self, node: Node, variables: frozenset[Var], sure: bool) -> None:
        """Visit what is below a node; `sure` says that each round of the loop gets there."""
        if isinstance(node, (Const, Var)):
            return  # Half of all nodes.
        if type(node) is Binary:  # Most of the others.
            self.visit(node.a, variables, sure)
            self.visit(node.b, variables, sure)
            return
        if isinstance(node, Stmt) and self._open.isdisjoint(touched_buffers(node)):
            return
        if isinstance(node, Store) and reads_of(node).sure:
            for access in (*reads_of(node).loads, node):
                self._note(access, variables, sure)
        elif isinstance(node, For):
            self.visit(node.extent, variables, sure)
            runs = node.kind == "serial" and (const_int(node.extent) or 0) > 0
            self.visit(node.body, variables | {node.var}, sure and runs)
        elif isinstance(node, (If, Select, Logic)):
            first, *others = children(node)
            self.visit(first, variables, sure)
            for branch in others:
                self.visit(branch, variables, False)
        elif isinstance(node, Let):
            self.visit(node.value, variables, sure)
            self.visit(node.body, variables | {node.var}, sure)
        else:
            self._visit_below(node, variables, sure)

    def _visit_below(self, node: Node, variables: frozenset[Var], sure: bool) -> None:
        if isinstance(node, Operand):
            self._refuse(node.region.buffer)
        if isinstance(node, Alloc):
            self.local.add(node.buffer)
            self._refuse(node.buffer)
        for child in children(node):
            self.visit(child, variables, sure)
        if isinstance(node, (Load, Store)):
            self._note(node, variables, sure)

    def _note(self, access: Load | Store, variables: frozenset[Var], sure: bool) -> None:
        if access.buffer not in self._open:
            return
        known = self.found.setdefault(access.buffer, _Accumulator(access.buffer))
        known.note(access, variables, sure)
        if known.refused:
            self._open.discard(access.buffer)

    def _refuse(self, buffer: Buffer) -> None:
        if buffer in self._open:
            self.found.setdefault(buffer, _Accumulator(buffer)).refused = True
            self._open.discard(buffer)


def _rewrite(loop: For, kept: Sequence[_Accumulator]) -> Stmt:
    if not kept:
        body = _visit(loop.body)
        return loop if body is loop.body else replace(loop, body=body)
    known = {a.buffer: a for a in kept}

    def visit(node: Any) -> Any:
        if not isinstance(node, (Load, Store)) or node.buffer not in known:
            return node
        place = known[node.buffer]
        register = place.places[place.key(node)].register
        return replace(node, buffer=register, indices=(_all_of(register),), mask=None)

    body = _visit(transform(loop.body, visit))
    every = [(a.buffer, place) for a in kept for place in a.places.values()]
    before = [_fill(buffer, place) for buffer, place in every if place.is_read_first]
    after = [_write_back(buffer, place) for buffer, place in every if place.is_written]
    result = seq([*before, replace(loop, body=body), *after])
    for _, place in reversed(every):
        result = Alloc(place.register, result)
    # Elements of a loop that does not run may not exist.
    return result if const_int(loop.extent) is not None else If(loop.extent > 0, result)


def _all_of(register: Buffer) -> Expr:
    lanes = const_int(register.shape[0]) or 1
    return const(0) if lanes == 1 else Ramp(const(0), const(1), lanes)


def _fill(buffer: Buffer, place: _Place) -> Stmt:
    value = Load(buffer, (place.index,), place.mask)
    return Store(place.register, (_all_of(place.register),), value)


def _write_back(buffer: Buffer, place: _Place) -> Stmt:
    value = Load(place.register, (_all_of(place.register),))
    return Store(buffer, (place.index,), value, place.mask)
