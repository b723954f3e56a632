"""Make rows of local buffers long enough for their last, masked vector.

    with alloc(float32[3, 15]) as T:               with alloc(float32[3, 16]) as T:
        T.masked(...)[1, ramp(0, 1, 16)]     ->        T.masked(...)[1, ramp(0, 1, 16)]

So vectors of neighboring rows do not overlap, and each can become a register.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tvmlab.ir import (
    Alloc,
    Buffer,
    Load,
    Program,
    Ramp,
    Stmt,
    Store,
    const,
    const_int,
    replace_buffers,
    transform_stmts,
    with_body,
)

from .accesses import nodes_of


def pad_rows(program: Program) -> Program:
    """Lengthen the last dimension of allocated buffers to the end of their vectors."""

    def visit(node: Any) -> Any:
        return _pad(node) if isinstance(node, Alloc) and len(node.buffer.shape) > 1 else node

    return with_body(program, transform_stmts(program.body, visit))


def _pad(alloc: Alloc) -> Stmt:
    buffer = alloc.buffer
    size = const_int(buffer.shape[-1])
    if size is None:
        return alloc
    needed = max((_end(n, buffer) for n in nodes_of(alloc.body, buffer)), default=0)
    if needed <= size:
        return alloc
    padded = replace(buffer, shape=(*buffer.shape[:-1], const(needed)))
    return replace_buffers(alloc, {buffer: padded})


def _end(node: object, buffer: Buffer) -> int:
    """The index after the last lane of a vector access to the buffer, if it is known."""
    if not isinstance(node, (Load, Store)) or node.buffer is not buffer:
        return 0
    last = node.indices[-1]
    if not isinstance(last, Ramp) or const_int(last.stride) != 1:
        return 0
    start = const_int(last.base)
    return 0 if start is None else start + last.lanes
