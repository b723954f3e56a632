"""Copies of statements: a second copy needs buffers of its own."""

from __future__ import annotations

from dataclasses import replace

from tvmlab.ir import Alloc, Buffer, Stmt, replace_buffers, walk


def fresh_allocs(stmt: Stmt) -> Stmt:
    """The statement with each buffer that it allocates replaced by a new one of the same kind.

    Loop variables may stay: a variable bound by two loops side by side means no harm.
    """
    new: dict[Buffer, Buffer] = {
        n.buffer: replace(n.buffer) for n in walk(stmt) if isinstance(n, Alloc)
    }
    return replace_buffers(stmt, new) if new else stmt
