"""Ask for the lines of memory that later iterations of a loop read.

    for i in range(64, prefetch=(("A", 4),)):          for i in range(64):
        for j in range(32):                      ->        prefetch(A[min(i + 4, 63), 0])
            C[i, j] = A[i, j]                              prefetch(A[min(i + 4, 63), 16])
                                                           for j in range(32): ...

A prefetch never fails and changes no value, but its address is kept inside the buffer all the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from tvmlab.arith import Bounds, prove, simplify
from tvmlab.ir import (
    Alloc,
    Expr,
    For,
    Invoke,
    Operand,
    Program,
    Region,
    Stmt,
    Var,
    child_stmts,
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
    rows = cast("tuple[tuple[str, int], ...]", notes.pop(PREFETCH))
    lines = [line for name, ahead in rows for line in _lines(node, name, ahead, inner)]
    body = seq([*lines, *child_stmts(node.body)])
    return replace(node, body=body, annotations=tuple(notes.items()))


def _lines(loop: For, name: str, ahead: int, env: Bounds) -> list[Stmt]:
    """The prefetches of one buffer, as loops over the lines of its part."""
    own = {n.buffer for n in walk(loop.body) if isinstance(n, Alloc)}
    named = [a for a in accesses_in(loop.body) if a.buffer.name == name and not a.is_store]
    if not named or named[0].buffer in own:
        # What an iteration makes for itself is not in memory before.
        return []
    buffer = named[0].buffer
    reads = [a for a in accesses_of(loop.body, buffer) if not a.is_store]
    runs = [touched_run(reads, dim, env) for dim in range(len(buffer.shape))]
    if any(run is None or loads_of(run.start) for run in runs):
        return []
    return _line_loops(loop, reads[0], [run for run in runs if run is not None], ahead, env)


def _line_loops(
    loop: For, read: Access, runs: Sequence[Run], ahead: int, env: Bounds
) -> list[Stmt]:
    buffer = read.buffer
    per_line = max(1, LINE // buffer.dtype.itemsize)
    later = minimum(loop.var + ahead, loop.extent - 1)
    mins: list[Expr] = []
    loops: list[tuple[Var, int]] = []
    count = 1
    for dim, (run, size) in enumerate(zip(runs, buffer.shape, strict=True)):
        last = dim == len(runs) - 1
        steps = -(-run.extent // per_line) if last else run.extent
        steps = max(1, min(steps, MOST_LINES // count))
        count *= steps
        start = simplify(substitute(run.start, {loop.var: later}), env)
        if steps > 1:
            var = Var("line", loop.var.dtype)
            loops.append((var, steps))
            start = simplify(start + (var * per_line if last else var), env)
        mins.append(_inside(start, size, env, loops))
    region = Region(buffer, tuple(mins), tuple(const(1) for _ in mins))
    stmt: Stmt = Invoke(PREFETCH, (Operand(region, "address"), const(0), const(3)))
    for var, steps in reversed(loops):
        stmt = For(var, const(steps), stmt)
    return [stmt]


def _inside(index: Expr, size: Expr, env: Bounds, loops: Sequence[tuple[Var, int]]) -> Expr:
    for var, steps in loops:
        env = env.bind_loop(var, steps)
    if const_int(size) != 0 and not prove(index < size, env):
        index = minimum(index, size - 1)
    return index if prove(index >= 0, env) else maximum(index, 0)
