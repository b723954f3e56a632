"""Which buffers each loop writes: while it runs, all others stay as they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from tvmlab.ir import Alloc, Buffer, For, If, Invoke, Let, Operand, Seq, Stmt, Store

LoopWrites: TypeAlias = Mapping[int, frozenset[Buffer]]
"""The buffers written in a loop, by the loop's `id`."""


def loop_writes(body: Stmt) -> LoopWrites:
    """The buffers that each loop of a statement writes."""
    found: dict[int, frozenset[Buffer]] = {}
    _writes(body, found)
    return found


def _writes(stmt: Stmt | None, found: dict[int, frozenset[Buffer]]) -> set[Buffer]:
    if isinstance(stmt, Store):
        return {stmt.buffer}
    if isinstance(stmt, Seq):
        return set[Buffer]().union(*(_writes(child, found) for child in stmt.stmts))
    if isinstance(stmt, For):
        inside = _writes(stmt.body, found)
        found[id(stmt)] = frozenset(inside)
        return inside
    if isinstance(stmt, (Alloc, Let)):
        return _writes(stmt.body, found)
    if isinstance(stmt, If):
        return _writes(stmt.then, found) | _writes(stmt.otherwise, found)
    if isinstance(stmt, Invoke):
        regions = [a for a in stmt.args if isinstance(a, Operand)]
        return {a.region.buffer for a in regions if a.access in ("write", "update")}
    return set()
