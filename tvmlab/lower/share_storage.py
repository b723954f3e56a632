"""Let intermediates that are not in use at the same time share memory.

    with alloc(float32[4096]) as T:               with alloc(float32[4096]) as T:
        T[...] = f(A[...])                            T[...] = f(A[...])
        with alloc(float32[4096]) as U:       ->      with alloc(float32[4096]) as U:
            U[...] = g(T[...])                            U[...] = g(T[...])
            with alloc(float32[1024]) as V:               T[...] = h(U[...])
                V[...] = h(U[...])                        C[...] = T[...]
                C[...] = V[...]

Less memory stays in the caches, and fewer pages are touched for the first time. Small buffers are
left alone: the compiler may keep them in registers. Buffers of one element type share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tvmlab.ir import (
    Alloc,
    Attribute,
    Buffer,
    For,
    If,
    Let,
    Program,
    Seq,
    Stmt,
    const,
    const_int,
    map_children,
    replace_buffers,
    seq,
)

from .liveness import Life, Stretch, lives_in

SHARED = "shared_storage"
SMALLEST = 1024
"""Bytes from which on sharing is worth it."""
_SCOPES = ("global", "local")


def share_storage(program: Program) -> Program:
    """Give large buffers whose lives do not overlap one place in memory.

    What shares with what is noted on the program: (name of the place, names of the buffers).
    """
    rows: list[Attribute] = []
    body = _visit(program.body, rows)
    if body is program.body:
        return program
    return replace(program, body=body, annotations=(*program.annotations, (SHARED, tuple(rows))))


def _visit(stmt: Stmt, rows: list[Attribute]) -> Stmt:
    """A body: one sequence, and the bodies of the loops and branches in it."""
    return _nested(_shared(stmt, rows) if isinstance(stmt, (Seq, Alloc)) else stmt, rows)


def _nested(node: Any, rows: list[Attribute]) -> Any:
    if isinstance(node, (Seq, Alloc)):
        return map_children(node, lambda child: _nested(child, rows))
    if isinstance(node, (For, If, Let)):
        return map_children(node, lambda c: _visit(c, rows) if isinstance(c, Stmt) else c)
    return node


@dataclass(slots=True)
class _Place:
    """Memory for buffers of one kind, one after another."""

    size: int
    last: int
    buffers: list[Buffer] = field(default_factory=list[Buffer])


def _shared(stmt: Stmt, rows: list[Attribute]) -> Stmt:
    stretch = Stretch.of(stmt)
    if sum(_may_share(buffer) for buffer in stretch.allocs) < 2:
        return stmt
    lives = lives_in(stretch.stmts, stretch.allocs)
    places = _places(stretch.allocs, lives)
    new: dict[Buffer, Buffer] = {}
    for place in places:
        if len(place.buffers) > 1:
            home = replace(place.buffers[0], shape=(const(place.size),))
            new.update(dict.fromkeys(place.buffers, home))
            rows.append((home.name, tuple(buffer.name for buffer in place.buffers)))
    if not new:
        return stmt
    stmts = [replace_buffers(s, new) for s in stretch.stmts]
    homes = list(dict.fromkeys(new.get(buffer, buffer) for buffer in stretch.allocs))
    return _allocated(stmts, homes)


def _places(allocs: Sequence[Buffer], lives: dict[Buffer, Life]) -> list[_Place]:
    """Buffers dealt out to places by first use, each to the free one that fits best."""
    places: list[_Place] = []
    alive = [buffer for buffer in allocs if buffer in lives and _may_share(buffer)]
    for buffer in sorted(alive, key=lambda b: lives[b].first):
        size, life = const_int(buffer.shape[0]) or 0, lives[buffer]
        free = [p for p in places if p.last < life.first and _alike(p.buffers[0], buffer)]
        if free:
            best = min(free, key=lambda p: abs(p.size - size))
            best.size, best.last = max(best.size, size), life.last
            best.buffers.append(buffer)
        else:
            places.append(_Place(size, life.last, [buffer]))
    return places


def _may_share(buffer: Buffer) -> bool:
    count = const_int(buffer.shape[0]) if len(buffer.shape) == 1 else None
    large = count is not None and count * buffer.dtype.itemsize >= SMALLEST
    return large and buffer.scope in _SCOPES


def _alike(a: Buffer, b: Buffer) -> bool:
    return a.dtype == b.dtype and a.scope == b.scope


def _allocated(stmts: list[Stmt], buffers: Sequence[Buffer]) -> Stmt:
    """The statements with each buffer allocated around those that use it."""
    lives = lives_in(stmts, buffers)
    # From the shortest life on, so that longer ones go around.
    members: list[tuple[int, int, Stmt]] = [(n, n, s) for n, s in enumerate(stmts)]
    for buffer in sorted(lives, key=lambda b: lives[b].last - lives[b].first):
        life = lives[buffer]
        inner = [m for m in members if m[1] >= life.first and m[0] <= life.last]
        start, end = inner[0][0], inner[-1][1]
        wrapped = Alloc(buffer, seq([s for _, _, s in inner]))
        kept = [m for m in members if m not in inner]
        members = sorted([*kept, (start, end, wrapped)], key=lambda m: m[0])
    return seq([s for _, _, s in members])
