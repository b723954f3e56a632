"""Have all threads run a loop equally often in which they wait for each other.

    for k in range(t + 1):                    for k in range(16):
        with block("S"):                          if k < t + 1:
            S[t] = ...                ->              with block("S"):
        barrier("shared")                                 S[t] = ...
                                                  barrier("shared")

A barrier holds all threads of a group up until the last of them has come. The loop becomes as long
as the longest of any thread, and what is between barriers is done while a thread's own loop would
still run.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tvmlab.arith import Bounds, relax, simplify
from tvmlab.ir import (
    Alloc,
    Barrier,
    Expr,
    For,
    If,
    Seq,
    Stmt,
    const,
    const_int,
    seq,
    uses_var,
    walk,
)


def has_barrier(stmt: Stmt) -> bool:
    """Whether threads wait for each other somewhere in a statement."""
    return any(isinstance(n, Barrier) for n in walk(stmt))


def even_loop(loop: For, threads: Iterable[For], env: Bounds) -> For | None:
    """The loop with an extent that does not mention threads; None if there is no such bound.

    Parameters
    ----------
    loop
        A loop whose extent differs between threads.
    threads
        The loops over threads around it.
    env
        What is known of the loops around it.
    """
    ranges = {lp.var: env.interval(lp.var) for lp in threads}
    box = relax([loop.extent], ranges, env)
    body = None if box.extent is None else _guarded(loop.body, loop.var < loop.extent)
    if box.extent is None or body is None or uses_var(box.min, set(ranges)):
        return None
    longest = simplify(box.min + const(box.extent - 1, loop.var.dtype), env)
    if (const_int(longest) or 0) < 0:
        longest = const(0, loop.var.dtype)
    return replace(loop, extent=longest, body=body)


def _guarded(stmt: Stmt, cond: Expr) -> Stmt | None:
    """A statement that does nothing but wait where a condition does not hold; None if unknown."""
    if not has_barrier(stmt):
        return If(cond, stmt)
    match stmt:
        case Barrier():
            return stmt
        case Seq():
            members = [_guarded(s, cond) for s in stmt.stmts]
            kept = [m for m in members if m is not None]
            return seq(kept) if len(kept) == len(members) else None
        case For() | Alloc():
            body = _guarded(stmt.body, cond)
            return None if body is None else replace(stmt, body=body)
        case _:
            return None
