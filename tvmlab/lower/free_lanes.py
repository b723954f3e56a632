"""Let registers keep whatever they like in lanes that nobody looks at.

    R.masked(on)[ramp(0, 1, 16)] = R.masked(on)[ramp(0, 1, 16)] + A.masked(on)[...]
    C.masked(on)[...] = R.masked(on)[ramp(0, 1, 16)]
        ->
    R[ramp(0, 1, 16)] = R[ramp(0, 1, 16)] + A.masked(on)[...]
    C.masked(on)[...] = R[ramp(0, 1, 16)]

A register of one vector of which every use is in a statement under the same mask: what the other
lanes hold is never stored anywhere. Memory is still touched under the mask only. Without it a sum
is one instruction, and not one more to keep the old value of a lane that is off.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tvmlab.ir import (
    Alloc,
    Buffer,
    Expr,
    Load,
    Program,
    Ramp,
    Stmt,
    Store,
    const_int,
    structural_key,
    transform,
    walk,
    with_body,
)

Key = tuple[str, ...] | None


def free_lanes(program: Program) -> Program:
    """Take the mask off registers that are only used under one and the same."""
    registers = _registers(program.body)
    if not registers or not _any_masked(program.body, registers):
        return program
    masks = _masks(program.body, registers)
    free = {buffer for buffer, found in masks.items() if len(found) == 1 and None not in found}
    if not free:
        return program

    def visit(node: Any) -> Any:
        if isinstance(node, (Load, Store)) and node.buffer in free:
            return replace(node, mask=None)
        return node

    return with_body(program, transform(program.body, visit))


def _registers(body: Stmt) -> dict[Buffer, int]:
    """The registers that have a constant number of lanes."""
    found: dict[Buffer, int] = {}
    for node in walk(body):
        if isinstance(node, Alloc) and node.buffer.scope == "register":
            size = const_int(node.buffer.shape[0]) if len(node.buffer.shape) == 1 else None
            found |= {} if size is None else {node.buffer: size}
    return found


def _any_masked(body: Stmt, registers: dict[Buffer, int]) -> bool:
    """Whether there is something to take off at all."""
    return any(
        isinstance(node, (Load, Store)) and node.mask is not None and node.buffer in registers
        for node in walk(body)
    )


def _masks(body: Stmt, registers: dict[Buffer, int]) -> dict[Buffer, set[Key]]:
    """The masks of the statements that use each register; None for uses that need all lanes."""
    masks: dict[Buffer, set[Key]] = {}
    seen: set[Load] = set()
    for node in walk(body):
        if not isinstance(node, Store):
            continue
        key = None if node.mask is None else structural_key(node.mask)
        lanes = node.value.dtype.lanes
        if node.buffer in registers:
            whole = _is_whole(node.indices, registers[node.buffer], lanes)
            masks.setdefault(node.buffer, set()).add(key if whole else None)
        for load in _loads(node):
            seen.add(load)
            if load.buffer in registers:
                same = load.mask is not None and structural_key(load.mask) == key
                whole = _is_whole(load.indices, registers[load.buffer], lanes)
                masks.setdefault(load.buffer, set()).add(key if same and whole else None)
    for node in walk(body):
        if isinstance(node, Load) and node.buffer in registers and node not in seen:
            masks.setdefault(node.buffer, set()).add(None)
    return masks


def _loads(store: Store) -> list[Load]:
    parts = [*store.indices, store.value, *([] if store.mask is None else [store.mask])]
    return [n for part in parts for n in walk(part) if isinstance(n, Load)]


def _is_whole(indices: tuple[Expr, ...], size: int, lanes: int) -> bool:
    """Whether an access is to all lanes of a register, as many as the statement has."""
    (index,) = indices
    if not isinstance(index, Ramp) or const_int(index.stride) != 1:
        return False
    return const_int(index.base) == 0 and index.lanes == size == lanes
