"""Give each intermediate buffer its place: as far inside the loops as its values live.

    T = alloc(float32[64, 64])                for i in parallel(64):
    for i in parallel(64):                        with alloc(float32[64, 64]) as T:
        ... T[i, j] = ...             ->              ... T[i, j] = ...
        ... = T[i, j] ...                             ... = T[i, j] ...

A buffer goes inside a loop if all its accesses stand there and each iteration reads only what it
wrote itself. Where iterations of a parallel loop use the same elements, it must go inside, for else
they would race; where each keeps to elements of its own, it may stay outside, and must if values
wait there for the next round of a loop further out. Threads of a device get their own as the
memory's scope says. The lanes of a vectorized loop share their buffers: nothing is placed inside
one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tvmlab.ir import Alloc, Buffer, For, If, Let, Program, Seq, Stmt, is_thread_loop, seq, shares
from tvmlab.schedule import touches_apart

from .accesses import Access, accesses_of, touches
from .coverage import is_private, touch_distinct


def place_allocations(program: Program) -> Program:
    """Turn the intermediates of a program into `Alloc` statements of full size.

    Afterwards the program has no `allocs`; an intermediate that nothing uses is gone.
    """
    body = program.body
    # The last first: so each stands behind the one that it is computed from, not around it.
    for buffer in reversed(program.allocs):
        found = accesses_of(body, buffer)
        if found:
            body = _place(body, buffer, _loops_to_enter(program, found))
    if body is program.body and not program.allocs:
        return program
    return replace(program, body=body, allocs=())


def _loops_to_enter(program: Program, accesses: Sequence[Access]) -> set[For]:
    """The loops, from the outermost on, inside which the buffer may be allocated."""
    shared: list[For] = []
    for level in zip(*(a.loops for a in accesses), strict=False):
        if any(loop is not level[0] for loop in level) or level[0].kind == "vectorized":
            break
        shared.append(level[0])
    colliding = [n for n, loop in enumerate(shared) if _needs_own(program, accesses, loop)]
    depth = colliding[-1] + 1 if colliding else 0
    while depth < len(shared) and is_private(accesses, shared[depth]):
        depth += 1
    return set(shared[:depth])


def _needs_own(program: Program, accesses: Sequence[Access], loop: For) -> bool:
    """Whether each iteration of a loop must have a buffer of its own."""
    buffer = accesses[0].buffer
    if is_thread_loop(loop):
        return not shares(buffer.scope, loop)
    if loop.kind != "parallel" or touch_distinct(accesses, loop):
        return False
    if is_private(accesses, loop) or any(a.block is None for a in accesses):
        return True
    return not touches_apart(program, loop.var, buffer)


def _place(stmt: Stmt, buffer: Buffer, enter: set[For]) -> Stmt:
    """The statement with the allocation put around the innermost part that uses the buffer."""
    if isinstance(stmt, Seq):
        users = [n for n, child in enumerate(stmt.stmts) if touches(child, buffer)]
        first, last = users[0], users[-1] + 1
        part = seq(stmt.stmts[first:last])
        inner = _place(part, buffer, enter) if last - first == 1 else Alloc(buffer, part)
        return seq([*stmt.stmts[:first], inner, *stmt.stmts[last:]])
    if isinstance(stmt, For) and stmt in enter:
        return replace(stmt, body=_place(stmt.body, buffer, enter))
    if isinstance(stmt, Alloc) or (isinstance(stmt, Let) and not touches(stmt.value, buffer)):
        return replace(stmt, body=_place(stmt.body, buffer, enter))
    if (
        isinstance(stmt, If)
        and not touches(stmt.cond, buffer)
        and (stmt.otherwise is None or not touches(stmt.otherwise, buffer))
    ):
        return replace(stmt, then=_place(stmt.then, buffer, enter))
    return Alloc(buffer, stmt)
