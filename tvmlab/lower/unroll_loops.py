"""Write out the iterations of unrolled loops one after another.

    for i in unrolled(2):             C[0] = A[0]
        C[i] = A[i]           ->      C[1] = A[1]

Vectors exist already, so each copy is a few statements; conditions are decided in each copy. What
would become too long stays a loop and says so: a schedule is right whatever the limit is.
"""

from __future__ import annotations

from dataclasses import replace

from tvmlab.arith import Bounds, simplify_stmt
from tvmlab.ir import (
    Alloc,
    Copies,
    For,
    If,
    Let,
    Program,
    Seq,
    Stmt,
    const,
    const_int,
    is_noop,
    seq,
    walk,
    with_body,
)
from tvmlab.support import UserError

from .fresh_copy import fresh_allocs
from .size_bounds import size_bounds


def unroll_loops(program: Program, max_copies: int) -> Program:
    """Replace each unrolled loop by copies of its body; afterwards no loop is unrolled.

    Parameters
    ----------
    max_copies
        How many statements one nest of unrolled loops may become; outer loops for which they would
        be more are left as loops, with a note.

    Raises
    ------
    UserError
        If an extent is known only at run time.
    """
    return with_body(program, _Unroll(max_copies).visit(program.body, size_bounds(program)))


class _Unroll:
    def __init__(self, max_copies: int) -> None:
        self._max_copies = max_copies

    def visit(self, stmt: Stmt, env: Bounds) -> Stmt:
        match stmt:
            case Seq():
                members = [self.visit(s, env) for s in stmt.stmts]
                same = all(new is old for new, old in zip(members, stmt.stmts, strict=True))
                return stmt if same else seq(members)
            case For(kind="unrolled"):
                return self._copies(stmt, env)
            case For():
                body = self.visit(stmt.body, env.bind_loop(stmt.var, stmt.extent))
                return stmt if body is stmt.body else replace(stmt, body=body)
            case If():
                return self._if(stmt, env)
            case Alloc() | Let():
                body = self.visit(stmt.body, env)
                return stmt if body is stmt.body else replace(stmt, body=body)
            case _:
                return stmt

    def _if(self, stmt: If, env: Bounds) -> Stmt:
        then = self.visit(stmt.then, env)
        otherwise = None if stmt.otherwise is None else self.visit(stmt.otherwise, env)
        if then is stmt.then and otherwise is stmt.otherwise:
            return stmt
        return If(stmt.cond, then, otherwise)

    def _copies(self, loop: For, env: Bounds) -> Stmt:
        extent = const_int(loop.extent)
        name = loop.var.name
        if extent is None:
            raise UserError(
                f"cannot unroll {name}: its extent is known only at run time",
                hint=f"split {name} by a constant factor and unroll the inner loop",
            )
        body = self.visit(loop.body, env.bind_loop(loop.var, loop.extent))
        copies = extent * count_leaves(body)
        if copies > self._max_copies:
            why = f"{copies} statements, more than max_unroll={self._max_copies}"
            notes = (*loop.annotations, ("not_unrolled", why))
            return replace(loop, kind="serial", body=body, annotations=notes)
        members: list[Stmt] = []
        copies_of = Copies(body, loop.var)
        allocates = any(isinstance(n, Alloc) for n in walk(body))
        for value in range(extent):
            copy = copies_of.at(const(value, loop.var.dtype))
            copy = fresh_allocs(copy) if value and allocates else copy
            copy = simplify_stmt(copy, env, simple_values=True)
            if not is_noop(copy):
                members.append(copy)
        return seq(members)


def count_leaves(stmt: Stmt) -> int:
    """How many statements that do something there are."""
    match stmt:
        case Seq():
            return sum(count_leaves(s) for s in stmt.stmts)
        case If():
            other = 0 if stmt.otherwise is None else count_leaves(stmt.otherwise)
            return count_leaves(stmt.then) + other
        case For() | Alloc() | Let():
            return count_leaves(stmt.body)
        case _:
            return 1
