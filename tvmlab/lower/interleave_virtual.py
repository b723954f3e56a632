"""Interleave virtual threads: each statement is done for all of them before the next.

    for v in virtual(2, "vthread"):                  with alloc(float32[2, 8]) as T:
        with alloc(float32[8]) as T:                     for i in range(8):
            for i in range(8):                ->             T[0, i] = A[i]
                T[i] = A[v * 8 + i]                          T[1, i] = A[i + 8]
            for i in range(8):                           for i in range(8):
                C[v * 8 + i] = T[i]                          C[i] = T[0, i]
                                                             C[i + 8] = T[1, i]

A buffer that begins its life inside gets one part for each virtual thread. What does not differ
between virtual threads is done once.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tvmlab.arith import Bounds
from tvmlab.ir import (
    Alloc,
    Barrier,
    Buffer,
    Expr,
    For,
    If,
    Load,
    Program,
    Region,
    Seq,
    Stmt,
    Store,
    const,
    const_int,
    loads_of,
    seq,
    shares,
    touched_buffers,
    transform,
    transform_stmts,
    uses_var,
    walk,
    with_body,
)
from tvmlab.support import UserError

from .even_loops import even_loop, has_barrier


def interleave_virtual(program: Program) -> Program:
    """Replace each virtual loop by copies of its innermost statements (as unrolled loops)."""
    return with_body(program, transform_stmts(program.body, _visit))


def _visit(node: Any) -> Any:
    if not isinstance(node, For) or node.kind != "virtual":
        return node
    return _Interleaving(node).visit(node.body)


class _Interleaving:
    """Moves one virtual loop inwards."""

    def __init__(self, loop: For) -> None:
        self._loop = loop
        self._own: set[Buffer] = set()
        self._overwritten = _overwritten(loop)

    def visit(self, stmt: Stmt) -> Stmt:
        match stmt:
            case Seq():
                return seq([self.visit(s) for s in stmt.stmts])
            case Barrier():
                return stmt
            case For() if self._is_alike(stmt.extent) and stmt.kind != "vectorized":
                return replace(stmt, body=self.visit(stmt.body))
            case If() if self._is_alike(stmt.cond) and self._is_steady(stmt):
                otherwise = None if stmt.otherwise is None else self.visit(stmt.otherwise)
                return If(stmt.cond, self.visit(stmt.then), otherwise)
            case Alloc():
                return self._alloc(stmt)
            case _:
                return self._leaf(stmt)

    def _is_alike(self, e: Expr) -> bool:
        """Whether an expression has one value for all virtual threads."""
        return not uses_var(e, {self._loop.var}) and not any(
            load.buffer in self._own for load in loads_of(e)
        )

    def _is_steady(self, stmt: If) -> bool:
        """Whether a condition stays the same while its branches are run for several threads."""
        written = touched_buffers(stmt)[1]
        return not any(load.buffer in written for load in loads_of(stmt.cond))

    def _alloc(self, stmt: Alloc) -> Stmt:
        if _is_common(stmt.buffer, self._loop) and stmt.buffer not in self._overwritten:
            return replace(stmt, body=self.visit(stmt.body))
        old, loop = stmt.buffer, self._loop
        new = replace(old, shape=(loop.extent, *old.shape))

        def redirect(node: Any) -> Any:
            if isinstance(node, (Load, Store)) and node.buffer is old:
                return replace(node, buffer=new, indices=(loop.var, *node.indices))
            if isinstance(node, Region) and node.buffer is old:
                mins, extents = (loop.var, *node.mins), (const(1), *node.extents)
                return Region(new, mins, extents)
            return node

        self._own.add(new)
        return Alloc(new, self.visit(transform(stmt.body, redirect)))

    def _leaf(self, stmt: Stmt) -> Stmt:
        """A statement that is repeated for each virtual thread, or done once."""
        loop = self._loop
        if not uses_var(stmt, {loop.var}):
            return stmt
        if has_barrier(stmt):
            env = Bounds.of({loop.var: loop.extent})
            even = even_loop(stmt, [loop], env) if isinstance(stmt, For) else None
            if even is not None:
                return self.visit(even)
            raise UserError(
                f"virtual threads of {loop.var.name} would have to wait at a barrier that not all "
                f"of them reach",
                hint="move the part that depends on the virtual thread out of the condition",
            )
        kind = "unrolled" if const_int(loop.extent) is not None else "serial"
        return For(loop.var, loop.extent, stmt, kind)


def _is_common(buffer: Buffer, loop: For) -> bool:
    """Whether virtual threads see one storage of a buffer that begins its life inside the loop."""
    return buffer.scope != "global" and shares(buffer.scope, loop)


def _overwritten(loop: For) -> set[Buffer]:
    """Common buffers of which each virtual thread uses the same elements for values of its own."""
    stores = [n for n in walk(loop.body) if isinstance(n, Store)]
    differing = {n.buffer for n in walk(loop.body) if isinstance(n, Alloc)}
    differing = {b for b in differing if not _is_common(b, loop)}
    found = True
    while found:
        found = False
        for store in stores:
            own = uses_var(store, {loop.var}) or any(
                load.buffer in differing for load in loads_of(store)
            )
            if own and store.buffer not in differing:
                differing.add(store.buffer)
                found = True
    return {
        s.buffer
        for s in stores
        if _is_common(s.buffer, loop)
        and not any(uses_var(i, {loop.var}) for i in s.indices)
        and (uses_var(s, {loop.var}) or any(load.buffer in differing for load in loads_of(s)))
    }
