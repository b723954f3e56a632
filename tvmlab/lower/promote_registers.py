"""Turn small local buffers into registers: one value each, no memory.

    with alloc(float32[32]) as T:              with alloc(float32[16], scope="register") as T_0:
        T[ramp(0, 1, 16)] = ...          ->        with alloc(float32[16], ...) as T_16:
        T[ramp(16, 1, 16)] = ...                       T_0[ramp(0, 1, 16)] = ...
                                                       T_16[ramp(0, 1, 16)] = ...

A buffer qualifies if all its indices are known and its accesses fall into parts that do not overlap
without being the same: each part becomes a register.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

from tvmlab.ir import (
    Alloc,
    Buffer,
    Expr,
    For,
    Load,
    Node,
    Program,
    Ramp,
    Stmt,
    Store,
    children,
    const,
    const_int,
    map_children,
    transform,
    transform_stmts,
    with_body,
)

from .accesses import nodes_of, touches


@dataclass(frozen=True, slots=True, order=True)
class Slot:
    """A run of elements that one access moves."""

    start: int
    lanes: int

    def index(self) -> Expr:
        """The index of this slot in a register of its own."""
        return const(0) if self.lanes == 1 else Ramp(const(0), const(1), self.lanes)


def promote_registers(program: Program, max_registers: int) -> Program:
    """Split each flat local buffer whose accesses are all known into register buffers.

    Parameters
    ----------
    max_registers
        A buffer that would need more registers stays in memory.
    """

    def visit(node: Any) -> Any:
        return _promote(node, max_registers) if isinstance(node, Alloc) else node

    return with_body(program, transform_stmts(program.body, visit))


def slot_of(index: Expr) -> Slot | None:
    """The slot of a known index: a number, or a ramp of step 1 from a number."""
    lanes, base = 1, index
    if isinstance(index, Ramp):
        if const_int(index.stride) != 1:
            return None
        lanes, base = index.lanes, index.base
    start = const_int(base)
    return None if start is None else Slot(start, lanes)


def _promote(alloc: Alloc, max_registers: int) -> Stmt:
    buffer = alloc.buffer
    if buffer.scope == "register" or _crosses_threads(alloc):
        return alloc
    slots = _slots(alloc)
    if not slots or len(slots) > max_registers or not _are_disjoint(slots):
        return alloc
    registers = {slot: _register(buffer, slot) for slot in sorted(slots)}
    indices = {slot: (slot.index(),) for slot in registers}

    def visit(node: Any) -> Any:
        if not isinstance(node, (Load, Store)) or node.buffer is not buffer:
            return node
        slot = slot_of(node.indices[0])
        assert slot is not None
        if isinstance(node, Load):
            return Load(registers[slot], indices[slot], node.mask)
        return Store(registers[slot], indices[slot], node.value, node.mask)

    def within(stmt: Any) -> Any:
        if not isinstance(stmt, Stmt):
            return transform(stmt, visit)
        return visit(map_children(stmt, within)) if touches(stmt, buffer) else stmt

    body = cast("Stmt", within(alloc.body))
    for register in reversed(registers.values()):
        body = Alloc(register, body)
    return body


def _slots(alloc: Alloc) -> set[Slot]:
    """The slots of all accesses; empty if one of them is not known."""
    found: set[Slot] = set()
    for node in nodes_of(alloc.body, alloc.buffer):
        if not isinstance(node, (Load, Store)):
            return set()  # outside code needs an address
        slot = slot_of(node.indices[0]) if len(node.indices) == 1 else None
        if slot is None:
            return set()
        found.add(slot)
    return found


def _are_disjoint(slots: Iterable[Slot]) -> bool:
    ordered = sorted(slots)
    return all(a.start + a.lanes <= b.start for a, b in pairwise(ordered))


def _crosses_threads(alloc: Alloc) -> bool:
    """Whether iterations of a loop over threads share the buffer: then it must be memory."""
    stack: list[Node] = [alloc.body]
    while stack:
        node = stack.pop()
        if not isinstance(node, Stmt) or not touches(node, alloc.buffer):
            continue
        if isinstance(node, For) and touches(node.body, alloc.buffer):
            if node.kind in ("parallel", "thread"):
                return True
            stack.append(node.body)
            continue
        stack.extend(children(node))
    return False


def _register(buffer: Buffer, slot: Slot) -> Buffer:
    return Buffer(f"{buffer.name}_{slot.start}", (const(slot.lanes),), buffer.dtype, "register")
