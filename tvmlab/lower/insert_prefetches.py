"""Ask for the lines of memory that later iterations of a loop read.

    for i in range(64, prefetch=(("A", 4),)):          for i in range(64):
        for j in range(32):                      ->        prefetch(A[min(i + 4, 63), 0])
            C[i, j] = A[i, j]                              prefetch(A[min(i + 4, 63), 16])
                                                           for j in range(32): ...

A prefetch never fails and changes no value, but its address is kept inside the buffer all the same.
One that is to be spread, `("A", 4, True)`, stands in the last loop inside that reads the buffer:
each of its iterations asks for what it will read itself, when the outer loop has come so far.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from tvmlab.arith import Bounds, prove, simplify
from tvmlab.ir import (
    Alloc,
    Attribute,
    Expr,
    For,
    Invoke,
    Operand,
    Program,
    Region,
    Stmt,
    Var,
    child_stmts,
    children,
    const,
    const_int,
    loads_of,
    map_children,
    maximum,
    minimum,
    seq,
    substitute,
    walk,
    with_body,
)

from .accesses import Access, accesses_in, accesses_of
from .size_bounds import size_bounds
from .touched import Run, touched_run

PREFETCH = "prefetch"
LINE = 64
"""Bytes of a line of a cache."""
FEW_LINES = 4
"""So few prefetches are written out."""
MOST_LINES = 64
"""More lines than this in one iteration would push out what is being used."""


def insert_prefetches(program: Program) -> Program:
    """Put prefetches at the start of the bodies of loops that ask for them."""
    return with_body(program, _visit(program.body, size_bounds(program)))


def _visit(node: Any, env: Bounds) -> Any:
    if not isinstance(node, Stmt):
        return node
    inner = env.bind_loop(node.var, node.extent) if isinstance(node, For) else env
    node = map_children(node, lambda child: _visit(child, inner))
    if not isinstance(node, For) or all(key != PREFETCH for key, _ in node.annotations):
        return node
    notes = dict(node.annotations)
    rows = cast("tuple[tuple[Attribute, ...], ...]", notes.pop(PREFETCH))
    node = replace(node, annotations=tuple(notes.items()))
    for name, ahead, *spread in rows:
        ask = _Ask(node, str(name), int(cast("int", ahead)))
        node = _spread(node, ask, inner) if spread else _put_first(node, ask, inner)
    return node


@dataclass(frozen=True, slots=True)
class _Ask:
    """Whose later iteration reads which buffer; how many iterations later."""

    loop: For
    buffer: str
    ahead: int


def _put_first(loop: For, ask: _Ask, env: Bounds) -> For:
    """A loop that asks at the start of each iteration."""
    return replace(loop, body=seq([*_lines(loop, ask, env), *child_stmts(loop.body)]))


def _spread(loop: For, ask: _Ask, env: Bounds) -> For:
    """The loop with its last inner loop that reads the buffer asking, or itself if none does."""
    place = _last_reader(loop.body, ask.buffer, env)
    if place is None:
        return _put_first(loop, ask, env)
    reader, inside = place
    asking = _put_first(reader, ask, inside)

    def visit(node: Any) -> Any:
        if node is reader:
            return asking
        return map_children(node, visit) if isinstance(node, Stmt) else node

    return replace(loop, body=visit(loop.body))


def _last_reader(stmt: Stmt, name: str, env: Bounds) -> tuple[For, Bounds] | None:
    """The last of the innermost serial loops that read a buffer, and what is known inside it."""
    if isinstance(stmt, For):
        inside = env.bind_loop(stmt.var, stmt.extent)
        deeper = _last_reader(stmt.body, name, inside)
        if deeper is not None or stmt.kind != "serial":
            return deeper
        return (stmt, inside) if _reads(stmt.body, name) else None
    for child in reversed([n for n in children(stmt) if isinstance(n, Stmt)]):
        found = _last_reader(child, name, env)
        if found is not None:
            return found
    return None


def _reads(stmt: Stmt, name: str) -> list[Access]:
    return [a for a in accesses_in(stmt) if a.buffer.name == name and not a.is_store]


def _lines(place: For, ask: _Ask, env: Bounds) -> list[Stmt]:
    """The prefetches of what a place in the loop will read, as loops over lines of the cache."""
    own = {n.buffer for n in walk(ask.loop.body) if isinstance(n, Alloc)}
    named = _reads(place.body, ask.buffer)
    if not named or named[0].buffer in own:
        # What an iteration makes for itself is not in memory before.
        return []
    buffer = named[0].buffer
    reads = [a for a in accesses_of(place.body, buffer) if not a.is_store]
    runs = [touched_run(reads, dim, env) for dim in range(len(buffer.shape))]
    if any(run is None or loads_of(run.start) for run in runs):
        return []
    return _line_loops(ask, reads[0], [run for run in runs if run is not None], env)


def _line_loops(ask: _Ask, read: Access, runs: Sequence[Run], env: Bounds) -> list[Stmt]:
    buffer = read.buffer
    per_line = max(1, LINE // buffer.dtype.itemsize)
    later = minimum(ask.loop.var + ask.ahead, ask.loop.extent - 1)
    mins: list[Expr] = []
    loops: list[tuple[Var, int]] = []
    count = 1
    for dim, (run, size) in enumerate(zip(runs, buffer.shape, strict=True)):
        last = dim == len(runs) - 1
        steps = -(-run.extent // per_line) if last else run.extent
        steps = max(1, min(steps, MOST_LINES // count))
        count *= steps
        start = simplify(substitute(run.start, {ask.loop.var: later}), env)
        if steps > 1:
            var = Var("line", ask.loop.var.dtype)
            loops.append((var, steps))
            start = simplify(start + (var * per_line if last else var), env)
        mins.append(_inside(start, size, env, loops))
    region = Region(buffer, tuple(mins), tuple(const(1) for _ in mins))
    stmt: Stmt = Invoke(PREFETCH, (Operand(region, "address"), const(0), const(3)))
    for var, steps in reversed(loops):
        stmt = For(var, const(steps), stmt, "unrolled" if count <= FEW_LINES else "serial")
    return [stmt]


def _inside(index: Expr, size: Expr, env: Bounds, loops: Sequence[tuple[Var, int]]) -> Expr:
    for var, steps in loops:
        env = env.bind_loop(var, steps)
    if const_int(size) != 0 and not prove(index < size, env):
        index = minimum(index, size - 1)
    return index if prove(index >= 0, env) else maximum(index, 0)
